//===- CheckTest.cpp - the accuracy rule finds planted faults -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Check.h"
#include "tools/oracle/ScoreError.h"

#include "tests/numerics/TestProblem.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;
using test::channels;
using test::makeProblem;
using test::randomProblem;
using Values = std::vector<double>;

namespace {

/// A problem and the oracle's own answer to it, to plant faults in.
struct Answer {
  explicit Answer(Problem asked, DType dtype = DType::F32)
      : problem(std::move(asked)),
        rows(test::run(problem, 1, oracleArithmetic(dtype))) {}

  CheckReport check(DType dtype = DType::F32, int threads = 2) const {
    CheckOptions options;
    options.dtype = dtype;
    options.threads = threads;
    auto values = [&](RowId id, double *x) {
      const Values &row = rows[id.batch * problem.numQueries + id.row].x;
      std::copy(row.begin(), row.end(), x);
    };
    CheckReport report;
    Error error =
        oracle::check(problem, allRows(problem), values, options, report);
    EXPECT_FALSE(error) << *error;
    return report;
  }

  /// Element d of channel c in row n of all rows.
  double &at(size_t n, size_t c, int64_t d) {
    return rows[n].x[test::offsetOf(problem, c) + d];
  }

  void copyKey(size_t n, size_t c, int64_t j) {
    for (int64_t d = 0; d < problem.dModel; ++d)
      at(n, c, d) = problem.key(rows[n].id.batch, j)[d];
  }

  Problem problem;
  std::vector<Row> rows;
};

/// Only the item `name` of the report failed.
void expectOnlyFailure(const CheckReport &report, const std::string &name) {
  EXPECT_FALSE(report.passed());
  for (const CheckItem &item : report.items)
    EXPECT_EQ(item.passed(), item.name != name) << item.name;
}

TEST(Check, TheOracleAgreesWithItself) {
  for (DType dtype : {DType::F64, DType::F32, DType::BF16}) {
    CheckReport report =
        Answer(randomProblem(2, 24, 15, 8, 1), dtype).check(dtype);
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.numRows, 48);
    ASSERT_EQ(report.items.size(), 12u);
    for (const CheckItem &item : report.items) {
      EXPECT_EQ(item.err, 0) << item.name;
      EXPECT_EQ(item.tol, forwardTolerance(dtype)) << item.name;
      EXPECT_GT(item.magnitude, 0) << item.name;
      EXPECT_EQ(item.nearTies, 0) << item.name;
    }
  }
}

TEST(Check, RoundingToFloatPasses) {
  Answer answer(randomProblem(2, 24, 15, 8, 1));
  for (Row &row : answer.rows)
    for (double &x : row.x)
      x = float(x);
  EXPECT_TRUE(answer.check(DType::F32).passed());
  EXPECT_FALSE(answer.check(DType::F64).passed());
}

TEST(Check, ScoreErrorIsTheFormula) {
  // Norms 25 and 4, t = 0.5; the length is 2 and the longest key is 2.
  Problem problem = makeProblem(2, {0, 0, 3, 4}, {1, 1, 0, 2});
  problem.tau = 0.5;
  CheckReport report = Answer(problem).check();
  double e =
      scoreErrorFactor(/*byDifferences=*/false, 2) * 0x1p-24 * (25 + 4) / 0.5;
  EXPECT_DOUBLE_EQ(report.e, e);
  EXPECT_DOUBLE_EQ(report.items[0].scoreError, e * 2);
  EXPECT_DOUBLE_EQ(report.items[8].scoreError, e * 2);
  EXPECT_EQ(report.items[6].scoreError, 0); // a copy
  EXPECT_DOUBLE_EQ(report.items[10].scoreError, e * 0.25);
  EXPECT_DOUBLE_EQ(report.items[11].scoreError, e * std::log(2.0));
  EXPECT_DOUBLE_EQ(Answer(problem).check(DType::F64).e, e * 0x1p-29);
  // Both keys are 13 from the last query, or e t more.
  problem.channels = channels("moment:1,moment:3");
  report = Answer(problem).check();
  EXPECT_DOUBLE_EQ(report.items[0].scoreError, e * 0.5);
  EXPECT_DOUBLE_EQ(report.items[1].scoreError,
                   e * 0.5 * 3 * (13 + e * 0.5) * (13 + e * 0.5));
}

