//===- PairGradient.h - the derivative of one pair -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient's program of one (row, key) pair, for every target: a scalar for
// a GPU thread, a vector of rows or of keys for a CPU. Formulas:
// docs/semantics.md, "Gradient".
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_PAIRGRADIENT_H
#define RAYTENTION_DIALECT_ELEMENTS_PAIRGRADIENT_H

#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/RayTention.h"

namespace raytention {

/// What a pair reads.
struct PairSource {
  const ParameterValues &params;
  Metric metric;
  MaskInterface mask;
  mlir::Value distance, row, key; ///< positions are i32
  /// A field of the pair's row, as GradientLayout numbers them.
  llvm::function_ref<mlir::Value(int64_t)> field;
  /// U . k of the weighted channel in a slot.
  llvm::function_ref<mlir::Value(int64_t)> product;
};

/// What a pair gives.
struct PairDerivative {
  /// By slot, the factor of U in the key's gradient.
  llvm::SmallVector<mlir::Value> weights;
  /// c: the pair's derivative is c (k - q) by the query and c (q - k) by the
  /// key; under l2, at less than getTinyDistance, these over the distance.
  mlir::Value coefficient;
  /// The row's accumulators with the pair added, if there are any.
  llvm::SmallVector<mlir::Value> sums;
};

/// `sums` are the row's accumulators, or none. Without `givesWeights` there are
/// no weights.
PairDerivative derivePair(ElementBuilder &b, const GradientLayout &layout,
                          const PairSource &source, mlir::ValueRange sums,
                          bool givesWeights);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_PAIRGRADIENT_H
