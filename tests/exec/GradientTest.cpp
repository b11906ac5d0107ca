//===- GradientTest.cpp - the reference's gradients -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients of the materialising reference against central differences of its
// own forward, in double, and against other types and thread counts.
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientProblem.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::test;

namespace {

/// dL/dx of one input by central differences of `sum dy * y`.
double differentiate(Attention &attention, GradientProblem &problem,
                     double &value) {
  constexpr double kStep = 1e-6;
  double kept = value;
  value = kept + kStep;
  double above = problem.computeLoss(attention);
  value = kept - kStep;
  double below = problem.computeLoss(attention);
  value = kept;
  return (above - below) / (2 * kStep);
}

void expectDifferences(Attention &attention, GradientProblem &problem,
                       std::vector<double> &values,
                       const std::vector<double> &gradient, const char *name) {
  ASSERT_EQ(values.size(), gradient.size()) << name;
  for (size_t i = 0; i < values.size(); ++i) {
    double expected = differentiate(attention, problem, values[i]);
    EXPECT_NEAR(gradient[i], expected, 1e-6 * (1 + std::fabs(expected)))
        << name << " " << i;
  }
}

/// All gradients against differences.
void check(Attention &attention, GradientProblem &problem) {
  GradientValues g = problem.computeGradients(attention, DType::F64, 1);
  expectDifferences(attention, problem, problem.queries, g.queries, "dq");
  expectDifferences(attention, problem, problem.table, g.table, "dtable");
  expectDifferences(attention, problem, problem.tau, g.tau, "dtau");
  expectDifferences(attention, problem, problem.gammas, g.gammas, "dgammas");
  EXPECT_GT(norm(g.table), 0);
}

struct Case {
  const char *name;
  std::vector<std::string> channels;
  const char *metric, *origin;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class CentralDifferences
    : public testing::TestWithParam<std::tuple<Case, TargetKind>> {};

/// Seven tokens out of five repeat some.
TEST_P(CentralDifferences, Agree) {
  struct Shape {
    int64_t offset;
    std::vector<int64_t> lengths;
  };
  const auto &[c, target] = GetParam();
  std::unique_ptr<Attention> attention;
  unsigned seed = 0;
  for (const Shape &shape :
       {Shape{0, {}}, Shape{0, {4, 0}}, Shape{3, {7, 5}}}) {
    SCOPED_TRACE(++seed);
    GradientProblem problem(seed, c.channels, 7, shape.offset);
    problem.spec.metric = c.metric;
    problem.spec.decayOrigin = c.origin;
    problem.lengths = shape.lengths;
    problem.target = target;
    if (!attention)
      attention = problem.compile(DType::F64);
    ASSERT_TRUE(attention);
    check(*attention, problem);
  }
}

std::vector<std::string> withMaxScore() {
  std::vector<std::string> channels = defaultChannels();
  channels.push_back("max_score");
  channels.push_back("top:3");
  return channels;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, CentralDifferences,
    testing::Combine(
        testing::Values(
            Case{"Default", defaultChannels(), "sq_l2", "sequence_end"},
            Case{"AllRootQueryOrigin", withMaxScore(), "l2", "query"},
            Case{"SevenRoot", sevenChannels(), "l2", "sequence_end"},
            Case{
                "MaxScore", {"max_score", "centroid"}, "sq_l2", "sequence_end"},
            Case{"Moments",
                 {"moment:1", "moment:3", "centroid"},
                 "sq_l2",
                 "sequence_end"},
            Case{"MomentsRoot",
                 {"moment:4", "moment:2", "entropy"},
                 "l2",
                 "sequence_end"},
            Case{"QueryOrigin",
                 {"decay:backward:0", "decay:forward:1", "spread"},
                 "sq_l2",
                 "query"}),
        testing::Values(TargetKind::Reference, TargetKind::Cpu)),
    [](const auto &info) {
      bool isCpu = std::get<1>(info.param) == TargetKind::Cpu;
      return std::string(std::get<0>(info.param).name) +
             (isCpu ? "Cpu" : "Reference");
    });

TEST(Gradient, IsThatOfTheFlooredSumWhereADecayVanishes) {
  GradientProblem problem(3, {"decay:backward:0", "decay:forward:1"}, 7, 0);
  // 0.02^6 = 6e-11 is under the floor of 1e-8, 0.02^2 is not.
  problem.gammas[0] = problem.gammas[1] = 0.02;
  auto attention = problem.compile(DType::F64);
  ASSERT_TRUE(attention);
  check(*attention, problem);
}

TEST(Gradient, OfGammaIsKeptAtOne) {
  GradientProblem problem(4, {"decay:backward:0", "centroid"}, 7, 0);
  auto attention = problem.compile(DType::F64);
  ASSERT_TRUE(attention);
  problem.gammas = {1 - 1e-9, 1, 1, 1, 1};
  GradientValues near = problem.computeGradients(*attention, DType::F64, 1);
  problem.gammas[0] = 1;
  GradientValues at = problem.computeGradients(*attention, DType::F64, 1);
  EXPECT_GT(std::fabs(at.gammas[0]), 1e-3);
  EXPECT_NEAR(at.gammas[0], near.gammas[0], 1e-6);
}

TEST(Gradient, OfTauStopsUnderItsFloorButForSpread) {
  GradientProblem problem(5, {"spread", "centroid"}, 5, 0);
  for (double &value : problem.queries)
    value *= 0.05;
  for (double &value : problem.table)
    value *= 0.05;
  problem.tau = {0.005};
  auto attention = problem.compile(DType::F64);
  ASSERT_TRUE(attention);
  check(*attention, problem);
  GradientProblem without(5, {"centroid"}, 5, 0);
  without.tau = {0.005};
  attention = without.compile(DType::F64);
  ASSERT_TRUE(attention);
  EXPECT_EQ(without.computeGradients(*attention, DType::F64, 1).tau[0], 0);
}

TEST(Gradient, IsZeroAtEqualQueryAndKeyUnderTheRootMetric) {
  GradientProblem problem(6, sevenChannels(), 5, 0);
  problem.spec.metric = "l2";
  for (size_t i = 0; i < problem.queries.size(); ++i) {
    size_t position = i / problem.spec.dModel;
    problem.queries[i] =
        problem.table[problem.ids[position] * problem.spec.dModel +
                      i % problem.spec.dModel];
  }
  auto attention = problem.compile(DType::F64);
  ASSERT_TRUE(attention);
  GradientValues g = problem.computeGradients(*attention, DType::F64, 1);
  for (const std::vector<double> *part : {&g.queries, &g.table, &g.tau})
    EXPECT_TRUE(std::isfinite(norm(*part)));
  // Row 0 sees only itself, at distance 0.
  for (int64_t d = 0; d < problem.spec.dModel; ++d)
    EXPECT_EQ(g.queries[d], 0);
}

TEST(Gradient, OfNarrowTypesAgreesWithDouble) {
  GradientProblem problem(7,
                          {"centroid", "decay:backward:0", "top:1", "spread",
                           "entropy", "moment:2"},
                          9, 0);
  problem.lengths = {9, 6};
  problem.roundToHalf();
  auto wide = problem.compile(DType::F64);
  ASSERT_TRUE(wide);
  GradientValues expected = problem.computeGradients(*wide, DType::F64, 1);
  for (DType type : {DType::F32, DType::BF16}) {
    auto narrow = problem.compile(type);
    ASSERT_TRUE(narrow);
    GradientValues got = problem.computeGradients(*narrow, type, 1);
    EXPECT_LE(distance(got.queries, expected.queries), 1e-4);
    EXPECT_LE(distance(got.table, expected.table), 1e-4);
    EXPECT_LE(distance(got.tau, expected.tau), 1e-4);
    EXPECT_LE(distance(got.gammas, expected.gammas), 1e-4);
  }
}

/// All keys are at a distance of 800, exactly, and the temperature is low: what
/// rounding left of dz would outweigh that of the rest.
TEST(Gradient, OfMomentsThroughEqualScoresIsNothing) {
  GradientProblem problem(9, {"moment:1", "predecessor"}, 9, 0);
  problem.target = TargetKind::Cpu;
  problem.tau = {0.01};
  std::fill(problem.table.begin(), problem.table.end(), 1000);
  for (size_t i = 0; i < problem.queries.size(); ++i)
    problem.queries[i] = i % problem.spec.dModel < 2 ? 1020 : 1000;
  auto wide = problem.compile(DType::F64);
  auto narrow = problem.compile(DType::F32);
  ASSERT_TRUE(wide && narrow);
  GradientValues expected = problem.computeGradients(*wide, DType::F64, 1);
  GradientValues got = problem.computeGradients(*narrow, DType::F32, 1);
  EXPECT_LE(distance(got.queries, expected.queries), 3e-6);
}

/// A weight of e^-69 of a power of 2^60, and G of 2^70: their product with the
/// weight is moderate, without it there is none.
TEST(Gradient, OfMomentsIsFiniteWhereThatOfTheWeightIsNot) {
  GradientProblem problem(10, {"moment:4", "predecessor"},
                          GradientShape{1, 2, 0, 3, 2});
  problem.target = TargetKind::Cpu;
  problem.table = {0x1p-10, 0, 0, 181, 0, 0};
  problem.queries = {0x1p-10, 0, 0, 0x1p-10, 0, 0};
  problem.ids = {1, 0};
  problem.tau = {0x1p15 / 69};
  problem.dSignals = {0, 0, 0, 0, 0x1p60, 0, 0, 0};
  auto wide = problem.compile(DType::F64);
  auto narrow = problem.compile(DType::F32);
  ASSERT_TRUE(wide && narrow);
  GradientValues expected = problem.computeGradients(*wide, DType::F64, 1);
  GradientValues got = problem.computeGradients(*narrow, DType::F32, 1);
  EXPECT_GT(norm(expected.queries), 1);
  EXPECT_LE(distance(got.queries, expected.queries), 1e-4);
  EXPECT_LE(distance(got.tau, expected.tau), 1e-4);
}

/// The last key is so far that its power overflows; only its own row sees it.
TEST(Gradient, OfMomentsKnowsNothingOfKeysThatARowDoesNotSee) {
  GradientProblem problem(11, {"moment:4", "centroid"},
                          GradientShape{1, 6, 0, 3, 6});
  problem.target = TargetKind::Cpu;
  problem.ids = {0, 1, 2, 3, 4, 5};
  auto attention = problem.compile(DType::F32);
  ASSERT_TRUE(attention);
  GradientValues near = problem.computeGradients(*attention, DType::F32, 1);
  problem.table[15] = 1e10;
  GradientValues far = problem.computeGradients(*attention, DType::F32, 1);
  for (size_t i = 0; i < 15; ++i)
    EXPECT_EQ(near.queries[i], far.queries[i]) << i;
}

TEST(Gradient, HasTheSameBitsForAnyNumberOfThreads) {
  GradientProblem problem(8, {"centroid", "decay:forward:0"}, 7, 0);
  auto attention = problem.compile(DType::F64);
  ASSERT_TRUE(attention);
  GradientValues one = problem.computeGradients(*attention, DType::F64, 1);
  GradientValues two = problem.computeGradients(*attention, DType::F64, 2);
  EXPECT_EQ(one.queries, two.queries);
  EXPECT_EQ(one.table, two.table);
  EXPECT_EQ(one.tau, two.tau);
  EXPECT_EQ(one.gammas, two.gammas);
}

} // namespace