TEST(Check, OneElementJustAboveTheBoundFails) {
  for (DType dtype : {DType::F64, DType::F32, DType::BF16}) {
    const Answer good(randomProblem(2, 24, 15, 8, 2), dtype);
    CheckReport clean = good.check(dtype);
    for (size_t c = 0; c < clean.items.size(); ++c) {
      const CheckItem &item = clean.items[c];
      double bound =
          item.tol * item.magnitude + item.scoreError * good.rows[29].floors[c];
      int64_t d = good.problem.channels[c].isScalar() ? 0 : 3;
      for (double sign : {-1.0, 1.0}) {
        Answer bad = good;
        bad.at(29, c, d) += sign * 0.97 * bound;
        EXPECT_TRUE(bad.check(dtype).passed()) << item.name;
        bad = good;
        bad.at(29, c, d) += sign * 1.03 * bound;
        CheckReport report = bad.check(dtype);
        expectOnlyFailure(report, item.name);
        EXPECT_EQ(report.items[c].where,
                  "[1, 5], element " + std::to_string(d));
        EXPECT_NEAR(report.items[c].err, 1.03 * bound / item.magnitude,
                    0.01 * report.items[c].err);
      }
    }
  }
}

TEST(Check, WhatIsNotFiniteFails) {
  const Answer good(randomProblem(1, 24, 15, 8, 3));
  for (double value : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    for (size_t c = 0; c < good.problem.channels.size(); ++c) {
      Answer bad = good;
      bad.at(7, c, 0) = value;
      CheckReport report = bad.check();
      expectOnlyFailure(report, good.problem.channels[c].name());
      EXPECT_EQ(report.items[c].err, INFINITY);
      EXPECT_EQ(report.items[c].where, "[0, 7], element 0");
    }
  }
}

TEST(Check, AnotherKeyFailsWhereScoresDiffer) {
  const Answer good(randomProblem(1, 24, 24, 8, 4));
  for (size_t c : {5, 6, 7, 9}) { // the copies
    size_t copy = c < 9 ? c - 5 : 3;
    Answer bad = good;
    int64_t chosen = good.rows[20].indices[copy];
    int64_t other = chosen;
    while (bad.problem.sequence(0)[other] == bad.problem.sequence(0)[chosen])
      other = (other + 1) % 20;
    bad.copyKey(20, c, other);
    expectOnlyFailure(bad.check(), good.problem.channels[c].name());
  }
}

TEST(Check, AnotherKeyPassesWhereScoresAreTooClose) {
  // z = -1 and -1 - 2e-9; e is 2.4e-7 in float, 4e-16 in double.
  Problem problem = makeProblem(2, {0, 0, 0, 0}, {1, 0, 0, 1 + 1e-9});
  problem.channels = channels("top:1,top:2,antitop,predecessor");
  for (size_t c = 0; c < 4; ++c) {
    Answer other(problem);
    other.copyKey(1, c, c == 0 ? 1 : 0);
    CheckReport report = other.check(DType::F32);
    if (c == 3) { // which key precedes is not decided by scores
      expectOnlyFailure(report, "predecessor");
      continue;
    }
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.items[c].nearTies, 1);
    EXPECT_EQ(report.items[c].err, 0);
    expectOnlyFailure(other.check(DType::F64), problem.channels[c].name());
  }
}

TEST(Check, TiedScoresDoNotExcuseAMixOfKeys) {
  Problem problem = makeProblem(2, {0, 0, 0, 0}, {1, 0, 0, 1 + 1e-9});
  problem.channels = channels("top:1");
  Answer mixed(problem);
  mixed.at(1, 0, 1) = 1;
  expectOnlyFailure(mixed.check(), "top:1");
}

/// Three keys with z = 0, `z` and -10; what antitop chose in the last row.
Answer antitopAnswer(double z, int64_t chosen) {
  Problem problem =
      makeProblem(1, {0, 0, 0}, {0, std::sqrt(-z), std::sqrt(10.0)});
  problem.channels = channels("antitop");
  Answer answer(problem);
  answer.copyKey(2, 0, chosen);
  return answer;
}

TEST(Check, AntitopMayDecideKeysNearItsThresholdEitherWay) {
  double lse = std::log(1 + std::exp(-10.0) + 1e-10);
  double threshold = lse + std::log(1e-10), e = 4 * 0x1p-24 * -threshold;
  for (double offset : {-0.5 * e, 0.5 * e}) {
    EXPECT_TRUE(antitopAnswer(threshold + offset, 1).check().passed());
    EXPECT_TRUE(antitopAnswer(threshold + offset, 2).check().passed());
    EXPECT_FALSE(antitopAnswer(threshold + offset, 0).check().passed());
  }
  EXPECT_FALSE(antitopAnswer(threshold - 2 * e, 1).check().passed());
  EXPECT_TRUE(antitopAnswer(threshold - 2 * e, 2).check().passed());
  EXPECT_TRUE(antitopAnswer(threshold + 2 * e, 1).check().passed());
  EXPECT_FALSE(antitopAnswer(threshold + 2 * e, 2).check().passed());
}

