//===- GradientTiling.cpp - tiles of the gradient ops --------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/Slicer.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::pairs;

MutableOperandRange QueryGradSweepOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, getODSOperandIndexAndLength(8).first, 2);
}
MutableOperandRange KeyGradSweepOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, getODSOperandIndexAndLength(11).first, 1);
}
MutableOperandRange QueryGradOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, getODSOperandIndexAndLength(7).first, 2);
}
MutableOperandRange KeyGradOp::getDpsInitsMutable() {
  return MutableOperandRange(*this, getODSOperandIndexAndLength(5).first, 1);
}

/// The loops over the first axes of `value`.
static SmallVector<Range> getDomain(OpBuilder &b, Location loc, Value value,
                                    int64_t rank) {
  SmallVector<Range> domain;
  for (int64_t axis = 0; axis < rank; ++axis)
    domain.push_back({b.getIndexAttr(0),
                      tensor::getMixedSize(b, loc, value, axis),
                      b.getIndexAttr(1)});
  return domain;
}

static TilingResult makeResult(Operation *tiled, Slicer &slice) {
  return {{tiled}, SmallVector<Value>(tiled->getResults()), slice.slices};
}

/// Where a result [B, rows or keys, ...] takes its tile.
static LogicalResult place(Operation *op, OpBuilder &b, unsigned number,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes,
                           SmallVector<OpFoldResult> &begin,
                           SmallVector<OpFoldResult> &extent) {
  Slicer(b, op->getLoc(), offsets, sizes)
      .position(op->getResult(number), {Batch, Row, Whole}, begin, extent);
  return success();
}

//===----------------------------------------------------------------------===//
// The finishes: (batch, row) and (batch, key) are independent.
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> QueryGradOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel);
}
SmallVector<utils::IteratorType> KeyGradOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel);
}
SmallVector<Range> QueryGradOp::getIterationDomain(OpBuilder &b) {
  return getDomain(b, getLoc(), getQueriesGradIn(), 2);
}
SmallVector<Range> KeyGradOp::getIterationDomain(OpBuilder &b) {
  return getDomain(b, getLoc(), getKeysGradIn(), 2);
}

FailureOr<TilingResult>
QueryGradOp::getTiledImplementation(OpBuilder &b,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, getLoc(), offsets, sizes);
  SmallVector<Axis> perRow = {Batch, Row, Whole};
  Value floats = slice(getFloats(), perRow);
  Value sums = slice(getSums(), {Batch, Row, Whole});
  Value rows = slice(getRows(), perRow);
  Value lengths = slice(getLengths(), {Batch});
  Value row = slice.shift(getRow(), Row);
  Value gradients = slice(getQueriesGradIn(), perRow);
  Value parts = slice(getParametersIn(), perRow);
  auto tiled = QueryGradOp::create(
      b, getLoc(), TypeRange{gradients.getType(), parts.getType()}, floats,
      sums, rows, getTau(), getGammas(), row, getKeys(), gradients, parts,
      lengths, getChannelsAttr(), getDecayOriginAttr());
  return makeResult(tiled, slice);
}

/// The finishes' slices number their axes (batch, row): a key stands for a row.
FailureOr<TilingResult>
KeyGradOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, getLoc(), offsets, sizes);
  SmallVector<Axis> perKey = {Batch, Row, Whole};
  Value sums = slice(getSums(), {Batch, Row, Whole});
  Value gradients = slice(getKeysGradIn(), perKey);
  Value lengths = slice(getLengths(), {Batch});
  auto tiled =
      KeyGradOp::create(b, getLoc(), TypeRange{gradients.getType()}, sums,
                        getTau(), getGammas(), slice.shift(getKey(), Row),
                        getNumKeys(), gradients, lengths, getChannelsAttr());
  return makeResult(tiled, slice);
}

LogicalResult QueryGradOp::getResultTilePosition(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,
    SmallVector<OpFoldResult> &extent) {
  return place(*this, b, number, offsets, sizes, begin, extent);
}
LogicalResult KeyGradOp::getResultTilePosition(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,
    SmallVector<OpFoldResult> &extent) {
  return place(*this, b, number, offsets, sizes, begin, extent);
}
LogicalResult QueryGradOp::getIterationDomainTileFromResultTile(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> begin,
    ArrayRef<OpFoldResult> extent, SmallVectorImpl<OpFoldResult> &offsets,
    SmallVectorImpl<OpFoldResult> &sizes) {
  return getLoopTile(getResult(number), {Batch, Row, Whole},
                     getIterationDomain(b), begin, extent, offsets, sizes);
}
LogicalResult KeyGradOp::getIterationDomainTileFromResultTile(
    OpBuilder &b, unsigned, ArrayRef<OpFoldResult> begin,
    ArrayRef<OpFoldResult> extent, SmallVectorImpl<OpFoldResult> &offsets,
    SmallVectorImpl<OpFoldResult> &sizes) {
  return getLoopTile(getResult(), {Batch, Row, Whole}, getIterationDomain(b),
                     begin, extent, offsets, sizes);
}
