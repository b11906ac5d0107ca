//===- GradientRunTest.cpp - backward runs through the interface *- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a backward run accepts, refuses, and gives for empty sizes; and the
// published gradients.
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientProblem.h"
#include "tests/numerics/Npy.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

#include <cmath>
#include <fstream>
#include <iterator>

using namespace raytention;
using namespace raytention::test;

namespace {

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

/// A backward run of three tokens whose pointers tests take away.
class BackwardRun : public testing::Test {
protected:
  BackwardRun() : problem(1, {"centroid", "top:1"}, 3, 0) {
    attention = problem.compile(DType::F64);
    inputs.batch = 2;
    inputs.numQueries = inputs.numKeys = 3;
    inputs.vocab = 5;
    inputs.queries = problem.queries.data();
    inputs.table = problem.table.data();
    inputs.ids = problem.ids.data();
    inputs.gammas = problem.gammas;
    test::cantFail(attention->run(
        inputs, {signals.data(), norms.data(), indices.data()}, 1));
  }

  /// The error of a run, empty where it succeeds.
  std::string run() {
    auto report =
        attention->runBackward(inputs, residuals, dSignals, gradients, 1);
    return report ? "" : report.status().message();
  }

  GradientProblem problem;
  std::unique_ptr<Attention> attention;
  Inputs inputs;
  std::vector<double> signals = std::vector<double>(6 * 6),
                      norms = std::vector<double>(6);
  std::vector<int32_t> indices = std::vector<int32_t>(6);
  std::vector<double> dq = std::vector<double>(18, -7),
                      dtable = std::vector<double>(15, -7),
                      dgammas = std::vector<double>(5, -7);
  double dtau = -7;
  Residuals residuals{signals.data(), norms.data(), indices.data()};
  Gradients gradients{dq.data(), dtable.data(), &dtau, dgammas.data()};
  const void *dSignals = problem.dSignals.data();
};

TEST_F(BackwardRun, NamesTheMissingArray) {
  EXPECT_EQ(run(), "");
  auto expect = [&](auto &pointer, const char *name) {
    auto kept = pointer;
    pointer = nullptr;
    EXPECT_EQ(run(),
              std::string("expected a pointer to ") + name + ", got null");
    pointer = kept;
  };
  expect(residuals.signals, "the signals");
  expect(residuals.norm, "the norms of the forward run");
  expect(residuals.indices, "the indices of the forward run");
  expect(dSignals, "the gradient of the signals");
  expect(gradients.queries, "the gradient of the queries");
  expect(gradients.table, "the gradient of the table");
  expect(gradients.tau, "the gradient of tau");
  expect(gradients.gammas, "the gradient of the gammas");
  expect(inputs.queries, "the queries");
  EXPECT_EQ(run(), "");
}

TEST_F(BackwardRun, ChecksTheInputsAsTheForwardRunDoes) {
  problem.ids[4] = 5;
  EXPECT_EQ(run(), "expected ids in [0, 5), got 5 at batch 1, position 1");
}

TEST_F(BackwardRun, RefusesIndicesThatAreNoPositions) {
  indices[4] = 3;
  EXPECT_EQ(run(), "expected indices of the forward run in [-1, 3), got 3 at "
                   "batch 1, row 1");
}

TEST_F(BackwardRun, NeedsAnAttentionCompiledWithGradients) {
  CompileOptions options;
  options.target = TargetKind::Reference;
  attention = test::cantFail(Attention::compile(problem.spec, options));
  EXPECT_EQ(run(), "expected an attention that was compiled with gradients, "
                   "got one without");
}

TEST_F(BackwardRun, RefusesATextWhoseBackwardTakesOtherArguments) {
  CompileOptions options;
  options.target = TargetKind::Reference;
  options.backward = true;
  std::string text =
      test::cantFail(printStage(problem.spec, options, "reference"));
  EXPECT_TRUE(
      static_cast<bool>(Attention::compileModule(text, problem.spec, options)));
  AttentionSpec other = problem.spec;
  other.channels = {"centroid"};
  auto refused = Attention::compileModule(text, other, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().message().substr(0, 22), "expected @attend to ha");
  // Without its last argument.
  size_t at = text.find("func.func @attend_backward(");
  ASSERT_NE(at, std::string::npos);
  std::string edited =
      text.substr(0, at) + "func.func @attend_backward() { return }\n}\n";
  refused = Attention::compileModule(edited, problem.spec, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().message(),
            "expected @attend_backward to have 15 arguments, got 0");
}

//===----------------------------------------------------------------------===//
// Empty sizes
//===----------------------------------------------------------------------===//

TEST_F(BackwardRun, GivesZerosWhereNoRowSeesAKey) {
  auto expectZero = [](std::vector<double> &values) {
    for (double &value : values) {
      EXPECT_EQ(value, 0);
      value = -7;
    }
  };
  Inputs whole = inputs;
  for (int64_t Inputs::*size :
       {&Inputs::batch, &Inputs::numQueries, &Inputs::numKeys}) {
    inputs = whole;
    inputs.*size = 0;
    EXPECT_EQ(run(), "");
    expectZero(dtable);
    expectZero(dgammas);
    EXPECT_EQ(dtau, 0);
  }
  // Two rows without keys have a gradient of their own.
  expectZero(dq);
}

TEST_F(BackwardRun, NeedsNoResidualsOfNothing) {
  inputs.numKeys = 0;
  residuals = {};
  residuals.signals = signals.data();
  dSignals = nullptr;
  EXPECT_EQ(run(), "");
}

TEST_F(BackwardRun, IgnoresTheGradientOfRowsBeyondTheLength) {
  std::vector<int64_t> lengths = {0, 2};
  inputs.lengths = lengths.data();
  test::cantFail(attention->run(
      inputs, {signals.data(), norms.data(), indices.data()}, 1));
  for (size_t i = 0; i < problem.dSignals.size(); ++i)
    if (i / 6 != 3 && i / 6 != 4)
      problem.dSignals[i] = 1e300;
  EXPECT_EQ(run(), "");
  for (size_t i = 0; i < dq.size(); ++i) {
    EXPECT_TRUE(std::isfinite(dq[i])) << i;
    if (i / 3 != 3 && i / 3 != 4) {
      EXPECT_EQ(dq[i], 0) << i;
    }
  }
  EXPECT_LT(norm(dtable), 100);
}

//===----------------------------------------------------------------------===//
// Published gradients
//===----------------------------------------------------------------------===//

class PublishedGradients
    : public testing::TestWithParam<std::tuple<const char *, TargetKind>> {
protected:
  std::string folder() const {
    return std::string(RAYTENTION_TEST_DATA) + "/reference/" +
           std::get<0>(GetParam()) + "/";
  }

  NpyArray read(const char *name) const {
    auto array = readNpy(folder() + name);
    EXPECT_TRUE(array) << "cannot read " << folder() << name;
    return array.value_or(NpyArray());
  }

  double readTau() const {
    std::ifstream file(folder() + "case.json");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    size_t at = text.find("\"tau\": ");
    EXPECT_NE(at, std::string::npos);
    return at == std::string::npos ? 1 : std::stod(text.substr(at + 7));
  }

  GradientProblem readProblem() const {
    NpyArray ids = read("ids.npy"), table = read("table.npy");
    GradientProblem problem;
    problem.batch = ids.shape.at(0);
    problem.numKeys = problem.numQueries = ids.shape.at(1);
    problem.vocab = table.shape.at(0);
    problem.spec.dModel = table.shape.at(1);
    problem.spec.channels = defaultChannels();
    problem.spec.numGammas = 5;
    problem.queries = read("queries.npy").values;
    problem.table = table.values;
    problem.ids.assign(ids.values.begin(), ids.values.end());
    problem.tau = {readTau()};
    problem.gammas = {0.99, 0.5, 0.88, 0.993, 0.3};
    problem.dSignals = read("grad.npy").values;
    return problem;
  }
};

TEST_P(PublishedGradients, Agree) {
  GradientProblem problem = readProblem();
  problem.target = std::get<1>(GetParam());
  auto attention = problem.compile(DType::F64);
  ASSERT_TRUE(attention);
  GradientValues g = problem.computeGradients(*attention, DType::F64, 1);
  auto compare = [&](const std::vector<double> &got, const char *name) {
    std::vector<double> expected = read(name).values;
    ASSERT_EQ(got.size(), expected.size()) << name;
    std::printf("  %-12s err %.2e of %.2e\n", name, distance(got, expected),
                norm(expected));
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected[i],
                  1e-5 * std::max(1.0, std::fabs(expected[i])))
          << name << " " << i;
    EXPECT_GT(norm(expected), 0) << name;
  };
  compare(g.queries, "dq.npy");
  compare(g.table, "dtable.npy");
  compare(g.gammas, "dgammas.npy");
  EXPECT_TRUE(std::isfinite(g.tau[0]));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, PublishedGradients,
    testing::Combine(testing::Values("tiny", "words", "quickstart"),
                     testing::Values(TargetKind::Reference, TargetKind::Cpu)),
    [](const auto &info) {
      bool isCpu = std::get<1>(info.param) == TargetKind::Cpu;
      return std::string(std::get<0>(info.param)) +
             (isCpu ? "Cpu" : "Reference");
    });

} // namespace
