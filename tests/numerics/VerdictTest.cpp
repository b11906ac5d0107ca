//===- VerdictTest.cpp - what the accuracy rule can tell, and what not ----===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestGradient.h"
#include "tools/oracle/GradientCheck.h"
#include "tools/oracle/ScoreError.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;
using test::channels;
using test::makeProblem;
using test::randomProblem;
using Values = std::vector<double>;

namespace {

CheckOptions optionsFor(DType dtype, bool exact = false) {
  CheckOptions options;
  options.dtype = dtype;
  options.exactDistances = exact;
  options.threads = 1;
  return options;
}

/// The verdict on the oracle's own rows after `change`.
CheckReport verdictOn(const Problem &problem, const CheckOptions &options,
                      const std::function<void(Row &)> &change = {}) {
  std::vector<Row> rows =
      test::run(problem, 1, oracleArithmetic(options.dtype));
  for (Row &row : rows)
    if (change)
      change(row);
  CheckReport report;
  Error error = check(
      problem, allRows(problem),
      [&](RowId id, double *x) {
        const Values &from = rows[id.batch * problem.numQueries + id.row].x;
        std::copy(from.begin(), from.end(), x);
      },
      options, report);
  EXPECT_FALSE(error) << *error;
  return report;
}

/// The same of gradients.
CheckReport verdictOn(const Problem &problem, const Gradients &gradients,
                      const Values &dy, DType dtype) {
  auto valueOf = [](const GradientPart &part) {
    return [&part](int64_t n) { return part.values.at(n); };
  };
  CheckReport report;
  int64_t width = problem.signalWidth();
  Error error = checkGradients(
      problem, allRows(problem),
      [&](RowId id, double *row) {
        std::copy_n(dy.data() +
                        (id.batch * problem.numQueries + id.row) * width,
                    width, row);
      },
      {valueOf(gradients.queries),
       valueOf(gradients.table),
       valueOf(gradients.tau),
       valueOf(gradients.gammas),
       {}},
      optionsFor(dtype), nullptr, report);
  EXPECT_FALSE(error) << *error;
  return report;
}

const CheckItem &itemOf(const CheckReport &report, const std::string &name) {
  for (const CheckItem &item : report.items)
    if (item.name == name)
      return item;
  ADD_FAILURE() << "no item " << name;
  static const CheckItem none;
  return none;
}

//===----------------------------------------------------------------------===//
// The score error
//===----------------------------------------------------------------------===//

/// Norms 25 and 4, the largest distance is that of (3, 4) from (1, 1): 13.
TEST(ScoreError, FollowsMetricAndPrecision) {
  Problem problem = makeProblem(2, {0, 0, 3, 4}, {1, 1, 0, 2});
  problem.tau = 0.5;
  auto e = [&](DType dtype, bool exact) {
    return measureScales(problem, allRows(problem), optionsFor(dtype, exact)).e;
  };
  double fast = scoreErrorFactor(false, 2), exact = scoreErrorFactor(true, 2);
  for (DType dtype : {DType::F32, DType::BF16, DType::F64}) {
    double u = unitRoundoff(dtype);
    problem.metric = Metric::SqL2;
    EXPECT_DOUBLE_EQ(e(dtype, false), fast * u * 29 / 0.5);
    EXPECT_DOUBLE_EQ(e(dtype, true), exact * u * 13 / 0.5);
    problem.metric = Metric::L2;
    EXPECT_DOUBLE_EQ(e(dtype, false), 16 * fast * u * std::sqrt(29) / 0.5);
    EXPECT_DOUBLE_EQ(e(dtype, true), exact * u * std::sqrt(13) / 0.5);
  }
}

/// Where every distance of l2 is short, all are taken by differences.
TEST(ScoreError, IsSmallWhereAllKeysAreNear) {
  Problem problem = makeProblem(1, {100, 101}, {100.5, 101.25});
  problem.metric = Metric::L2;
  auto e = [&] {
    return measureScales(problem, allRows(problem), optionsFor(DType::F32)).e;
  };
  EXPECT_DOUBLE_EQ(e(), scoreErrorFactor(true, 1) * 0x1p-24 * 0.5);
  problem.table[1] = 120;
  EXPECT_DOUBLE_EQ(e(), 16 * scoreErrorFactor(false, 1) * 0x1p-24 *
                            std::sqrt(101 * 101 + 120 * 120));
}

TEST(ScoreError, HasAFactorForEveryWidth) {
  for (int64_t width : {1, 2, 63, 64, 65, 8192, 1 << 20})
    for (bool exact : {false, true}) {
      EXPECT_GE(scoreErrorFactor(exact, width), 1) << width;
      EXPECT_LE(scoreErrorFactor(exact, width), 16) << width;
    }
}

/// The second key is far below the floor: an error of scores moves the value by
/// as little.
TEST(ScoreError, ShrinksWithAChannelUnderItsFloor) {
  Problem problem = makeProblem(1, {0, 0}, {1, 1});
  problem.numKeys = 60;
  problem.ids.assign(60, 0);
  problem.gammas = {0.5};
  problem.channels = channels("decay:backward:0");
  CheckOptions options = optionsFor(DType::F32);
  CheckReport report = verdictOn(problem, options);
  double e = report.e, floor = 0.75 * std::ldexp(1, -58) / 1e-8;
  EXPECT_NEAR(itemOf(report, "decay:backward:0").scoreError, e * floor,
              1e-6 * e * floor);
  EXPECT_EQ(report.verdict, Verdict::Passed);
  auto fault = [&](Row &row) { row.x[0] += 0.5 * e; };
  EXPECT_EQ(verdictOn(problem, options, fault).verdict, Verdict::Failed);
}

//===----------------------------------------------------------------------===//
// Unchecked
//===----------------------------------------------------------------------===//

TEST(Verdict, SaysWhereTheScoreErrorExcusesAnything) {
  for (auto [dtype, scale] :
       {std::pair{DType::F32, 1e14}, std::pair{DType::BF16, 1e14},
        std::pair{DType::F64, 1e15}}) {
    Problem problem = randomProblem(1, 4, 4, 8, 1);
    problem.channels = channels("centroid,top:1,entropy,max_score");
    problem.tau = 0.01;
    for (Values *values : {&problem.queries, &problem.table})
      for (double &value : *values)
        value *= scale;
    CheckOptions options = optionsFor(dtype);
    CheckReport report = verdictOn(problem, options);
    EXPECT_EQ(report.verdict, Verdict::Unchecked);
    EXPECT_EQ(itemOf(report, "centroid").verdict, Verdict::Unchecked);
    EXPECT_EQ(itemOf(report, "top:1").verdict, Verdict::Passed);
    EXPECT_EQ(itemOf(report, "max_score").verdict, Verdict::Passed);
    EXPECT_TRUE(itemOf(report, "entropy").isZero);
    EXPECT_EQ(itemOf(report, "entropy").verdict, Verdict::Passed);
    // Even so no mean of keys is twice as long as they are.
    auto fault = [&](Row &row) { row.x[3] = 20 * scale; };
    EXPECT_EQ(itemOf(verdictOn(problem, options, fault), "centroid").verdict,
              Verdict::Failed);
    auto nan = [&](Row &row) { row.x[16] = NAN; };
    report = verdictOn(problem, options, nan);
    EXPECT_EQ(report.verdict, Verdict::Failed);
    EXPECT_EQ(itemOf(report, "entropy").verdict, Verdict::Failed);
  }
}

TEST(Verdict, FollowsHalfOfTheMagnitude) {
  // z = -1e-3 in both rows of f32; c u N is within it or not.
  for (double norm : {30.0, 50.0, 80.0}) {
    Problem problem = makeProblem(1, {norm + std::sqrt(1e-3)}, {norm});
    problem.channels = channels("max_score");
    CheckReport report = verdictOn(problem, optionsFor(DType::F32));
    const CheckItem &item = report.items[0];
    EXPECT_NEAR(item.magnitude, 1e-3, 1e-12);
    EXPECT_EQ(item.verdict,
              item.scoreError > 0.5e-3 ? Verdict::Unchecked : Verdict::Passed);
    EXPECT_EQ(verdictOn(problem, optionsFor(DType::F64)).verdict,
              Verdict::Passed);
    EXPECT_EQ(verdictOn(problem, optionsFor(DType::F32, true)).verdict,
              Verdict::Passed);
  }
}

TEST(Verdict, FailuresOutweighWhatIsUnchecked) {
  CheckReport report;
  CheckItem item;
  for (Verdict verdict : {Verdict::Passed, Verdict::Unchecked}) {
    item.verdict = verdict;
    report.add(item);
    EXPECT_EQ(report.verdict, verdict);
  }
  item.verdict = Verdict::Failed;
  report.add(item);
  item.verdict = Verdict::Unchecked;
  report.add(item);
  EXPECT_EQ(report.verdict, Verdict::Failed);
}

//===----------------------------------------------------------------------===//
// True values of 0
//===----------------------------------------------------------------------===//

/// One token: no gradient but that of the copies, of spread and of the table.
TEST(Verdict, ComparesAbsolutelyWhereAllIsZero) {
  Problem problem = randomProblem(1, 40, 1, 8, 3);
  problem.channels = channels("decay:backward:0,decay:forward:1,entropy");
  problem.gammas = {0.99, 0.5};
  Values dy = test::drawGradient(problem, 1);
  for (DType dtype : {DType::F32, DType::BF16, DType::F64}) {
    Gradients good = test::backward(problem, allRows(problem), dy, 1, {},
                                    oracleArithmetic(dtype));
    CheckReport report = verdictOn(problem, good, dy, dtype);
    EXPECT_EQ(report.verdict, Verdict::Passed);
    for (const char *name : {"dq", "dtau", "dgammas"}) {
      const CheckItem &item = itemOf(report, name);
      EXPECT_TRUE(item.isZero) << name;
      EXPECT_EQ(item.magnitude, 0) << name;
    }
    EXPECT_FALSE(itemOf(report, "dtable").isZero);
    Gradients bad = good;
    bad.gammas.values[0] += unitRoundoff(dtype) * good.gammas.terms[0] +
                            1.1 * report.e * good.gammas.sensitivity[0];
    EXPECT_EQ(itemOf(verdictOn(problem, bad, dy, dtype), "dgammas").verdict,
              Verdict::Passed);
    bad.gammas.values[0] *= 1e3;
    report = verdictOn(problem, bad, dy, dtype);
    EXPECT_EQ(itemOf(report, "dgammas").verdict, Verdict::Failed);
    EXPECT_EQ(itemOf(report, "dgammas").err, bad.gammas.values[0]);
  }
}

/// Keys that cancel in their mean: what is left is rounding.
TEST(Verdict, ComparesAMeanOfZeroAbsolutely) {
  Problem problem = makeProblem(2, {0, 0, 0, 0}, {0.3, -0.7, -0.3, 0.7});
  problem.numQueries = 1;
  problem.queryOffset = 1;
  problem.queries = {0, 0};
  problem.channels = channels("centroid");
  CheckOptions options = optionsFor(DType::F32);
  CheckReport report = verdictOn(problem, options);
  EXPECT_TRUE(report.items[0].isZero);
  EXPECT_EQ(report.verdict, Verdict::Passed);
  auto fault = [](Row &row) { row.x[0] += 1e-5; };
  report = verdictOn(problem, options, fault);
  EXPECT_EQ(report.verdict, Verdict::Failed);
  EXPECT_NEAR(report.items[0].err, 1e-5, 1e-12);
}

//===----------------------------------------------------------------------===//
// Keys that count as equal
//===----------------------------------------------------------------------===//

/// Scores that differ by no more than 2^-100 (F64: 2^-900) may stand for each
/// other, however small e is; others may not.
TEST(Verdict, TakesKeysWhoseScoresCountAsEqual) {
  for (auto [dtype, unit] :
       {std::pair{DType::F32, 0x1p-100}, std::pair{DType::F64, 0x1p-900}})
    for (const char *list : {"top:1", "top:2", "antitop"})
      for (double size : {0.25, 4.0}) {
        // z = -a^2 and -4 a^2, apart by 3 a^2 = size * unit.
        double a = std::sqrt(unit * size / 3);
        Problem problem = makeProblem(1, {0, 0}, {a, -2 * a});
        problem.channels = channels(list);
        CheckReport report =
            verdictOn(problem, optionsFor(dtype), [&](Row &row) {
              if (row.id.row == 1)
                row.x[0] = list[3] == ':' && list[4] == '1' ? -2 * a : a;
            });
        EXPECT_EQ(report.verdict, size < 1 ? Verdict::Passed : Verdict::Failed)
            << list << " " << size;
      }
}

/// Under l2 scores of 1e-21 are far apart.
TEST(Verdict, OrdersSmallL2Scores) {
  Problem problem = makeProblem(1, {0, 0}, {1e-21, -2e-21});
  problem.metric = Metric::L2;
  problem.channels = channels("top:1,top:2,antitop");
  CheckOptions options = optionsFor(DType::F32);
  EXPECT_EQ(verdictOn(problem, options).verdict, Verdict::Passed);
  for (int64_t c = 0; c < 3; ++c) {
    auto fault = [&](Row &row) { row.x[c] = c == 0 ? -2e-21 : 1e-21; };
    EXPECT_EQ(verdictOn(problem, options, fault).items[c].verdict,
              Verdict::Failed);
  }
}

} // namespace
