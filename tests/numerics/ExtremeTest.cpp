//===- ExtremeTest.cpp - the oracle at the ends of its domain -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is compared with the oracle in double has float's digits: double must be
// right there, which long double tells, wherever an input may be.
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestGradient.h"
#include "tools/oracle/GradientCheck.h"
#include "tools/oracle/ScoreError.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace raytention;
using namespace raytention::oracle;
using test::channels;
using test::makeProblem;
using test::randomProblem;
using Values = std::vector<double>;

namespace {

/// Scales of 1e-20 to 1e17, temperatures of 1e-3 to 1e38 where the domain holds
/// them, one token, ties, one row, queries on their keys.
Problem drawProblem(unsigned seed) {
  std::mt19937 engine(seed);
  auto below = [&](int64_t limit) { return int64_t(engine() % limit); };
  int64_t keys = below(4) ? 1 + below(12) : 1, width = 1 + below(9);
  Problem p = randomProblem(1, keys, below(4) ? 1 + below(8) : 1, width, seed);
  p.channels =
      channels(below(4) ? "default" : "max_score,top:3,spread,entropy");
  double logScale = -20 + double(below(38));
  // d / t and (tau d)^2 stay below 2^120 = 1e36.
  double logTau = std::max(-3.0, 2 * logScale - 30 + double(below(20)));
  logTau = std::min({logTau, 38.0, 15 - 2 * logScale});
  p.tau = std::pow(10, logTau);
  for (Values *values : {&p.queries, &p.table})
    for (double &value : *values)
      value = float(value * std::pow(10, logScale));
  if (below(3) == 0)
    for (int64_t i = 0; i < keys; ++i)
      std::copy_n(p.key(0, i), width, p.queries.data() + i * width);
  if (below(3) == 0 && p.vocab > 1) // a tie
    std::copy_n(p.table.data(), width, p.table.data() + width);
  p.metric = below(3) ? Metric::SqL2 : Metric::L2;
  p.decayOrigin = below(2) ? DecayOrigin::Query : DecayOrigin::SequenceEnd;
  if (below(3) == 0)
    p.gammas = {1, 0x1p-100, 1e-9, 0.9999, 1e-3};
  return p;
}

std::string describe(const Problem &p, unsigned seed) {
  return "seed " + std::to_string(seed) + ", T " + std::to_string(p.numKeys) +
         ", tau " + std::to_string(std::log10(p.tau)) + ", k " +
         std::to_string(std::log10(std::fabs(p.table[0])));
}

/// Float's rule with its tolerance and errors of scores some 2^20 times
/// smaller: nothing that double gets wrong is seen by it.
CheckOptions sharpOptions() {
  CheckOptions options;
  options.dtype = DType::F64; // compares with long double
  options.exactDistances = true;
  options.threads = 1;
  options.scoreFactor = 4;
  return options;
}

TEST(Extreme, DoubleIsBetterThanWhatItChecks) {
  int64_t rows = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Problem p = drawProblem(seed);
    ASSERT_FALSE(validate(p)) << describe(p, seed);
    std::vector<Row> own = test::run(p);
    CheckReport report;
    ASSERT_FALSE(check(
        p, allRows(p),
        [&](RowId id, double *x) {
          std::copy(own[id.row].x.begin(), own[id.row].x.end(), x);
        },
        sharpOptions(), report));
    for (const CheckItem &item : report.items)
      EXPECT_NE(item.verdict, Verdict::Failed)
          << item.name << " " << item.err << ", " << describe(p, seed);
    rows += report.numRows;
  }
  EXPECT_GT(rows, 1000);
}

