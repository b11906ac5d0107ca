//===- GradientCheckTest.cpp - the rule for gradients finds faults --------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/GradientCheck.h"

#include "tests/numerics/TestGradient.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;
using test::randomProblem;
using Values = std::vector<double>;

namespace {

/// A problem, a dy and the oracle's own gradients, to plant faults in.
struct Answer {
  explicit Answer(Problem asked, std::vector<RowId> some = {},
                  DType dtype = DType::F32)
      : problem(std::move(asked)),
        rows(some.empty() ? allRows(problem) : std::move(some)),
        dy(test::drawGradient(problem, 1)),
        gradients(test::backward(problem, rows, dy, 1, {},
                                 oracleArithmetic(dtype))) {}

  SignalGradient signalGradient() const {
    return [this](RowId id, double *row) {
      int64_t width = problem.signalWidth();
      auto from = dy.begin() + (id.batch * problem.numQueries + id.row) * width;
      std::copy(from, from + width, row);
    };
  }

  /// The gradients as backward() with `options` has them.
  Answer with(const BackwardOptions &options) const {
    Answer other = *this;
    Error error =
        backward(problem, rows, signalGradient(), options, other.gradients);
    EXPECT_FALSE(error) << *error;
    return other;
  }

  CheckReport check(DType dtype = DType::F32, KeyChoice indices = {}) const {
    auto valueOf = [](const GradientPart &part) {
      return [&part](int64_t n) { return part.values.at(n); };
    };
    CheckOptions options;
    options.dtype = dtype;
    options.threads = 2;
    CheckReport report;
    Error error = checkGradients(
        problem, rows, signalGradient(),
        {valueOf(gradients.queries), valueOf(gradients.table),
         valueOf(gradients.tau), valueOf(gradients.gammas), indices},
        options, nullptr, report);
    EXPECT_FALSE(error) << *error;
    return report;
  }

  std::vector<std::pair<std::string, GradientPart *>> parts() {
    return {{"dq", &gradients.queries},
            {"dtable", &gradients.table},
            {"dtau", &gradients.tau},
            {"dgammas", &gradients.gammas}};
  }

  Problem problem;
  std::vector<RowId> rows;
  Values dy;
  Gradients gradients;
};

/// All tokens are seen.
Problem smallProblem() {
  Problem problem = randomProblem(2, 24, 15, 8, 1);
  for (int64_t j = 0; j < 15; ++j)
    problem.ids[j] = j;
  return problem;
}

void expectOnlyFailure(const CheckReport &report, const std::string &name) {
  EXPECT_FALSE(report.passed());
  for (const CheckItem &item : report.items)
    EXPECT_EQ(item.passed(), item.name != name) << item.name;
}

TEST(GradientCheck, TheOracleAgreesWithItself) {
  for (DType dtype : {DType::F64, DType::F32, DType::BF16}) {
    CheckReport report = Answer(smallProblem(), {}, dtype).check(dtype);
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.numRows, 48);
    ASSERT_EQ(report.items.size(), 4u);
    for (const CheckItem &item : report.items) {
      EXPECT_EQ(item.err, 0) << item.name;
      EXPECT_EQ(item.tol, gradientTolerance(dtype)) << item.name;
      EXPECT_GT(item.magnitude, 0) << item.name;
      EXPECT_GT(item.scoreError, 0) << item.name;
    }
  }
}

TEST(GradientCheck, RoundingToFloatPasses) {
  Answer answer(smallProblem());
  for (auto &[name, part] : answer.parts())
    for (double &value : part->values)
      value = float(value);
  EXPECT_TRUE(answer.check(DType::F32).passed());
  EXPECT_FALSE(answer.check(DType::F64).passed());
}

TEST(GradientCheck, OneElementJustAboveTheBoundFails) {
  const char *places[] = {"[1, 0, 1]", "[1, 1]", "[0]", "[3]"};
  for (DType dtype : {DType::F64, DType::F32, DType::BF16}) {
    Answer good(smallProblem(), {}, dtype);
    CheckReport clean = good.check(dtype);
    for (size_t c = 0; c < clean.items.size(); ++c) {
      const CheckItem &item = clean.items[c];
      size_t n = std::vector<size_t>{(24 + 0) * 8 + 1, 9, 0, 3}[c];
      double s = good.parts()[c].second->sensitivity[n];
      EXPECT_GE(item.scoreError, clean.e * s);
      double bound =
          item.tol * item.magnitude + clean.e * s +
          unitRoundoff(dtype) *
              (weightRoundoffs * s +
               termRoundoffs(8, 24) * good.parts()[c].second->terms[n]);
      for (double sign : {-1.0, 1.0}) {
        Answer bad = good;
        bad.parts()[c].second->values[n] += sign * 0.99 * bound;
        EXPECT_TRUE(bad.check(dtype).passed()) << item.name;
        bad = good;
        bad.parts()[c].second->values[n] += sign * 1.01 * bound;
        CheckReport report = bad.check(dtype);
        expectOnlyFailure(report, item.name);
        EXPECT_EQ(report.items[c].where, places[c]);
        EXPECT_NEAR(report.items[c].err, 1.01 * bound / item.magnitude,
                    0.01 * report.items[c].err);
      }
    }
  }
}

