//===- PlanProblem.cpp - a centroid to run a plan on ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/PlanProblem.h"
#include "tests/support/Results.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <random>

using namespace raytention;
using namespace raytention::test;

static constexpr int64_t kBatch = 2, kWidth = 64, kVocab = 23;

std::string test::readCentroidPlan() {
  auto file =
      llvm::MemoryBuffer::getFile(RAYTENTION_TEST_EXEC "/plan-centroid.mlir");
  EXPECT_TRUE(bool(file));
  return file ? (*file)->getBuffer().str() : "";
}

std::string test::edit(std::string text, const std::string &from,
                       const std::string &to, int count) {
  int found = 0;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size(), ++found)
    text.replace(at, from.size(), to);
  EXPECT_EQ(found, count) << from;
  return text;
}

AttentionSpec test::centroidSpec() {
  AttentionSpec spec;
  spec.dModel = kWidth;
  spec.channels = {"centroid"};
  return spec;
}

static CompileOptions simt() {
  CompileOptions options;
  options.target = TargetKind::Simt;
  return options;
}

std::string test::planError(const std::string &text) {
  return test::messageOf(
      Attention::compileModule(text, centroidSpec(), simt()));
}

PlanProblem::PlanProblem(const PlanShape &shape) : lengths(shape.lengths) {
  std::mt19937 random(7);
  std::normal_distribution<float> normal(0, 0.4f);
  inputs.batch = kBatch;
  inputs.numKeys = shape.numKeys;
  inputs.numQueries = shape.numKeys - shape.offset;
  inputs.queryOffset = shape.offset;
  inputs.vocab = kVocab;
  inputs.tau = 0.7;
  for (int64_t i = 0; i < kBatch * inputs.numQueries * kWidth; ++i)
    queries.push_back(normal(random));
  for (int64_t i = 0; i < kVocab * kWidth; ++i)
    table.push_back(normal(random));
  for (int64_t i = 0; i < kBatch * shape.numKeys; ++i)
    ids.push_back(random() % kVocab);
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = ids.data();
  inputs.lengths = lengths.empty() ? nullptr : lengths.data();
}

raytention::Result<RunReport>
PlanProblem::run(Attention &attention, Result &result, int threads) const {
  int64_t rows = kBatch * inputs.numQueries;
  result.signals.assign(rows * kWidth, NAN);
  result.norm.assign(rows, NAN);
  Outputs outputs;
  outputs.signals = result.signals.data();
  outputs.norm = result.norm.data();
  return attention.run(inputs, outputs, threads);
}

PlanProblem::Result PlanProblem::expected() const {
  static const auto attention =
      test::cantFail(Attention::compile(centroidSpec(), {}));
  Result result;
  test::cantFail(run(*attention, result));
  return result;
}

static void expectNear(const std::vector<float> &got,
                       const std::vector<float> &wanted, const char *what) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], 2e-5 * (1 + std::fabs(wanted[i])))
        << what << " " << i;
}

std::unique_ptr<Attention> test::compilePlan(const std::string &text,
                                             int64_t workspaceCap) {
  CompileOptions options = simt();
  options.workspaceCap = workspaceCap;
  auto attention = Attention::compileModule(text, centroidSpec(), options);
  if (attention)
    return std::move(*attention);
  ADD_FAILURE() << attention.status().message();
  return nullptr;
}

void test::expectLikeCpu(Attention &attention,
                         const std::vector<PlanShape> &shapes) {
  for (const PlanShape &shape : shapes) {
    PlanProblem problem(shape);
    PlanProblem::Result got, wanted = problem.expected();
    auto report = problem.run(attention, got);
    ASSERT_TRUE(bool(report)) << report.status().message();
    expectNear(got.signals, wanted.signals, "signal");
    expectNear(got.norm, wanted.norm, "norm");
  }
}

std::string test::runError(Attention &attention) {
  PlanProblem problem({20, 0, {}});
  PlanProblem::Result result;
  return test::messageOf(problem.run(attention, result));
}
