//===- PropertyTest.cpp - what holds of any inputs ------------------------===//
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
using test::randomProblem;
using Values = std::vector<double>;

namespace {

/// Sequence `b` of `problem` cut to its first `length` tokens.
Problem cut(const Problem &problem, int64_t b, int64_t length) {
  Problem result = problem;
  result.batch = 1;
  result.numKeys = result.numQueries = length;
  result.lengths.clear();
  result.queries.assign(problem.query(b, 0), problem.query(b, length));
  result.ids.assign(problem.sequence(b), problem.sequence(b) + length);
  return result;
}

/// The formula of one channel of row i as it is written, powers and all: good
/// for short sequences only.
Values literal(const Problem &p, const Channel &channel, int64_t b, int64_t i) {
  Values z, w;
  double total = 0, origin = i;
  for (int64_t j = 0; j <= i; ++j) {
    double square = 0;
    for (int64_t d = 0; d < p.dModel; ++d)
      square += std::pow(p.query(b, i)[d] - p.key(b, j)[d], 2);
    z.push_back(p.metric == Metric::L2 ? std::sqrt(square) : square);
    w.push_back(std::exp(-z[j] / p.tau));
    total += w[j];
  }
  if (p.decayOrigin == DecayOrigin::SequenceEnd)
    origin = p.length(b) - 1;
  Values value(channel.width(p.dModel), 0.0);
  double sum = 0;
  for (int64_t j = 0; j <= i; ++j) {
    w[j] /= total;
    if (channel.kind == ChannelKind::Spread)
      value[0] += p.tau * w[j] * z[j];
    else if (channel.kind == ChannelKind::Moment)
      value[0] += w[j] * std::pow(z[j], channel.arg);
    else if (channel.kind == ChannelKind::Entropy)
      value[0] -= w[j] * std::log(std::max(w[j], 1e-10));
    double a = w[j];
    if (channel.kind == ChannelKind::DecayForward)
      a *= std::pow(p.gammas[channel.arg], j);
    else if (channel.kind == ChannelKind::DecayBackward)
      a *= std::pow(p.gammas[channel.arg], origin - j);
    sum += a;
    for (int64_t d = 0; d < p.dModel && !channel.isScalar(); ++d)
      value[d] += a * p.key(b, j)[d];
  }
  for (double &element : value)
    element /= channel.isScalar() ? 1 : std::max(sum, 1e-8);
  return value;
}

TEST(Property, SumsEqualTheLiteralFormula) {
  Problem problem = randomProblem(2, 30, 20, 37, 3);
  problem.lengths = {30, 17};
  problem.tau = 2.5;
  problem.channels =
      channels("centroid,decay:forward:0,decay:forward:4,decay:backward:1,"
               "decay:backward:4,spread,entropy,moment:1,moment:2");
  for (Metric metric : {Metric::SqL2, Metric::L2}) {
    for (DecayOrigin origin : {DecayOrigin::SequenceEnd, DecayOrigin::Query}) {
      problem.metric = metric;
      problem.decayOrigin = origin;
      for (const Row &row : test::run(problem)) {
        if (row.id.row >= problem.length(row.id.batch))
          continue;
        for (size_t c = 0; c < problem.channels.size(); ++c)
          test::expectNear(
              test::slice(problem, row.x, c),
              literal(problem, problem.channels[c], row.id.batch, row.id.row),
              1e-12, problem.channels[c].name());
      }
    }
  }
}

TEST(Property, QueryOriginIsPrefixStable) {
  Problem longer = randomProblem(1, 40, 20, 6, 4);
  longer.decayOrigin = DecayOrigin::Query;
  Problem shorter = cut(longer, 0, 25);
  std::vector<Row> a = test::run(longer), b = test::run(shorter);
  for (size_t n = 0; n < b.size(); ++n)
    EXPECT_EQ(a[n].x, b[n].x) << "row " << n;
  longer.decayOrigin = shorter.decayOrigin = DecayOrigin::SequenceEnd;
  EXPECT_NE(test::run(longer)[3].x, test::run(shorter)[3].x);
}

TEST(Property, OriginsAgreeAtTheLastToken) {
  Problem end = randomProblem(1, 21, 20, 6, 5), query = end;
  query.decayOrigin = DecayOrigin::Query;
  EXPECT_EQ(test::run(end).back().x, test::run(query).back().x);
  EXPECT_NE(test::run(end).front().x, test::run(query).front().x);
}

TEST(Property, OneVectorAddedEverywhereChangesNoWeight) {
  Problem problem = randomProblem(1, 30, 20, 5, 6), shifted = problem;
  problem.decayOrigin = shifted.decayOrigin = DecayOrigin::Query;
  // No decay is under its floor here, so each value moves with the keys.
  Values vector = {1, -2, 0.5, 3, 0.25};
  for (size_t n = 0; n < shifted.queries.size(); ++n)
    shifted.queries[n] += vector[n % 5];
  for (size_t n = 0; n < shifted.table.size(); ++n)
    shifted.table[n] += vector[n % 5];
  std::vector<Row> a = test::run(problem), b = test::run(shifted);
  for (size_t n = 0; n < a.size(); ++n) {
    EXPECT_EQ(a[n].indices, b[n].indices);
    EXPECT_NEAR(a[n].lse, b[n].lse, 1e-12);
    for (size_t c = 0; c < problem.channels.size(); ++c) {
      Values expected = test::slice(problem, a[n].x, c);
      for (size_t d = 0; d < expected.size() && expected.size() > 1; ++d)
        expected[d] += vector[d];
      test::expectNear(test::slice(problem, b[n].x, c), expected, 1e-11,
                       problem.channels[c].name());
    }
  }
}

TEST(Property, ALengthIsACutSequence) {
  Problem problem = randomProblem(2, 24, 20, 6, 7);
  problem.lengths = {24, 10};
  std::vector<Row> whole = test::run(problem);
  std::vector<Row> part = test::run(cut(problem, 1, 10));
  for (size_t n = 0; n < part.size(); ++n) {
    EXPECT_EQ(whole[24 + n].x, part[n].x) << "row " << n;
    EXPECT_EQ(whole[24 + n].indices, part[n].indices) << "row " << n;
  }
}

TEST(Property, AnOffsetIsALaterRow) {
  Problem problem = randomProblem(1, 24, 20, 6, 8), tail = problem;
  tail.queryOffset = 20;
  tail.numQueries = 6; // the last two stand beyond the end
  tail.queries.assign(problem.query(0, 20), problem.query(0, 24));
  tail.queries.resize(6 * 6, 1.0);
  std::vector<Row> all = test::run(problem), some = test::run(tail);
  for (size_t n = 0; n < 4; ++n)
    EXPECT_EQ(all[20 + n].x, some[n].x) << "row " << n;
  EXPECT_EQ(some[4].norm, 0);
  EXPECT_EQ(some[5].norm, 0);
}

TEST(Property, ThreadsAndSubsetsChangeNothing) {
  Problem problem = randomProblem(2, 24, 20, 70, 9);
  std::vector<Row> one = test::run(problem, 1), three = test::run(problem, 3);
  for (size_t n = 0; n < one.size(); ++n)
    EXPECT_EQ(one[n].x, three[n].x) << "row " << n;
  std::vector<Row> picked;
  ASSERT_FALSE(forward(problem, {{1, 5}, {0, 3}}, 2, picked));
  EXPECT_EQ(picked[0].x, one[29].x);
  EXPECT_EQ(picked[1].x, one[3].x);
}

TEST(Property, StreamedRowsShowTheirScores) {
  Problem problem = randomProblem(1, 9, 20, 6, 10);
  std::vector<int> seen(9, 0);
  ASSERT_FALSE(
      forEachRow(problem, allRows(problem), 2, [&](const Row &row, int worker) {
        ++seen[row.id.row];
        EXPECT_LT(worker, 2);
        ASSERT_EQ(row.scores.size(), size_t(row.id.row + 1));
        double sum = 0;
        for (double z : row.scores)
          sum += std::exp(z - row.lse);
        EXPECT_NEAR(sum, 1, 1e-14);
      }));
  EXPECT_EQ(seen, std::vector<int>(9, 1));
}

TEST(Property, LongPowersKeepTheirPrecision) {
  // Equal keys but for the sign of one: the mean is known in closed form.
  int64_t numKeys = 5000;
  Problem problem =
      test::makeProblem(1, Values(numKeys, 0.0), Values(numKeys, 1.0));
  problem.table[0] = -1; // p = 4999 backward, 0 forward
  problem.gammas = {0.999};
  problem.decayOrigin = DecayOrigin::Query;
  problem.channels = channels("decay:backward:0,decay:forward:0");
  std::vector<Row> rows;
  ASSERT_FALSE(forward(problem, {{0, numKeys - 1}}, 1, rows));
  double sum = (1 - std::pow(0.999, numKeys)) / (1 - 0.999);
  EXPECT_NEAR(rows[0].x[0], 1 - 2 * std::pow(0.999, 4999) / sum, 1e-13);
  EXPECT_NEAR(rows[0].x[1], 1 - 2 / sum, 1e-13);
}

} // namespace