TEST(GradientCheck, WhatIsNotFiniteFails) {
  Answer good(smallProblem());
  for (double value : {double(NAN), double(INFINITY), -double(INFINITY)})
    for (size_t c = 0; c < 4; ++c) {
      Answer bad = good;
      bad.parts()[c].second->values[0] = value;
      CheckReport report = bad.check(DType::BF16);
      expectOnlyFailure(report, bad.parts()[c].first);
      EXPECT_EQ(report.items[c].err, INFINITY);
    }
}

TEST(GradientCheck, PaddingTakesZerosOnly) {
  Problem problem = smallProblem();
  problem.lengths = {24, 20};
  for (int64_t &id : problem.ids) // token 14 is seen by nobody
    id = std::min<int64_t>(id, 13);
  problem.ids[24 + 22] = 14;
  Answer good(problem);
  CheckReport report = good.check();
  EXPECT_TRUE(report.passed());
  ASSERT_EQ(report.items.size(), 5u);
  EXPECT_EQ(report.items[4].name, "gradient padding");
  for (double value : {1e-30, double(NAN)}) {
    Answer bad = good;
    bad.gradients.queries.values[(24 + 20) * 8 + 2] = value;
    report = bad.check();
    EXPECT_FALSE(report.items[4].passed());
    EXPECT_EQ(report.items[4].where, "dq[1, 20, 2]");
    bad = good;
    bad.gradients.table.values[14 * 8 + 7] = value;
    report = bad.check();
    EXPECT_FALSE(report.items[4].passed());
    EXPECT_EQ(report.items[4].where, "dtable[14, 7]");
  }
}

/// z = -1 and -1 - 2e-9; e is 2.4e-7 in float, 4e-16 in double.
TEST(GradientCheck, CopiesGiveToTheChosenKeyWhereScoresAreTooClose) {
  Problem problem = test::makeProblem(2, {0, 0, 0, 0}, {1, 0, 0, 1 + 1e-9});
  for (const char *list : {"top:1", "top:2", "antitop", "predecessor"}) {
    problem.channels = test::channels(list);
    Answer answer(problem, {{0, 1}});
    Gradients own = answer.gradients;
    auto choice = [&](RowId, int64_t *indices) {
      indices[0] = problem.channels[0].name() == "top:1" ? 1 : 0;
    };
    BackwardOptions options;
    options.choice = choice;
    options.scoreError = 1e-6;
    ASSERT_FALSE(backward(
        problem, answer.rows,
        [&](RowId, double *dy) { std::copy_n(answer.dy.data() + 2, 2, dy); },
        options, answer.gradients));
    if (list[0] == 'p') { // which key precedes is not decided by scores
      EXPECT_EQ(answer.gradients.table.values, own.table.values);
      continue;
    }
    EXPECT_NE(answer.gradients.table.values, own.table.values);
    EXPECT_TRUE(answer.check(DType::F32, choice).passed()) << list;
    EXPECT_FALSE(answer.check(DType::F32).passed()) << list;
    EXPECT_FALSE(answer.check(DType::F64, choice).passed()) << list;
  }
}

/// z = -1, -1 - 2e-9 and -4: who is nearest is open between two of three.
TEST(GradientCheck, MaxScoreGivesToAnyOfTheNearestKeys) {
  for (Metric metric : {Metric::SqL2, Metric::L2}) {
    Problem problem =
        test::makeProblem(2, {0, 0, 0, 0, 0, 0}, {1, 0, 0, 1 + 1e-9, 2, 0});
    problem.channels = test::channels("max_score,entropy");
    problem.metric = metric;
    Answer answer(problem, {{0, 2}});
    auto towards = [&](int64_t key) {
      BackwardOptions options;
      options.scoreShift = [=](RowId, int64_t j) { return 1e-8 * (j == key); };
      return answer.with(options);
    };
    EXPECT_TRUE(answer.check(DType::F64).passed());
    EXPECT_TRUE(towards(1).check(DType::F32).passed());
    EXPECT_FALSE(towards(1).check(DType::F64).passed());
    Answer third = answer;
    third.gradients.table.values[4] += third.gradients.table.values[0];
    third.gradients.table.values[0] = 0;
    EXPECT_FALSE(third.check(DType::F32).passed());
  }
}

