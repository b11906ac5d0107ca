//===- Slicer.h - tiles of the operands of pair ops -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_SLICER_H
#define RAYTENTION_DIALECT_SLICER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace raytention::pairs {

/// Slices operands along named axes: each dimension of an operand is one of the
/// loop axes (batch, row, key) or taken whole. A slice of a state without
/// fields does not verify; whoever tiles replaces it by its producer or by an
/// empty tensor, and inserts nothing for it.
enum Axis { Batch = 0, Row = 1, Key = 2, Whole = -1 };

class Slicer {
public:
  Slicer(mlir::OpBuilder &b, mlir::Location loc,
         llvm::ArrayRef<mlir::OpFoldResult> offsets,
         llvm::ArrayRef<mlir::OpFoldResult> sizes)
      : b(b), loc(loc), offsets(offsets), sizes(sizes) {}

  void position(mlir::Value value, llvm::ArrayRef<Axis> axes,
                llvm::SmallVector<mlir::OpFoldResult> &begin,
                llvm::SmallVector<mlir::OpFoldResult> &extent) {
    for (auto [dim, axis] : llvm::enumerate(axes)) {
      begin.push_back(axis == Whole ? mlir::OpFoldResult(b.getIndexAttr(0))
                                    : offsets[axis]);
      extent.push_back(axis == Whole
                           ? mlir::tensor::getMixedSize(b, loc, value, dim)
                           : sizes[axis]);
    }
  }

  mlir::Value operator()(mlir::Value value, llvm::ArrayRef<Axis> axes) {
    if (!value)
      return value;
    llvm::SmallVector<mlir::OpFoldResult> begin, extent;
    position(value, axes, begin, extent);
    llvm::SmallVector<mlir::OpFoldResult> strides(axes.size(),
                                                  b.getIndexAttr(1));
    auto slice = mlir::tensor::ExtractSliceOp::create(b, loc, value, begin,
                                                      extent, strides);
    slices.push_back(slice);
    return slice;
  }

  /// `base + offset` along an axis, as an index value.
  mlir::Value shift(mlir::Value base, Axis axis) {
    if (mlir::isZeroInteger(offsets[axis]))
      return base;
    mlir::Value offset =
        mlir::getValueOrCreateConstantIndexOp(b, loc, offsets[axis]);
    if (mlir::isZeroInteger(mlir::OpFoldResult(base)))
      return offset;
    return mlir::arith::AddIOp::create(b, loc, base, offset);
  }

  llvm::SmallVector<mlir::Operation *> slices;

private:
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::ArrayRef<mlir::OpFoldResult> offsets, sizes;
};

/// The loops' part that gives the part `begin`, `extent` of a result whose
/// dimensions are `axes`; loops that no dimension names are whole. Fails where
/// a dimension that is whole is cut.
llvm::LogicalResult
getLoopTile(mlir::Value result, llvm::ArrayRef<Axis> axes,
            llvm::ArrayRef<mlir::Range> domain,
            llvm::ArrayRef<mlir::OpFoldResult> begin,
            llvm::ArrayRef<mlir::OpFoldResult> extent,
            llvm::SmallVectorImpl<mlir::OpFoldResult> &offsets,
            llvm::SmallVectorImpl<mlir::OpFoldResult> &sizes);

} // namespace raytention::pairs

#endif // RAYTENTION_DIALECT_SLICER_H
