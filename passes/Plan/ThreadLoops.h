//===- ThreadLoops.h - element code over the threads of a block -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PLAN_THREADLOOPS_H
#define RAYTENTION_PASSES_PLAN_THREADLOOPS_H

#include "dialect/RayTention/Channel.h"
#include "dialect/RayTention/LoopBuilder.h"
#include "dialect/RayTention/elements/SweepState.h"

namespace raytention {

/// Writes loops over the threads of a block, and what element programs need in
/// them.
class ThreadLoops : public LoopBuilder {
public:
  /// `element` is the floats' type in arithmetic.
  ThreadLoops(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element)
      : LoopBuilder(b, loc), e(b, loc, element) {}

  ElementBuilder e;

  /// One thread per point; the body sees its coordinates.
  void forEach(llvm::ArrayRef<mlir::OpFoldResult> sizes,
               llvm::function_ref<void(mlir::ValueRange)> body);
  /// The first `count` sizes of a buffer; all where it is negative.
  llvm::SmallVector<mlir::OpFoldResult> sizesOf(Value memref, int count = -1);
  Value size(Value memref, int64_t axis);

  /// An element, widened to the arithmetic's type where it is a float.
  Value loadFloat(Value memref, mlir::ValueRange indices);
  /// An integer element as an index.
  Value loadIndex(Value memref, mlir::ValueRange indices);
  /// A buffer of the block, in the arithmetic's type.
  Value allocate(llvm::ArrayRef<mlir::OpFoldResult> sizes);
  ParameterValues loadParameters(Value tau, Value gammas);

  /// The sum of `term(i)` for 0 <= i < count, block by block: a chain of
  /// additions as long as the whole would lose digits.
  Value sum(Value count, llvm::function_ref<Value(Value)> term);
};

/// The state of a row in buffers `[B, R, F]` and `[B, R, I]`.
class BufferState : public RowState {
public:
  BufferState(LoopBuilder &k, Value floats, Value positions,
              mlir::ValueRange row)
      : k(k), floats(floats), positions(positions), row(row) {}

  Value loadFloat(int64_t field) override { return k.load(floats, at(field)); }
  Value loadPosition(int64_t field) override {
    return k.load(positions, at(field));
  }
  void storeFloat(Value value, int64_t field) override {
    k.store(value, floats, at(field));
  }
  void storePosition(Value value, int64_t field) override {
    k.store(value, positions, at(field));
  }

private:
  llvm::SmallVector<Value> at(int64_t field) {
    return {row[0], row[1], k.index(field)};
  }

  LoopBuilder &k;
  Value floats, positions;
  mlir::ValueRange row;
};

} // namespace raytention

#endif // RAYTENTION_PASSES_PLAN_THREADLOOPS_H
