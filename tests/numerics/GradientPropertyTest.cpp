//===- GradientPropertyTest.cpp - what must hold for any gradient ---------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestGradient.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;
using test::channels;
using test::randomProblem;
using Values = std::vector<double>;

namespace {

TEST(Gradient, ThreadsChangeNoBit) {
  Problem problem = randomProblem(2, 50, 20, 150, 1); // columns in three parts
  problem.lengths = {50, 33};
  Values dy = test::drawGradient(problem, 1);
  Gradients one = test::backward(problem, dy, 1);
  for (int threads : {2, 5}) {
    Gradients more = test::backward(problem, dy, threads);
    EXPECT_EQ(test::allValues(one), test::allValues(more));
    EXPECT_EQ(test::allSensitivities(one), test::allSensitivities(more));
  }
}

/// What some rows give is what all rows give where dy is zero elsewhere, and
/// the gradient is linear in dy.
TEST(Gradient, RowsAddUp) {
  Problem problem = randomProblem(2, 40, 20, 7, 2);
  Values dy = test::drawGradient(problem, 2), masked = dy;
  std::vector<RowId> some, others;
  for (RowId id : allRows(problem))
    (id.row % 3 == 1 ? some : others).push_back(id);
  for (RowId id : others)
    std::fill_n(masked.begin() +
                    (id.batch * 40 + id.row) * problem.signalWidth(),
                problem.signalWidth(), 0.0);
  Values all = test::allValues(test::backward(problem, dy)),
         zeroed = test::allValues(test::backward(problem, masked)),
         a = test::allValues(test::backward(problem, some, dy)),
         b = test::allValues(test::backward(problem, others, dy));
  for (size_t n = 0; n < all.size(); ++n) {
    EXPECT_NEAR(a[n], zeroed[n], 1e-12) << n;
    EXPECT_NEAR(a[n] + b[n], all[n], 1e-12) << n;
  }
}

TEST(Gradient, NothingComesFromBeyondALength) {
  Problem problem = randomProblem(2, 12, 9, 5, 3);
  problem.lengths = {12, 7};
  for (int64_t j = 7; j < 12; ++j)
    problem.ids[12 + j] = 0;
  for (int64_t &id : problem.ids)
    id = id == 0 ? 1 : id;
  for (int64_t j = 7; j < 12; ++j)
    problem.ids[12 + j] = 0;
  Gradients gradients = test::backward(problem, test::drawGradient(problem, 3));
  for (int64_t d = 0; d < 5; ++d) {
    EXPECT_NE(gradients.queries.values[(12 + 6) * 5 + d], 0);
    for (int64_t row = 7; row < 12; ++row)
      EXPECT_EQ(gradients.queries.values[(12 + row) * 5 + d], 0);
    EXPECT_EQ(gradients.table.values[d], 0); // token 0 is never visible
    EXPECT_EQ(gradients.table.sensitivity[d], 0);
  }
}

TEST(Gradient, EmptyProblemsGiveZeros) {
  for (int64_t batch : {0, 2}) {
    Problem problem = randomProblem(batch, 0, 3, 2, 4);
    Gradients gradients = test::backward(problem, Values());
    EXPECT_EQ(gradients.queries.values.size(), 0u);
    EXPECT_EQ(gradients.table.values, Values(6, 0.0));
    EXPECT_EQ(gradients.tau.values, Values(1, 0.0));
    EXPECT_EQ(gradients.gammas.values, Values(5, 0.0));
  }
}

/// Below the floor only the factor of the spread is left of tau.
TEST(Gradient, TauUnderItsFloorOnlyScalesTheSpread) {
  Problem problem = randomProblem(1, 10, 8, 3, 5);
  for (Values *values : {&problem.queries, &problem.table})
    for (double &value : *values)
      value *= 0.1;
  problem.channels = channels("centroid,entropy,decay:backward:1");
  Values dy = test::drawGradient(problem, 5);
  problem.tau = 0.02;
  EXPECT_NE(test::backward(problem, dy).tau.values[0], 0);
  problem.tau = 0.009;
  EXPECT_EQ(test::backward(problem, dy).tau.values[0], 0);
  problem.channels = channels("centroid,spread");
  dy = test::drawGradient(problem, 5);
  EXPECT_NE(test::backward(problem, dy).tau.values[0], 0);
}

/// x = 0 in the only row: y = x / 1e-10.
TEST(Gradient, NormsUnderTheirFloorDivideByIt) {
  Problem problem = test::makeProblem(2, {3, 4}, {0, 0});
  problem.channels = channels("centroid,predecessor");
  Gradients gradients = test::backward(problem, {1, 2, 3, 5});
  EXPECT_DOUBLE_EQ(gradients.table.values[0], 4e10);
  EXPECT_DOUBLE_EQ(gradients.table.values[1], 7e10);
}

/// The l2 distance of a query from its own key has no direction there.
TEST(Gradient, AQueryOnItsKeyHasNoDirection) {
  Problem problem = test::makeProblem(2, {1, 2, 0, 0}, {1, 2, 3, 4});
  problem.metric = Metric::L2;
  problem.channels = channels("spread,max_score,centroid");
  Gradients gradients = test::backward(problem, {{0, 0}}, {1, 2, 3, 4}, 1);
  EXPECT_EQ(gradients.queries.values, Values(4, 0.0));
  for (double value : test::allSensitivities(gradients))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Gradient, TiedScoresGiveToTheLowestPosition) {
  for (const char *list : {"max_score,predecessor", "top:1,entropy"}) {
    // Keys at -1 and 1 are equally far; the last is further.
    Problem problem = test::makeProblem(1, {0, 0, 0}, {-1, 1, 2});
    problem.channels = channels(list);
    Gradients gradients =
        test::backward(problem, {{0, 2}}, {0, 0, 0, 0, 1, 0}, 1);
    bool top = list[0] == 't';
    EXPECT_NE(gradients.table.values[0], 0);
    if (top) // a copy hands over all of G, and entropy moves both alike
      EXPECT_NEAR(gradients.table.values[0] + gradients.table.values[1],
                  gradients.table.values[0] - -gradients.table.values[1], 0);
    else
      EXPECT_EQ(gradients.table.values[1], 0);
  }
}

TEST(Gradient, RefusesWhatTheForwardPassRefuses) {
  Problem problem = randomProblem(1, 3, 3, 2, 6);
  Gradients gradients;
  Error error = backward(problem, {{0, 3}}, {}, {}, gradients);
  ASSERT_TRUE(error);
  EXPECT_NE(error->find("got [0, 3]"), std::string::npos) << *error;
}

//===----------------------------------------------------------------------===//
// Sensitivity
//===----------------------------------------------------------------------===//

/// sum_ij |d gradient / d z_ij|: the exact first-order effect of the worst
/// errors of the scores, by central differences.
Values exactSensitivity(const Problem &problem, const Values &dy) {
  constexpr double step = 1e-5;
  Values total;
  for (RowId id : allRows(problem))
    for (int64_t j = 0; j < problem.visibleKeys(id.batch, id.row); ++j) {
      auto at = [&](double size) {
        return test::allValues(
            test::backward(problem, dy, 1, [&](RowId row, int64_t key) {
              return row == id && key == j ? size : 0;
            }));
      };
      Values up = at(step), down = at(-step);
      total.resize(up.size());
      for (size_t n = 0; n < up.size(); ++n)
        total[n] += std::fabs(up[n] - down[n]) / (2 * step);
    }
  return total;
}

class Sensitivity
    : public testing::TestWithParam<std::tuple<Metric, const char *>> {};

/// It bounds the exact effect for every element, and not by far.
TEST_P(Sensitivity, BoundsWhatWrongScoresDo) {
  auto [metric, list] = GetParam();
  double ratios = 0, loosest = 0;
  int64_t count = 0;
  constexpr int64_t widths[] = {1, 3, 5, 7, 18, 33}; // vectors of 16 columns
  for (unsigned seed = 0; seed < 6; ++seed) {
    Problem problem = randomProblem(1, 7, 7, widths[seed], seed);
    problem.metric = metric;
    problem.channels = channels(list);
    problem.tau = 0.4 + 0.4 * seed;
    // The largest score has a kink where two tokens are the same.
    if (std::string(list).find("max_score") != std::string::npos)
      problem.ids = {0, 1, 2, 3, 4, 5, 6};
    problem.gammas = {0.99, seed % 2 ? 0.5 : 0.01, 0.88, 0.993, 0.3};
    Values dy = test::drawGradient(problem, seed);
    Values exact = exactSensitivity(problem, dy);
    Values bound = test::allSensitivities(test::backward(problem, dy));
    for (size_t n = 0; n < exact.size(); ++n) {
      EXPECT_GE(bound[n], exact[n] * (1 - 1e-4) - 1e-7) << n;
      if (exact[n] < 1e-6)
        continue;
      ratios += std::log(bound[n] / exact[n]);
      loosest = std::max(loosest, bound[n] / exact[n]);
      ++count;
    }
  }
  std::printf("  bound / exact: mean %.1f, largest %.0f, of %lld\n",
              std::exp(ratios / count), loosest, (long long)count);
  EXPECT_LE(std::exp(ratios / count), 15);
}

INSTANTIATE_TEST_SUITE_P(
    Lists, Sensitivity,
    testing::Combine(testing::Values(Metric::SqL2, Metric::L2),
                     testing::Values("default", "centroid,predecessor",
                                     "max_score,top:1", "spread,top:1",
                                     "entropy,top:1", "moment:1,top:1",
                                     "moment:3,top:1", "moment:4,spread",
                                     "decay:backward:1,top:2")),
    [](const auto &info) {
      return (std::get<0>(info.param) == Metric::L2 ? "l2_" : "sq_l2_") +
             std::to_string(info.index % 9);
    });

} // namespace
