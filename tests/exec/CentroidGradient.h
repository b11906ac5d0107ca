//===- CentroidGradient.h - a gradient written as its sums ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_CENTROIDGRADIENT_H
#define RAYTENTION_TESTS_EXEC_CENTROIDGRADIENT_H

#include "tests/exec/GradientProblem.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace raytention::test {

/// The gradient of channels {"centroid"} under metric sq_l2, pair by pair: what
/// an edit changes of the pairs that a side sums is changed here by hand.
class CentroidGradient {
public:
  /// Per pair [B, Tq, T]; 0 where masked.
  struct Pairs {
    std::vector<double> weights;      ///< times the row's scale
    std::vector<double> coefficients; ///< the score's gradient
  };

  explicit CentroidGradient(const GradientProblem &problem);

  Pairs ofQueries, ofKeys; ///< what each side sums

  /// All pairs (entry, row, key) of a side, as references.
  using Change = llvm::function_ref<void(int64_t b, int64_t i, int64_t j,
                                         double &weight, double &coefficient)>;
  void forEach(Pairs &pairs, Change change);
  /// Sets a pair to what it is where the mask lets it pass.
  void setSeen(int64_t b, int64_t i, int64_t j, double &weight,
               double &coefficient) const;

  std::vector<double> sumQueries() const; ///< [B, Tq, D]
  std::vector<double> sumKeys() const;    ///< [B, T, D]
  double sumTau() const;
  /// All of them; keys are added to the rows that `ids` name.
  GradientValues sum(const std::vector<int32_t> &ids) const;
  GradientValues sum() const { return sum(problem.ids); }

private:
  using Vector = std::vector<double>;
  Vector getQuery(int64_t b, int64_t i) const;
  Vector getKey(int64_t b, int64_t j) const;
  double getSquare(int64_t b, int64_t i, int64_t j) const;
  bool isPresent(int64_t b, int64_t position) const;
  bool isSeen(int64_t b, int64_t i, int64_t j) const;
  void prepareRow(int64_t b, int64_t i);
  size_t rowOf(int64_t b, int64_t i) const { return b * numRows + i; }
  size_t pairOf(int64_t b, int64_t i, int64_t j) const {
    return rowOf(b, i) * problem.numKeys + j;
  }

  const GradientProblem &problem;
  int64_t numRows, width;
  std::vector<double> totals;    ///< [B, Tq]; 0 for rows that are not there
  std::vector<double> nearest;   ///< the least square of a row's keys
  std::vector<double> scales;    ///< 1 / norm
  std::vector<Vector> means;     ///< x
  std::vector<Vector> gradients; ///< dx / scale
};

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_CENTROIDGRADIENT_H
