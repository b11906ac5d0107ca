//===- RunTest.cpp - runs through the C++ interface -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention;

namespace {

constexpr int64_t kBatch = 2, kKeys = 45, kWidth = 8, kVocab = 11;

/// A self-attention over drawn tokens with two copying channels.
template <typename T> struct RunProblem {
  RunProblem() {
    spec.dModel = kWidth;
    spec.dtype = sizeof(T) == 8 ? DType::F64 : DType::F32;
    spec.channels = {"centroid", "decay:backward:0", "top:1", "predecessor",
                     "entropy"};
    spec.numGammas = 1;
    for (T &value : table)
      value = static_cast<T>(draw() % 1000) / 500 - 1;
    for (int32_t &id : ids)
      id = draw() % kVocab;
    for (size_t i = 0; i < queries.size(); ++i)
      queries[i] = table[ids[i / kWidth] * kWidth + i % kWidth];
    inputs.batch = kBatch;
    inputs.numQueries = inputs.numKeys = kKeys;
    inputs.vocab = kVocab;
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = ids.data();
    inputs.gammas = {0.9};
  }
  uint32_t draw() { return (state = state * 1664525u + 1013904223u) >> 8; }
  Outputs outputs(std::vector<T> &signals) {
    signals.assign(kBatch * kKeys * width, T(-7));
    Outputs outputs;
    outputs.signals = signals.data();
    return outputs;
  }

  uint32_t state = 1;
  static constexpr int64_t width = 4 * kWidth + 1;
  std::vector<T> queries = std::vector<T>(kBatch * kKeys * kWidth);
  std::vector<T> table = std::vector<T>(kVocab * kWidth);
  std::vector<int32_t> ids = std::vector<int32_t>(kBatch * kKeys);
  AttentionSpec spec;
  Inputs inputs;
};

std::unique_ptr<Attention> compile(const AttentionSpec &spec,
                                   TargetKind target) {
  CompileOptions options;
  options.target = target;
  return test::cantFail(Attention::compile(spec, options));
}

/// The centroid of row `i`, from its definition, over its norm.
std::vector<double> getCentroid(const RunProblem<double> &p, int64_t i) {
  std::vector<double> sum(kWidth, 0.0);
  double total = 0;
  for (int64_t j = 0; j <= i; ++j) {
    const double *key = &p.table[p.ids[j] * kWidth];
    double distance = 0;
    for (int64_t d = 0; d < kWidth; ++d)
      distance += std::pow(p.queries[i * kWidth + d] - key[d], 2);
    double weight = std::exp(-distance);
    total += weight;
    for (int64_t d = 0; d < kWidth; ++d)
      sum[d] += weight * key[d];
  }
  for (double &value : sum)
    value /= total;
  return sum;
}

class Run : public testing::TestWithParam<TargetKind> {};

TEST_P(Run, CentroidIsItsDefinition) {
  RunProblem<double> p;
  auto attention = compile(p.spec, GetParam());
  EXPECT_EQ(attention->signalWidth(), p.width);
  EXPECT_EQ(attention->numIndices(), 2);
  std::vector<double> signals, norm(kBatch * kKeys);
  std::vector<int32_t> indices(kBatch * kKeys * 2, -7);
  Outputs outputs = p.outputs(signals);
  outputs.norm = norm.data();
  outputs.indices = indices.data();
  test::cantFail(attention->run(p.inputs, outputs, 2));
  for (int64_t i = 0; i < kKeys; ++i) {
    std::vector<double> centroid = getCentroid(p, i);
    for (int64_t d = 0; d < kWidth; ++d)
      ASSERT_NEAR(signals[i * p.width + d] * norm[i], centroid[d], 1e-6)
          << i << ", " << d;
    EXPECT_EQ(indices[2 * i + 1], i) << "predecessor";
  }
}

TEST_P(Run, ResultsDoNotDependOnTheThreads) {
  RunProblem<float> p;
  auto attention = compile(p.spec, GetParam());
  std::vector<float> first, signals;
  test::cantFail(attention->run(p.inputs, p.outputs(first), 1));
  for (int threads = 2; threads <= 8; ++threads) {
    RunReport report =
        test::cantFail(attention->run(p.inputs, p.outputs(signals), threads));
    EXPECT_EQ(report.threads, threads);
    EXPECT_EQ(signals, first) << threads << " threads";
  }
}

TEST_P(Run, NothingToDoIsNoError) {
  RunProblem<float> p;
  auto attention = compile(p.spec, GetParam());
  std::vector<float> signals;
  Outputs outputs = p.outputs(signals);
  p.inputs.batch = 0;
  EXPECT_TRUE(bool(attention->run(p.inputs, outputs, 1)));
  p.inputs.batch = kBatch;
  p.inputs.numQueries = 0;
  EXPECT_TRUE(bool(attention->run(p.inputs, outputs, 1)));
  EXPECT_EQ(signals[0], -7);
}

TEST_P(Run, NoKeysGiveZeros) {
  RunProblem<float> p;
  auto attention = compile(p.spec, GetParam());
  std::vector<float> signals;
  std::vector<int32_t> indices(kBatch * kKeys * 2, 7);
  Outputs outputs = p.outputs(signals);
  outputs.indices = indices.data();
  p.inputs.numKeys = 0;
  test::cantFail(attention->run(p.inputs, outputs, 1));
  EXPECT_EQ(signals, std::vector<float>(signals.size(), 0.0f));
  EXPECT_EQ(indices, std::vector<int32_t>(indices.size(), -1));
}

TEST_P(Run, WrongInputsAreRefusedBeforeAnythingIsWritten) {
  RunProblem<float> p;
  auto attention = compile(p.spec, GetParam());
  std::vector<float> signals;
  p.ids[kKeys] = kVocab;
  Result<RunReport> report = attention->run(p.inputs, p.outputs(signals), 1);
  EXPECT_EQ(report.status().message(),
            "expected ids in [0, 11), got 11 at batch 1, position 0");
  EXPECT_EQ(signals[0], -7);
}

std::string getName(const testing::TestParamInfo<TargetKind> &info) {
  return info.param == TargetKind::Cpu ? "Cpu" : "Reference";
}

INSTANTIATE_TEST_SUITE_P(Targets, Run,
                         testing::Values(TargetKind::Cpu,
                                         TargetKind::Reference),
                         getName);

/// The streaming form stays within its workspace and says what it used.
TEST(RunCpu, ReportsAndLimitsTheWorkspace) {
  RunProblem<float> p;
  std::vector<float> signals;
  CompileOptions options;
  options.schedule.scores = Schedule::Scores::Keep;
  options.schedule.queryTile = 32;
  auto attention = test::cantFail(Attention::compile(p.spec, options));
  RunReport report =
      test::cantFail(attention->run(p.inputs, p.outputs(signals), 2));
  EXPECT_GT(report.workspaceBytesPerThread, 0);
  EXPECT_GE(report.workspaceBytes, report.workspaceBytesPerThread);
  EXPECT_NE(attention->scheduleText().find("scores = keep"), std::string::npos);
  // A sequence whose scores fit the cap with no chunk of keys.
  p.inputs.numKeys = p.inputs.numQueries = 1 << 20;
  p.inputs.batch = 1;
  std::vector<int32_t> ids(1 << 20, 0);
  std::vector<float> queries((1 << 20) * kWidth);
  std::vector<float> output((1 << 20) * p.width);
  p.inputs.ids = ids.data();
  p.inputs.queries = queries.data();
  Outputs outputs;
  outputs.signals = output.data();
  std::string message = test::messageOf(attention->run(p.inputs, outputs, 1));
  EXPECT_EQ(message.find("expected a workspace cap of at least "), 0u)
      << message;
  EXPECT_EQ(attention->numVariants(), 1);
}

} // namespace
