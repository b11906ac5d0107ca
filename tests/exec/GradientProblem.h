//===- GradientProblem.h - small problems with a gradient -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_GRADIENTPROBLEM_H
#define RAYTENTION_TESTS_EXEC_GRADIENTPROBLEM_H

#include "raytention/Attention.h"
#include "tools/oracle/Problem.h"

namespace raytention {
namespace test {

struct GradientValues {
  std::vector<double> queries, table, tau, gammas;
};

/// An attention's inputs and the gradient of its signals, as double whatever
/// type runs.
/// Sizes of a problem; every sequence has numKeys - offset queries.
struct GradientShape {
  int64_t batch = 2, numKeys = 0, offset = 0, dModel = 3, vocab = 5;
};

struct GradientProblem {
  GradientProblem() = default;
  /// Normal data, five gammas; row 0 stands at position `offset`.
  GradientProblem(unsigned seed, std::vector<std::string> channels,
                  const GradientShape &shape);
  GradientProblem(unsigned seed, std::vector<std::string> channels,
                  int64_t numKeys, int64_t offset)
      : GradientProblem(seed, std::move(channels),
                        GradientShape{2, numKeys, offset}) {}

  /// With gradients; null after a failure.
  std::unique_ptr<Attention> compile(DType type) const;
  /// `sum dy * y` in double; the attention is one of double. Where wanted, also
  /// the keys that the copying channels chose.
  double computeLoss(Attention &attention,
                     std::vector<int32_t> *indices = nullptr) const;
  /// A forward run, then the backward one, of an attention of `type`.
  GradientValues computeGradients(Attention &attention, DType type,
                                  int threads) const;
  /// The same for the oracle.
  oracle::Problem toOracle() const;
  /// Queries and table to the nearest bf16 below.
  void roundToHalf();

  AttentionSpec spec;
  TargetKind target = TargetKind::Reference;
  Schedule schedule;
  int64_t workspaceCap = 64 << 20;
  int64_t batch = 0, numQueries = 0, numKeys = 0, vocab = 0, offset = 0;
  std::vector<double> queries, table, tau, gammas, dSignals;
  std::vector<int32_t> ids;
  std::vector<int64_t> lengths; ///< empty: absent
};

/// The largest magnitude.
double norm(const std::vector<double> &values);
/// The largest difference over the largest magnitude of `expected`.
double distance(const std::vector<double> &got,
                const std::vector<double> &expected);

} // namespace test
} // namespace raytention

#endif // RAYTENTION_TESTS_EXEC_GRADIENTPROBLEM_H
