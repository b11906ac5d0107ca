//===- Bounds.h - sizes and constant bounds of index values -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_BOUNDS_H
#define RAYTENTION_PASSES_TILE_BOUNDS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace raytention {

/// A constant that the integer or index `value` never exceeds: looks through
/// constants, minimum, maximum, sums, casts and selects. None if unknown.
std::optional<int64_t> getConstantBound(mlir::Value value);
/// The same of a size given as attribute or value.
std::optional<int64_t> getConstantBound(mlir::OpFoldResult size);

/// The size of a tensor along an axis as the code already names it: static, or
/// the operand that its producer was given. Null if no producer says; creates
/// no ops.
mlir::OpFoldResult findSize(mlir::Value tensor, int64_t axis);

/// A size that was read off a tensor, as the code already names it.
mlir::OpFoldResult resolveSize(mlir::OpFoldResult size);

/// Whether two sizes are the same constant, value or size of one tensor.
bool isSameSize(mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);

/// Whether a size is that of a tensor along an axis.
bool isSizeOf(mlir::OpFoldResult size, mlir::Value tensor, int64_t axis);

/// Like findSize, with a tensor.dim where no producer says.
mlir::OpFoldResult getSize(mlir::OpBuilder &b, mlir::Location loc,
                           mlir::Value tensor, int64_t axis);

/// A static size only where the type has it, so that types derived from it are
/// the tensor's own; a value otherwise.
mlir::OpFoldResult getTypedSize(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value tensor, int64_t axis);

/// `a + b` of two index values, without the addition where one is zero.
mlir::OpFoldResult addOffsets(mlir::OpBuilder &b, mlir::Location loc,
                              mlir::OpFoldResult lhs, mlir::OpFoldResult rhs);

/// Makes an index constant at the start of the function around `b`, where it
/// is easily found and edited.
mlir::Value makeFunctionConstant(mlir::OpBuilder &b, mlir::Location loc,
                                 int64_t value);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_BOUNDS_H