/// A fault of a few times what is allowed is seen wherever anything is checked.
TEST(Extreme, PlantedFaultsAreSeen) {
  CheckOptions options = sharpOptions();
  int64_t seen = 0;
  for (DType dtype : {DType::F32, DType::F64})
    for (unsigned seed = 0; seed < 40; ++seed) {
      options.dtype = dtype;
      Problem p = drawProblem(seed);
      std::vector<Row> own = test::run(p, 1, oracleArithmetic(dtype));
      auto verdict = [&] {
        CheckReport report;
        EXPECT_FALSE(check(
            p, allRows(p),
            [&](RowId id, double *x) {
              std::copy(own[id.row].x.begin(), own[id.row].x.end(), x);
            },
            options, report));
        return report;
      };
      CheckReport clean = verdict();
      double maxKey = measureScales(p, allRows(p), options).maxKey;
      for (size_t c = 0; c < p.channels.size(); ++c) {
        const CheckItem &item = clean.items[c];
        EXPECT_NE(item.verdict, Verdict::Failed) << describe(p, seed);
        double &x = own.back().x[test::offsetOf(p, c)], kept = x;
        x += 4 * (item.tol * item.magnitude + item.scoreError +
                  unitRoundoff(dtype) * std::max(maxKey, 2.0)) +
             1e-37;
        seen += verdict().items[c].verdict == Verdict::Failed;
        EXPECT_EQ(verdict().items[c].verdict, Verdict::Failed)
            << item.name << ", " << describe(p, seed);
        x = kept;
      }
    }
  EXPECT_GT(seen, 500);
}

TEST(Extreme, GradientsInDoubleAreBetterThanWhatTheyCheck) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Problem p = drawProblem(seed);
    Values dy = test::drawGradient(p, seed);
    Gradients own = test::backward(p, dy);
    auto valueOf = [](const GradientPart &part) {
      return [&part](int64_t n) { return part.values.at(n); };
    };
    CheckReport report;
    ASSERT_FALSE(checkGradients(
        p, allRows(p),
        [&](RowId id, double *row) {
          std::copy_n(dy.data() + id.row * p.signalWidth(), p.signalWidth(),
                      row);
        },
        {valueOf(own.queries),
         valueOf(own.table),
         valueOf(own.tau),
         valueOf(own.gammas),
         {}},
        sharpOptions(), nullptr, report));
    for (const CheckItem &item : report.items)
      EXPECT_NE(item.verdict, Verdict::Failed)
          << item.name << " " << item.err << " of " << item.magnitude << " at "
          << item.where << ", " << describe(p, seed);
    for (const GradientPart *part :
         {&own.queries, &own.table, &own.tau, &own.gammas})
      for (size_t n = 0; n < part->values.size(); ++n) {
        EXPECT_TRUE(std::isfinite(part->values[n])) << describe(p, seed);
        EXPECT_LE(std::fabs(part->values[n]),
                  part->terms[n] * (1 + 1e-6) + 1e-290)
            << describe(p, seed);
      }
  }
}

/// Two keys, equally far: m + log l has 1e-8 for the 0.69 of log l.
TEST(Extreme, LargeScoresLeaveWeightsTheirDigits) {
  for (double far : {1e2, 1e4, 1e6, 1e9}) {
    Problem problem = makeProblem(2, {0, 0, 0, 0}, {far, 0, 0, far});
    problem.channels = channels("spread,centroid,entropy,decay:backward:0");
    problem.gammas = {0.5};
    problem.decayOrigin = DecayOrigin::Query;
    for (Arithmetic arithmetic : {Arithmetic::Double, Arithmetic::Extended}) {
      Row row = test::run(problem, 1, arithmetic).back();
      EXPECT_NEAR(row.x[0], far * far, 1e-15 * far * far);
      EXPECT_NEAR(row.x[1], far / 2, 1e-15 * far);
      EXPECT_NEAR(row.x[3], std::log(2), 1e-15);
      EXPECT_NEAR(row.x[4], far / 3, 1e-15 * far);
    }
  }
}

/// Nearly all weight on one key: what is left keeps its digits.
TEST(Extreme, SmallEntropiesKeepTheirDigits) {
  for (double gap : {30.0, 100.0, 300.0}) {
    Problem problem = makeProblem(1, {1e3, 1e3}, {1e3, 1e3 + std::sqrt(gap)});
    problem.queries = {1e3, 1e3};
    problem.channels = channels("entropy");
    double distance = std::pow(problem.table[1] - 1e3, 2);
    double w = std::exp(-distance);
    EXPECT_NEAR(test::run(problem).back().x[0] /
                    (w + w * std::min(distance, -std::log(1e-10))),
                1, 1e-12);
  }
}

