//===- GradientBuilder.h - tensors that derivative rules share --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DIFFERENTIATE_GRADIENTBUILDER_H
#define RAYTENTION_PASSES_DIFFERENTIATE_GRADIENTBUILDER_H

#include "passes/Decompose/GenericBuilder.h"

#include "dialect/RayTention/TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace raytention {

/// Zeros of the type of the adjoint of the tensor `value`, of its sizes.
mlir::Value makeZeroAdjoint(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value);

/// The same without values.
mlir::Value makeEmptyAdjoint(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value value);

/// Emits one term; arguments are the inputs' elements, widened to the type of
/// the adjoint.
using TermBody =
    llvm::function_ref<mlir::Value(ElementBuilder &, mlir::ValueRange)>;

/// An adjoint of `like` as a sum: loops that do not index it are summed over.
///
///     adjoint[loops] = sum over the other loops of term(inputs)
mlir::Value sumAdjoint(mlir::OpBuilder &builder, mlir::Location loc,
                       unsigned numLoops, llvm::ArrayRef<LoopOperand> inputs,
                       const LoopOperand &like, TermBody term);

/// An adjoint of `like` without a sum; every loop indexes it.
mlir::Value mapAdjoint(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::ArrayRef<LoopOperand> inputs, mlir::Value like,
                       TermBody term);

/// `sum_j term(inputs)`, [B, Tq], with the loops 0, 1 and 2 for b, i and j; the
/// first input is indexed by all three.
mlir::Value sumRows(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::ArrayRef<LoopOperand> inputs, TermBody term);

/// `max_j` of pairs [B, Tq, T], [B, Tq]; finite, also where all are minus
/// infinity.
mlir::Value maxRows(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value pairs);

/// Whether `op` takes the larger of two floats, both ordered.
bool isMaximum(mlir::arith::SelectOp op);

/// Erases ops without uses and effects, users before what they use; `onErase`
/// is told of each before.
void eraseDeadOps(
    mlir::Block &block,
    llvm::function_ref<void(mlir::Operation *)> onErase = nullptr);

} // namespace raytention

#endif // RAYTENTION_PASSES_DIFFERENTIATE_GRADIENTBUILDER_H