/// Whether gradients of zero fail; the second of two scores is as given.
bool failsAsZero(Metric metric, const char *channel, double score,
                 DType dtype) {
  double x = metric == Metric::L2 ? score : std::sqrt(score);
  Problem problem = test::makeProblem(2, {0, 0, 0, 0}, {0, 0, x, 0});
  problem.channels = test::channels(channel);
  problem.metric = metric;
  problem.tau = 1;
  Answer none(problem, {{0, 1}});
  for (auto &part : none.parts())
    std::fill(part.second->values.begin(), part.second->values.end(), 0);
  CheckReport report = none.check(dtype);
  return std::any_of(
      report.items.begin(), report.items.end(),
      [](const CheckItem &item) { return item.verdict == Verdict::Failed; });
}

/// The second weight is 6e-39, or 1e-37, and all that there is a gradient of.
TEST(GradientCheck, WeightsBelowTheSmallestNormalNumberMayBeFlushed) {
  for (Metric metric : {Metric::SqL2, Metric::L2})
    for (const char *channel : {"entropy", "spread"}) {
      SCOPED_TRACE(channel);
      for (DType dtype : {DType::F32, DType::BF16}) {
        EXPECT_FALSE(failsAsZero(metric, channel, 87.95, dtype));
        EXPECT_TRUE(failsAsZero(metric, channel, 85, dtype));
      }
      EXPECT_TRUE(failsAsZero(metric, channel, 87.95, DType::F64));
    }
}

/// Opposite keys of nearly the same weight: their mean is nearly 0, and what
/// rounds a weight moves it by much, though scores are as good as exact.
TEST(GradientCheck, RoundedWeightsCountWhereKeysCancel) {
  Problem problem = test::makeProblem(2, {1e-5, 2e-5, 1e-5, 2e-5},
                                      {0.5e-4, 0.25e-4, -0.5e-4, -0.25e-4});
  problem.channels = test::channels("centroid");
  problem.metric = Metric::L2;
  problem.tau = 1;
  Answer answer(problem, {{0, 1}});
  auto rounded = [&](double units) {
    BackwardOptions options;
    options.scoreShift = [=](RowId, int64_t j) {
      return units * unitRoundoff(DType::F32) * (j == 0);
    };
    return answer.with(options);
  };
  EXPECT_TRUE(rounded(1).check(DType::F32).passed());
  EXPECT_FALSE(rounded(30).check(DType::F32).passed());
}

TEST(GradientCheck, SampledRowsAreAllThatHaveAGradient) {
  Answer sampled(smallProblem(), {{0, 3}, {1, 20}});
  CheckReport report = sampled.check(DType::F64);
  EXPECT_TRUE(report.passed());
  EXPECT_EQ(report.numRows, 2);
  Answer all(smallProblem());
  all.rows = sampled.rows;
  EXPECT_FALSE(all.check(DType::F64).passed());
}

/// One key: all of dq and dtau cancels, and rounding is all there is.
TEST(GradientCheck, RoundingMayRemainWhereAllTermsCancel) {
  Problem problem = randomProblem(1, 1, 1, 8, 3);
  problem.channels = test::channels("centroid,decay:backward:1,entropy,spread");
  Answer answer(problem);
  double g = 0;
  for (double value : answer.dy)
    g = std::max(g, std::fabs(value));
  for (double &value : answer.gradients.queries.values)
    value += 1e-8 * g;
  answer.gradients.tau.values[0] += 1e-8 * g;
  EXPECT_TRUE(answer.check(DType::F32).passed());
  EXPECT_FALSE(answer.check(DType::F64).passed());
}

TEST(GradientCheck, NumbersBelowTheSmallestNormalAreZero) {
  Answer answer(smallProblem());
  for (double &value : answer.dy)
    value *= 1e-42;
  for (auto &[name, part] : answer.parts())
    part->resize(part->values.size());
  EXPECT_TRUE(answer.check(DType::F32).passed());
  EXPECT_FALSE(answer.check(DType::F64).passed());
}

} // namespace
