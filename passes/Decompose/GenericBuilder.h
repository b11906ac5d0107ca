//===- GenericBuilder.h - linalg.generic by loop numbers --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DECOMPOSE_GENERICBUILDER_H
#define RAYTENTION_PASSES_DECOMPOSE_GENERICBUILDER_H

#include "dialect/RayTention/Channel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace raytention {

/// An operand of a generic and the loops that index it, outermost first.
struct LoopOperand {
  mlir::Value value;
  llvm::SmallVector<unsigned> loops;
};

/// Emits one element: arguments are the inputs' elements, then the output's.
using ElementBody = llvm::function_ref<mlir::Value(
    mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;

/// A linalg.generic with one output; loops that do not index the output are
/// reductions, in the order of their numbers.
mlir::Value buildGeneric(mlir::OpBuilder &builder, mlir::Location loc,
                         unsigned numLoops, llvm::ArrayRef<LoopOperand> inputs,
                         const LoopOperand &output, ElementBody body);

/// An uninitialised tensor of `type`; `sizes` are those of all dimensions.
mlir::Value makeEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Type type,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes);

/// The same, each element `value`.
mlir::Value makeFilled(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Type type,
                       llvm::ArrayRef<mlir::OpFoldResult> sizes, double value);

/// The sizes of `value` along `axes`.
llvm::SmallVector<mlir::OpFoldResult> getSizes(mlir::OpBuilder &builder,
                                               mlir::Location loc,
                                               mlir::Value value,
                                               llvm::ArrayRef<int64_t> axes);

/// A float as `element`, extended where it is narrower.
mlir::Value widen(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, mlir::Type element);

/// Where rows and sequences stand, for use inside a generic whose loop 0 is
/// the batch and loop 1 the row. Both operands may be absent.
class Positions {
public:
  Positions(mlir::Value queryOffset, mlir::Value lengths)
      : queryOffset(queryOffset), lengths(lengths) {}

  /// The row's position, an index.
  mlir::Value getRow(mlir::OpBuilder &b, mlir::Location loc) const;
  /// The sequence's length, an index; null where lengths are absent.
  mlir::Value getLength(mlir::OpBuilder &b, mlir::Location loc) const;
  /// Whether `position` stands inside the sequence.
  mlir::Value isInside(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value position) const;
  /// The exponent of a decay at the key of loop 2, an index: the key's position
  /// forward, its distance from the origin backward; below 0 only for keys that
  /// the row does not see.
  mlir::Value getDecayExponent(mlir::OpBuilder &b, mlir::Location loc,
                               Direction direction, DecayOrigin origin,
                               mlir::Value numKeys) const;

private:
  mlir::Value queryOffset, lengths;
};

} // namespace raytention

#endif // RAYTENTION_PASSES_DECOMPOSE_GENERICBUILDER_H
