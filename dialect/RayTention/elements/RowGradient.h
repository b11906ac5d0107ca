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

/// dx = scale (dy - along y), and the same in the gradient's unit.
struct NormGradient {
  mlir::Value scale, along, unitScale;
};

/// From `y . dy` and `||x||`: scale = 1 / max(norm, 1e-10), and along 0 at that
/// floor.
NormGradient deriveNorm(ElementBuilder &b, mlir::Value product,
                        mlir::Value norm, const GradientUnit &unit);

/// A channel's own log-sum less the softmax's, from a row's fields as
/// GradientLayout numbers them; 0 without an own one.
mlir::Value getRelativeLogSum(ElementBuilder &b, const GradientSlots &slots,
                              llvm::function_ref<mlir::Value(int64_t)> field);

/// The fields that a channel adds to a row's, `slots.fields` on.
llvm::SmallVector<mlir::Value>
prepareFields(ElementBuilder &b, const GradientSlots &slots,
              const GradientRow &row, const RowGradient &prepared,
              const ParameterValues &params,
              llvm::function_ref<mlir::Value(int64_t)> field);

/// `dtau` of the sum of dz z over a row's pairs: `-sum / t`, 0 for tau under
/// its floor.
mlir::Value finishTemperature(ElementBuilder &b, mlir::Value sum,
                              const ParameterValues &params);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_ROWGRADIENT_H
