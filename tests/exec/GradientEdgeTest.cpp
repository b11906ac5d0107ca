//===- GradientEdgeTest.cpp - the streaming gradient at its edges -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientProblem.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;
using namespace raytention::test;

namespace {

std::vector<std::string> allChannels() {
  std::vector<std::string> channels = defaultChannels();
  channels.push_back("max_score");
  return channels;
}

GradientProblem makeProblem(GradientShape shape) {
  GradientProblem problem(41, allChannels(), shape);
  problem.target = TargetKind::Cpu;
  return problem;
}

void expectEqual(const GradientValues &a, const GradientValues &b) {
  EXPECT_EQ(a.queries, b.queries);
  EXPECT_EQ(a.table, b.table);
  EXPECT_EQ(a.tau, b.tau);
  EXPECT_EQ(a.gammas, b.gammas);
}

TEST(GradientEdge, TheSameBitsForAnyThreadsAlsoOfOneToken) {
  for (int64_t vocab : {5, 1}) {
    GradientShape shape;
    shape.numKeys = 530;
    shape.dModel = 17;
    shape.vocab = vocab;
    GradientProblem problem = makeProblem(shape);
    auto attention = problem.compile(DType::F32);
    ASSERT_TRUE(attention);
    GradientValues first = problem.computeGradients(*attention, DType::F32, 1);
    EXPECT_GT(norm(first.table), 0);
    for (int threads : {1, 2, 3, 7})
      expectEqual(problem.computeGradients(*attention, DType::F32, threads),
                  first);
  }
}

/// The streaming attention in double and in float, and the reference.
class Edges : public testing::Test {
protected:
  static void SetUpTestSuite() {
    GradientProblem problem = makeProblem({});
    streaming = problem.compile(DType::F64).release();
    narrow = problem.compile(DType::F32).release();
    problem.target = TargetKind::Reference;
    reference = problem.compile(DType::F64).release();
    ASSERT_TRUE(streaming && narrow && reference);
  }
  static void TearDownTestSuite() {
    delete streaming;
    delete narrow;
    delete reference;
  }

  /// Against the reference, in double; finite in float.
  static void expectReference(const GradientProblem &problem, double tol) {
    GradientValues got = problem.computeGradients(*streaming, DType::F64, 2);
    GradientValues expected =
        problem.computeGradients(*reference, DType::F64, 1);
    GradientValues single = problem.computeGradients(*narrow, DType::F32, 2);
    for (auto part : {&GradientValues::queries, &GradientValues::table,
                      &GradientValues::tau, &GradientValues::gammas}) {
      double largest = norm(expected.*part);
      ASSERT_TRUE(std::isfinite(largest));
      for (size_t i = 0; i < (got.*part).size(); ++i)
        EXPECT_NEAR((got.*part)[i], (expected.*part)[i], tol * (1 + largest));
      EXPECT_TRUE(std::isfinite(norm(single.*part)));
    }
  }

