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

namespace raytention {
namespace test {

struct GradientValues {
  std::vector<double> queries, table, tau, gammas;
};

/// An attention's inputs and the gradient of its signals, as double whatever
/// type runs.
struct GradientProblem {
  GradientProblem() = default;
  /// Two sequences of `numKeys` tokens out of five, D = 3, five gammas; row 0
  /// stands at position `offset`.
  GradientProblem(unsigned seed, std::vector<std::string> channels,
                  int64_t numKeys, int64_t offset);

  /// The reference with gradients; null after a failure.
  std::unique_ptr<Attention> compile(DType type) const;
  /// `sum dy * y` in double; the attention is one of double.
  double computeLoss(Attention &attention) const;
  /// A forward run, then the backward one, of an attention of `type`.
  GradientValues computeGradients(Attention &attention, DType type,
                                  int threads) const;
  /// Queries and table to the nearest bf16 below.
  void roundToHalf();

  AttentionSpec spec;
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
