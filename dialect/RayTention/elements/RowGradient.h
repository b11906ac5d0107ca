//===- RowGradient.h - a row before and after its pairs -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_ROWGRADIENT_H
#define RAYTENTION_DIALECT_ELEMENTS_ROWGRADIENT_H

#include "dialect/RayTention/GradientLayout.h"

namespace raytention {

/// A power of two by which a gradient is divided from its rows on and
/// multiplied when it is finished, so that a large temperature takes neither G
/// tau nor dz / t out of the type's range; 1 as long as tau is moderate.
struct GradientUnit {
  mlir::Value unit, inverse;
};
GradientUnit getGradientUnit(ElementBuilder &b, const GradientLayout &layout,
                             const ParameterValues &params);

/// What a row's gradient needs before it meets keys, as GradientLayout numbers
/// it. With `dx = scale (dy - along y)`: scale = 1 / max(||x||, 1e-10), along =
/// y . dy and 0 at that floor.
class RowPreparation {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  /// `saved`: the row's saved floats; `product`: y . dy; `norm`: ||x||; `row`
  /// and `last`: positions of the row and of its sequence's last token, i32.
  RowPreparation(ElementBuilder &b, const GradientLayout &layout,
                 const ParameterValues &params, Values saved, Value product,
                 Value norm, Value row, Value last);

  /// A channel's fields, `slots.fields` on. Of a scalar one from `y` and
  /// `plain`, dy - along y; of a weighted one from `sum`, plain . y.
  Values prepareScalar(const GradientSlots &slots, Value plain, Value y);
  Values prepareWeighted(const GradientSlots &slots, Value sum);

  Value along;
  Value scale;     ///< in the gradient's unit
  Value weightSum; ///< of the channels prepared so far

private:
  Values prepare(const GradientSlots &slots, Value gradient, Value sum);
  Values makeFields(const GradientSlots &slots, const GradientRow &values,
                    const RowGradient &prepared);

  ElementBuilder &b;
  const ParameterValues &params;
  Values saved;
  Value row, last;
  GradientUnit unit;
};

/// A channel's own log-sum less the softmax's, from a row's fields as
/// GradientLayout numbers them; 0 without an own one.
mlir::Value getRelativeLogSum(ElementBuilder &b, const GradientSlots &slots,
                              llvm::function_ref<mlir::Value(int64_t)> field);

/// What a finished row has for the parameters' gradients.
struct ParameterSource {
  llvm::function_ref<mlir::Value(int64_t)> field; ///< of the row
  llvm::function_ref<mlir::Value(int64_t)> sum;   ///< accumulators
  mlir::Value row, last;                          ///< as in RowValues
};

/// The row's parts in the gradients of tau and of each gamma.
llvm::SmallVector<mlir::Value> finishParameters(ElementBuilder &b,
                                                const GradientLayout &layout,
                                                const ParameterValues &params,
                                                const ParameterSource &source);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_ROWGRADIENT_H