  static Attention *streaming, *narrow, *reference;
};

Attention *Edges::streaming, *Edges::narrow, *Edges::reference;

// One test, since each is a process of its own and compiling takes seconds.
TEST_F(Edges, OfKeysTokensTemperaturesAndDecays) {
  GradientShape shape;
  shape.numKeys = 1;
  {
    SCOPED_TRACE("one visible key");
    expectReference(makeProblem(shape), 1e-12);
  }
  shape.numKeys = 40;
  {
    SCOPED_TRACE("smallest and largest gamma");
    GradientProblem problem = makeProblem(shape);
    problem.gammas = {std::exp2(-100), 1, std::exp2(-100), 0.5, 1};
    expectReference(problem, 1e-10);
  }
  {
    SCOPED_TRACE("lengths of nothing and of one");
    GradientProblem problem = makeProblem(shape);
    problem.lengths = {0, 1};
    expectReference(problem, 1e-12);
  }
  for (double tau : {0.005, -1.0}) {
    SCOPED_TRACE("tau under its floor");
    GradientProblem problem = makeProblem(shape);
    // Scores are a hundred times the distances: close points keep weights.
    for (std::vector<double> *values : {&problem.queries, &problem.table})
      for (double &value : *values)
        value *= 0.05;
    problem.tau = {tau};
    expectReference(problem, 1e-10);
  }
  SCOPED_TRACE("equal scores of one repeated token");
  shape.vocab = 1;
  GradientProblem problem = makeProblem(shape);
  for (double &value : problem.queries)
    value = 0.25;
  expectReference(problem, 1e-12);
}

TEST(GradientEdge, GradientsOfZeroSignalsAreZero) {
  GradientShape shape;
  shape.numKeys = 40;
  GradientProblem problem = makeProblem(shape);
  std::fill(problem.dSignals.begin(), problem.dSignals.end(), 0.0);
  auto attention = problem.compile(DType::F32);
  ASSERT_TRUE(attention);
  GradientValues g = problem.computeGradients(*attention, DType::F32, 2);
  for (auto part : {&GradientValues::queries, &GradientValues::table,
                    &GradientValues::tau, &GradientValues::gammas})
    EXPECT_EQ(norm(g.*part), 0);
}

/// Points that are `scale` apart, but for one token that is 1e-4 apart. Where a
/// distance is tiny, a gradient over it leaves the type's range, though times
/// the difference it does not.
GradientProblem makeTinyDistances(double scale, double gradient) {
  GradientShape shape;
  shape.numKeys = 40;
  shape.dModel = 19;
  GradientProblem problem(43, {"max_score", "centroid"}, shape);
  problem.target = TargetKind::Cpu;
  problem.spec.metric = "l2";
  problem.tau = {1};
  for (std::vector<double> *values : {&problem.queries, &problem.table})
    for (double &value : *values)
      value *= scale;
  for (int64_t d = 0; d < shape.dModel; ++d)
    problem.table[d] *= 1e-4 / scale;
  for (double &value : problem.dSignals)
    value *= gradient;
  return problem;
}

/// The gradients of an attention of `type`, against those at 1e-20, 1e17: where
/// the norm of a row is at its floor, they grow as dy does.
class TinyDistances {
public:
  TinyDistances() : problem(makeTinyDistances(1e-20, 1e17)) {
    auto wide = problem.compile(DType::F64);
    expected = problem.computeGradients(*wide, DType::F64, 1);
  }

  void expectIt(DType type, TargetKind target, bool exact, double tol,
                std::vector<std::pair<double, double>> scales) {
    problem.target = target;
    problem.spec.exactDistances = exact;
    auto attention = problem.compile(type);
    ASSERT_TRUE(attention);
    for (auto [scale, gradient] : scales) {
      SCOPED_TRACE(scale);
      GradientProblem other = makeTinyDistances(scale, gradient);
      other.spec = problem.spec;
      GradientValues got = other.computeGradients(*attention, type, 2);
      for (auto part : {&GradientValues::queries, &GradientValues::table})
        for (double &value : got.*part)
          value /= gradient / 1e17;
      EXPECT_LE(distance(got.queries, expected.queries), tol);
      EXPECT_LE(distance(got.table, expected.table), tol);
    }
  }

private:
  GradientProblem problem;
  GradientValues expected;
};

TEST(GradientEdge, OfTinyDistancesUnderTheRootMetric) {
  TinyDistances test;
  for (bool exact : {false, true}) {
    test.expectIt(DType::F32, TargetKind::Cpu, exact, 1e-5,
                  {{1e-20, 1e17}, {1e-12, 1e8}});
    test.expectIt(DType::F64, TargetKind::Cpu, exact, 1e-10,
                  {{1e-140, 1e147}, {1e-70, 1e70}, {1e-40, 1e20}});
  }
  test.expectIt(DType::F32, TargetKind::Reference, true, 1e-5, {{1e-20, 1e17}});
}

TEST(GradientEdge, ASmallCapIsMet) {
  GradientShape shape;
  shape.numKeys = 300;
  shape.dModel = 64;
  GradientProblem problem = makeProblem(shape);
  auto wide = problem.compile(DType::F64);
  problem.workspaceCap = 400000;
  auto tight = problem.compile(DType::F64);
  ASSERT_TRUE(wide && tight);
  EXPECT_NE(wide->scheduleText(), tight->scheduleText());
  GradientValues a = problem.computeGradients(*wide, DType::F64, 2);
  GradientValues b = problem.computeGradients(*tight, DType::F64, 2);
  EXPECT_LE(distance(b.queries, a.queries), 1e-11);
  EXPECT_LE(distance(b.table, a.table), 1e-11);
  EXPECT_LE(distance(b.gammas, a.gammas), 1e-11);
}

} // namespace
