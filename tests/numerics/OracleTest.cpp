//===- OracleTest.cpp - the oracle against values worked out by hand ------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestProblem.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;
using test::channels;
using test::makeProblem;
using Values = std::vector<double>;

namespace {

/// The value of channel `c` in the last row.
Values last(const Problem &problem, size_t c) {
  return test::slice(problem, test::run(problem).back().x, c);
}

TEST(Oracle, OneTokenCopiesItsKey) {
  Problem problem = makeProblem(2, {1, 1}, {3, -2});
  Row row = test::run(problem).front();
  Values key = {3, -2};
  for (size_t c = 0; c < 10; ++c)
    test::expectNear(test::slice(problem, row.x, c), key, 1e-15,
                     problem.channels[c].name());
  EXPECT_NEAR(row.x[20], 13, 1e-14); // spread: 1 * ((1-3)^2 + (1+2)^2)
  EXPECT_EQ(row.x[21], 0);           // entropy
  EXPECT_EQ(row.indices, std::vector<int64_t>(4, 0));
  EXPECT_NEAR(row.norm, std::sqrt(10 * 13 + 169), 1e-13);
  EXPECT_NEAR(row.y[0], 3 / std::sqrt(299.0), 1e-15);
}

TEST(Oracle, TwoTokensByHand) {
  // The last query is the last key: dist 2 and 0, t = 0.5, z -4 and 0.
  Problem problem = makeProblem(2, {1, 0, 0, 1}, {1, 0, 0, 1});
  problem.tau = 0.5;
  double u = std::exp(-4.0) / (1 + std::exp(-4.0)), v = 1 - u;
  Values x = test::run(problem).back().x;
  auto expect = [&](size_t c, double a, double b) {
    test::expectNear(test::slice(problem, x, c), {a, b}, 1e-15,
                     problem.channels[c].name());
  };
  expect(0, u, v);
  double s = u + 0.99 * v; // forward: p = 0, 1
  expect(1, u / s, 0.99 * v / s);
  double bases[] = {0.5, 0.88, 0.993, 0.3}; // backward: p = 1, 0
  size_t places[] = {2, 3, 4, 8};
  for (int n = 0; n < 4; ++n) {
    s = bases[n] * u + v;
    expect(places[n], bases[n] * u / s, v / s);
  }
  expect(5, 0, 1);
  expect(6, 0, 1);
  expect(7, 1, 0);
  expect(9, 1, 0);
  EXPECT_NEAR(x[20], 0.5 * u * 2, 1e-15);
  EXPECT_NEAR(x[21], -u * std::log(u) - v * std::log(v), 1e-15);
}

TEST(Oracle, TiesGoToTheLowestPosition) {
  Problem problem =
      makeProblem(1, {9, 9, 9, 0}, {2, -1, 1, -2}); // last: dist 4 1 1 4
  problem.channels = channels("top:1,top:2,top:3,top:4,antitop");
  EXPECT_EQ(test::run(problem).back().indices,
            (std::vector<int64_t>{1, 2, 0, 3, 0}));
}

TEST(Oracle, TopRepeatsTheLastKeyFound) {
  Problem problem = makeProblem(1, {0, 0}, {1, 2});
  problem.channels = channels("top:1,top:2,top:5");
  std::vector<Row> rows = test::run(problem);
  EXPECT_EQ(rows[0].indices, (std::vector<int64_t>{0, 0, 0}));
  EXPECT_EQ(rows[1].indices, (std::vector<int64_t>{0, 1, 1}));
}

TEST(Oracle, TopIsByScoreWhereWeightsUnderflow) {
  // z = 0, -2000, -1000: both smaller weights are 0 even in float64.
  Problem problem =
      makeProblem(1, {0, 0, 0}, {0, std::sqrt(2000.0), std::sqrt(1000.0)});
  problem.channels = channels("top:1,top:2,top:3");
  EXPECT_EQ(test::run(problem).back().indices, (std::vector<int64_t>{0, 2, 1}));
}

TEST(Oracle, AntitopStopsAtItsThreshold) {
  // Weights about 1, 2e-9, 9e-14, 4e-10.
  Problem problem =
      makeProblem(1, {0, 0, 0, 0}, {0, std::sqrt(20.0), std::sqrt(30.0), 4.65});
  problem.channels = channels("antitop");
  std::vector<Row> rows = test::run(problem);
  EXPECT_EQ(rows[2].indices[0], 1);
  EXPECT_EQ(rows[3].indices[0], 3);
}

TEST(Oracle, EntropyStopsAtTheSameWeight) {
  Problem problem = makeProblem(1, {0, 0}, {0, 6}); // z = 0, -36
  problem.channels = channels("entropy");
  double w = std::exp(-36.0);
  EXPECT_NEAR(last(problem, 0)[0], w + w * -std::log(1e-10), 1e-16);
}

TEST(Oracle, FloorShrinksEarlyRowsOfALongSequence) {
  int64_t numKeys = 40;
  Problem problem = makeProblem(1, Values(numKeys, 0.0), Values(numKeys, 2.0));
  problem.channels = channels("decay:backward:4,decay:backward:2");
  Row row = test::run(problem).front();
  double expected = 2 * std::pow(0.3, 39) / 1e-8;
  EXPECT_NEAR(row.x[0], expected, 1e-12 * expected);
  EXPECT_NEAR(row.x[1], 2, 1e-13); // 0.88^39 is above the floor
  problem.decayOrigin = DecayOrigin::Query;
  EXPECT_NEAR(test::run(problem).front().x[0], 2, 1e-15);
}

TEST(Oracle, FloorShrinksForwardDecayOfLateKeys) {
  // All weight on key 1, whose power is 2^-30.
  Problem problem = makeProblem(1, {0, 3}, {60, 3});
  problem.gammas = {0x1p-30};
  problem.channels = channels("decay:forward:0");
  double expected = 3 * 0x1p-30 / 1e-8;
  EXPECT_NEAR(last(problem, 0)[0], expected, 1e-14);
}

TEST(Oracle, SpreadUsesTheRawTemperature) {
  Problem problem = makeProblem(1, {0}, {0.1});
  problem.channels = channels("spread");
  for (double tau : {0.001, -2.0}) {
    problem.tau = tau;
    EXPECT_NEAR(last(problem, 0)[0], tau * 0.01, 1e-17);
  }
  problem = makeProblem(1, {0, 0}, {0.1, 0.2}); // t = 0.01: z = -1, -4
  problem.channels = channels("centroid");
  problem.tau = -2;
  double w = 1 / (1 + std::exp(-3.0));
  EXPECT_NEAR(last(problem, 0)[0], 0.1 * w + 0.2 * (1 - w), 1e-15);
}

TEST(Oracle, MomentsAreMeansOfPowers) {
  // The last query is at 0: dist 9 and 1, or 3 and 1; t = 2.
  Problem problem = makeProblem(1, {0, 0}, {3, -1});
  problem.tau = 2;
  problem.channels = channels("moment:1,moment:2,moment:3,moment:4");
  double u = std::exp(-4.0) / (1 + std::exp(-4.0));
  test::expectNear(
      test::run(problem).back().x,
      {9 * u + 1 - u, 81 * u + 1 - u, 729 * u + 1 - u, 6561 * u + 1 - u}, 1e-12,
      "sq_l2");
  test::expectNear(test::run(problem).front().x, {9, 81, 729, 6561}, 1e-12,
                   "one key");
  problem.metric = Metric::L2;
  u = std::exp(-1.0) / (1 + std::exp(-1.0));
  test::expectNear(
      test::run(problem).back().x,
      {3 * u + 1 - u, 9 * u + 1 - u, 27 * u + 1 - u, 81 * u + 1 - u}, 1e-13,
      "l2");
}

TEST(Oracle, L2TakesTheRoot) {
  // Distances 5 and 0.
  Problem problem = makeProblem(2, {0, 0, 3, 4}, {0, 0, 3, 4});
  problem.metric = Metric::L2;
  problem.channels = channels("seven");
  Row row = test::run(problem).back();
  double w = std::exp(-5.0) / (1 + std::exp(-5.0));
  EXPECT_EQ(problem.signalWidth(), 12);
  EXPECT_NEAR(row.x[0], 3 * (1 - w), 1e-15);
  EXPECT_NEAR(row.x[10], 5 * w, 1e-15);
  EXPECT_EQ(test::run(problem).front().x[10], 0);
}

TEST(Oracle, RowsBeyondTheLengthAreZero) {
  Problem problem = test::randomProblem(2, 5, 7, 3, 1);
  problem.lengths = {3, 0};
  std::vector<Row> rows = test::run(problem);
  for (size_t n = 3; n < rows.size(); ++n) {
    EXPECT_EQ(rows[n].x, Values(problem.signalWidth(), 0.0));
    EXPECT_EQ(rows[n].y, Values(problem.signalWidth(), 0.0));
    EXPECT_EQ(rows[n].norm, 0);
    EXPECT_EQ(rows[n].indices, std::vector<int64_t>(4, -1));
  }
  EXPECT_NEAR(rows[2].norm * rows[2].y[0], rows[2].x[0], 1e-15);
}

TEST(Oracle, EmptyProblemsGiveEmptyResults) {
  Problem problem;
  problem.dModel = 3;
  problem.channels = channels("default");
  EXPECT_TRUE(test::run(problem).empty());
  problem.batch = 0;
  problem.numQueries = 2;
  EXPECT_TRUE(test::run(problem).empty());
}

TEST(Channels, ParseAndName) {
  EXPECT_EQ(channels("default").size(), 12u);
  EXPECT_EQ(channels("seven").size(), 7u);
  std::string list = "centroid,decay:forward:1,decay:backward:12,predecessor,"
                     "top:3,antitop,spread,entropy,moment:1,moment:4";
  std::string names;
  for (const Channel &channel : channels(list))
    names += (names.empty() ? "" : ",") + channel.name();
  EXPECT_EQ(names, list);
}

TEST(Channels, RefuseWhatIsNotAChannel) {
  for (const char *list :
       {"", "centroid,", "top", "top:0", "top:-1", "top:1x",
        "decay:forward:", "decay:sideways:1", "default,spread", "Spread",
        "top:9999999999", "moment", "moment:", "moment:0", "moment:5"}) {
    std::vector<Channel> parsed = channels("spread");
    EXPECT_TRUE(parseChannels(list, parsed)) << list;
    EXPECT_EQ(parsed.size(), 1u) << list;
  }
}

/// `change` must make a good problem one that is refused.
template <typename Change>
void expectRefused(const char *message, Change change) {
  Problem problem = test::randomProblem(2, 4, 5, 3, 1);
  ASSERT_FALSE(validate(problem));
  change(problem);
  Error error = validate(problem);
  ASSERT_TRUE(error) << message;
  EXPECT_NE(error->find(message), std::string::npos) << *error;
}

TEST(Validate, NamesWhatIsWrong) {
  expectRefused("[1, 2]", [](Problem &p) { p.ids[6] = 5; });
  expectRefused("[0, 3]", [](Problem &p) { p.ids[3] = -1; });
  expectRefused("queries", [](Problem &p) { p.queries.pop_back(); });
  expectRefused("queries row 2", [](Problem &p) { p.queries[7] = NAN; });
  expectRefused("table row 1", [](Problem &p) { p.table[5] = 1e200; });
  expectRefused("tau", [](Problem &p) { p.tau = INFINITY; });
  expectRefused("gamma", [](Problem &p) { p.gammas[1] = 1.5; });
  expectRefused("gamma", [](Problem &p) { p.gammas[1] = 0x1p-101; });
  expectRefused("decay:backward:4", [](Problem &p) { p.gammas.pop_back(); });
  expectRefused("lengths", [](Problem &p) { p.lengths = {1}; });
  expectRefused("sequence 1", [](Problem &p) { p.lengths = {4, 5}; });
  expectRefused("query_offset", [](Problem &p) { p.queryOffset = -1; });
  Problem problem = test::randomProblem(2, 4, 5, 3, 1);
  EXPECT_TRUE(validate(problem, {{0, 0}, {2, 0}}));
  EXPECT_TRUE(validate(problem, {{0, 4}}));
}

} // namespace
