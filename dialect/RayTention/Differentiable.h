//===- Differentiable.h - ops with a derivative rule ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_DIFFERENTIABLE_H
#define RAYTENTION_DIALECT_DIFFERENTIABLE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"

#include "dialect/RayTention/RayTentionOpInterfaces.h.inc"

namespace raytention {

/// The type of the adjoint of a value of `type`: the same shape, of f32 where
/// the elements are narrower floats. Null if `type` is no float and no ranked
/// tensor of floats: such values have no adjoint.
mlir::Type getAdjointType(mlir::Type type);

} // namespace raytention

#endif // RAYTENTION_DIALECT_DIFFERENTIABLE_H