/// An f32 path rounds the floor of tau: on it tau has a gradient, whatever
/// double makes of 0.01.
TEST(Extreme, TheFloorOfTauIsThatOfThePath) {
  for (DType dtype : {DType::F32, DType::BF16, DType::F64}) {
    Problem problem = randomProblem(1, 6, 6, 4, 1);
    for (Values *values : {&problem.queries, &problem.table})
      for (double &value : *values)
        value *= 0.05;
    problem.channels = channels("centroid");
    problem.tauFloor = temperatureFloor(dtype);
    Values dy = test::drawGradient(problem, 1);
    problem.tau = dtype == DType::F64 ? 0.01 : double(0.01f);
    EXPECT_EQ(problem.temperature(), problem.tau);
    EXPECT_NE(test::backward(problem, dy).tau.values[0], 0);
    problem.tau = dtype == DType::F64 ? std::nextafter(0.01, 0)
                                      : double(std::nextafter(0.01f, 0.0f));
    EXPECT_EQ(problem.temperature(), problem.tauFloor);
    EXPECT_EQ(test::backward(problem, dy).tau.values[0], 0);
  }
}

//===----------------------------------------------------------------------===//
// The domain
//===----------------------------------------------------------------------===//

TEST(Extreme, TakesTheWholeDomainOfDouble) {
  for (double scale : {1e-161, 1e-150, 1e140}) {
    Problem problem = randomProblem(1, 5, 5, 3, 2);
    for (Values *values : {&problem.queries, &problem.table})
      for (double &value : *values)
        value *= scale;
    problem.channels = channels("centroid,top:1,entropy,decay:backward:1");
    ASSERT_FALSE(validate(problem));
    for (const Row &row : test::run(problem, 1, Arithmetic::Extended))
      for (double x : row.x)
        EXPECT_TRUE(std::isfinite(x));
    Gradients gradients = test::backward(problem, allRows(problem),
                                         test::drawGradient(problem, 2), 1, {},
                                         Arithmetic::Extended);
    for (double value : test::allValues(gradients))
      EXPECT_TRUE(std::isfinite(value));
    for (double s : test::allSensitivities(gradients))
      EXPECT_FALSE(std::isnan(s));
  }
}

/// What no visible row reads may be anything and changes nothing.
TEST(Extreme, PaddingMayBeNaN) {
  Problem clean = randomProblem(2, 6, 9, 3, 3);
  clean.lengths = {6, 2};
  for (int64_t &id : clean.ids)
    id = std::min<int64_t>(id, 6);
  for (int64_t j = 2; j < 6; ++j)
    clean.ids[6 + j] = 7; // and nobody names 8
  Problem dirty = clean;
  for (int64_t n = 8 * 3; n < 12 * 3; ++n)
    dirty.queries[n] = n % 2 ? NAN : INFINITY;
  for (int64_t n = 7 * 3; n < 9 * 3; ++n)
    dirty.table[n] = n % 2 ? NAN : -INFINITY;
  ASSERT_FALSE(validate(dirty));
  std::vector<Row> a = test::run(clean), b = test::run(dirty);
  for (size_t n = 0; n < a.size(); ++n)
    EXPECT_EQ(a[n].x, b[n].x);
  Values dy = test::drawGradient(clean, 3), wild = dy;
  std::fill(wild.begin() + 8 * clean.signalWidth(), wild.end(), NAN);
  EXPECT_EQ(test::allValues(test::backward(clean, dy)),
            test::allValues(test::backward(dirty, wild)));
  EXPECT_EQ(measureScales(clean, allRows(clean), {}).e,
            measureScales(dirty, allRows(dirty), {}).e);
}

} // namespace
