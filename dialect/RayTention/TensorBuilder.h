//===- TensorBuilder.h - element-wise tensor code ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_TENSORBUILDER_H
#define RAYTENTION_DIALECT_TENSORBUILDER_H

#include "dialect/RayTention/ElementBuilder.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace raytention {

/// A linalg.generic over tensors of one shape (0-d ones are broadcast) whose
/// body `body` emits on scalars. The first input must have the full rank.
mlir::Value mapElements(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange inputs,
    llvm::function_ref<mlir::Value(ElementBuilder &, mlir::ValueRange)> body);

/// A tensor type [dims of `like` for `axes`..., tail...] of `element`, its
/// dynamic sizes taken from `like`: what a per-row value of `like` has.
mlir::RankedTensorType getTypeLike(mlir::Value like,
                                   llvm::ArrayRef<int64_t> axes,
                                   llvm::ArrayRef<int64_t> tail,
                                   mlir::Type element);

/// An empty tensor of `type` whose dynamic sizes are, in order, the sizes of
/// `like` along `axes`.
mlir::Value makeEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::RankedTensorType type, mlir::Value like,
                      llvm::ArrayRef<int64_t> axes);

} // namespace raytention

#endif // RAYTENTION_DIALECT_TENSORBUILDER_H