TEST(Check, SwappedRowsFail) {
  Answer answer(randomProblem(1, 24, 15, 8, 5));
  std::swap(answer.rows[10].x, answer.rows[11].x);
  CheckReport report = answer.check();
  EXPECT_FALSE(report.passed());
  for (size_t c : {0, 1, 2, 3, 4, 5, 8, 10, 11}) // both rows may copy one key
    EXPECT_FALSE(report.items[c].passed()) << report.items[c].name;
}

TEST(Check, RowsBeyondTheLengthMustBeZero) {
  Problem problem = randomProblem(2, 9, 15, 8, 6);
  problem.lengths = {9, 4};
  Answer answer(problem);
  CheckReport report = answer.check();
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.items.back().name, "padding");
  answer.rows[16].x[2] = 1e-300;
  report = answer.check();
  expectOnlyFailure(report, "padding");
  EXPECT_EQ(report.items.back().where, "[1, 7], element 2");
}

TEST(Check, WhatIsBelowTheSmallestNormalNumberCountsAsZero) {
  // A copy, because the score error would cover so little in any other.
  Problem problem = makeProblem(1, {0}, {1e-38});
  problem.channels = channels("predecessor");
  Answer answer(problem);
  answer.rows[0].x[0] = 0;
  EXPECT_TRUE(answer.check(DType::F32).passed());
  EXPECT_TRUE(answer.check(DType::BF16).passed());
  EXPECT_FALSE(answer.check(DType::F64).passed());
  problem.table[0] = 1e-37;
  answer = Answer(problem);
  answer.rows[0].x[0] = 0;
  EXPECT_FALSE(answer.check(DType::F32).passed());
}

TEST(Check, TheReportDoesNotDependOnThreads) {
  Answer answer(randomProblem(2, 24, 15, 8, 7));
  for (Row &row : answer.rows)
    for (double &x : row.x)
      x *= 1 + 3e-5;
  CheckReport one = answer.check(DType::F32, 1);
  CheckReport three = answer.check(DType::F32, 3);
  for (size_t c = 0; c < one.items.size(); ++c) {
    EXPECT_EQ(one.items[c].err, three.items[c].err);
    EXPECT_EQ(one.items[c].where, three.items[c].where);
    EXPECT_EQ(one.items[c].passed(), three.items[c].passed());
  }
}

TEST(Check, RefusesABadProblem) {
  Problem problem = randomProblem(1, 4, 5, 3, 1);
  problem.ids[2] = 9;
  CheckReport report;
  EXPECT_TRUE(oracle::check(
      problem, {{0, 0}}, [](RowId, double *) {}, {}, report));
}

TEST(Sample, TakesTheEndsAndTheTileEdges) {
  std::vector<RowId> rows = sampleRows(2, 1000, 7, 256, 100);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
  for (int64_t b : {0, 1})
    for (int64_t i : {0, 99, 100, 899, 900, 999})
      EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), RowId{b, i}))
          << b << " " << i;
  EXPECT_GT(rows.size(), 220u);
  EXPECT_LE(rows.size(), 256u + 40);
  EXPECT_EQ(rows, sampleRows(2, 1000, 7, 256, 100));
  EXPECT_NE(rows, sampleRows(2, 1000, 8, 256, 100));
}

TEST(Sample, BoundsTheNumberOfRows) {
  std::vector<RowId> rows = sampleRows(1, 1 << 20, 7, 256, 16);
  EXPECT_LE(rows.size(), 256u + 2 + 2 * 256);
  for (int64_t i : {0, 15, 16, (1 << 20) - 17, (1 << 20) - 16, (1 << 20) - 1})
    EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), RowId{0, i})) << i;
  EXPECT_EQ(sampleRows(3, 1, 7, 256, 16).size(), 3u);
  EXPECT_TRUE(sampleRows(0, 5, 7, 256, 16).empty());
  EXPECT_TRUE(needsSampling(131072, 64));
  EXPECT_FALSE(needsSampling(16384, 768));
}

} // namespace
