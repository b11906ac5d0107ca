//===- PlanProblem.h - a centroid to run a plan on --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_PLANPROBLEM_H
#define RAYTENTION_TESTS_EXEC_PLANPROBLEM_H

#include "raytention/Attention.h"

#include "gtest/gtest.h"

namespace raytention::test {

/// The text of tests/exec/plan-centroid.mlir.
std::string readCentroidPlan();

/// Replaces `from` by `to` wherever it stands, which has to be `count` times.
std::string edit(std::string text, const std::string &from,
                 const std::string &to, int count = 1);

/// What plan-centroid.mlir computes.
AttentionSpec centroidSpec();

/// The message of a failed compilation of a plan; "" of a success.
std::string planError(const std::string &text);

struct PlanShape {
  int64_t numKeys = 0, offset = 0;
  std::vector<int64_t> lengths; ///< of the two sequences; empty: all keys
};

/// Drawn inputs of two sequences, and what the two targets make of them.
class PlanProblem {
public:
  explicit PlanProblem(const PlanShape &shape);
  PlanProblem(const PlanProblem &) = delete;

  struct Result {
    std::vector<float> signals, norm;
  };
  raytention::Result<RunReport> run(Attention &attention, Result &result,
                                    int threads = 2) const;
  /// On target cpu.
  Result expected() const;

  Inputs inputs;

private:
  std::vector<float> queries, table;
  std::vector<int32_t> ids;
  std::vector<int64_t> lengths;
};

/// Compiles a plan for simt; null, and a failed test, where that fails.
std::unique_ptr<Attention> compilePlan(const std::string &text,
                                       int64_t workspaceCap = 1 << 20);

/// That `attention` computes on each shape what target cpu does.
void expectLikeCpu(Attention &attention, const std::vector<PlanShape> &shapes);

/// The message of a failed run on 20 keys; "" of a success.
std::string runError(Attention &attention);

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_PLANPROBLEM_H
