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

/// Where a result [B, axis, ...] takes its tile.
static LogicalResult place(Operation *op, OpBuilder &b, unsigned number,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes, Axis axis,
                           SmallVector<OpFoldResult> &begin,
                           SmallVector<OpFoldResult> &extent) {
  Slicer(b, op->getLoc(), offsets, sizes)
      .position(op->getResult(number), {Batch, axis, Whole}, begin, extent);
  return success();
}

//===----------------------------------------------------------------------===//
// rt.query_grad_sweep: rows are independent, keys are summed.
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> QueryGradSweepOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel,
          utils::IteratorType::reduction};
}

SmallVector<Range> QueryGradSweepOp::getIterationDomain(OpBuilder &b) {
  return getDomain(b, getLoc(), getDistances(), 3);
}

FailureOr<TilingResult>
QueryGradSweepOp::getTiledImplementation(OpBuilder &b,
                                         ArrayRef<OpFoldResult> offsets,
                                         ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, getLoc(), offsets, sizes);
  Value floats = slice(getFloatsIn(), {Batch, Row, Whole});
  Value sums = slice(getSumsIn(), {Batch, Row, Whole});
  Value distances = slice(getDistances(), {Batch, Row, Key});
  Value rows = slice(getRows(), {Batch, Row, Whole});
  Value stack = slice(getStack(), {Batch, Whole, Row, Whole});
  Value keys = slice(getKeys(), {Batch, Key, Whole});
  Value lengths = slice(getLengths(), {Batch});
  Value row = slice.shift(getRow(), Row), key = slice.shift(getKey(), Key);
  auto tiled = QueryGradSweepOp::create(
      b, getLoc(), TypeRange{floats.getType(), sums.getType()}, distances, rows,
      stack, keys, getTau(), getGammas(), row, key, floats, sums, lengths,
      getChannelsAttr(), getMetricAttr(), getMaskAttr());
  return makeResult(tiled, slice);
}

LogicalResult QueryGradSweepOp::getResultTilePosition(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,
    SmallVector<OpFoldResult> &extent) {
  return place(*this, b, number, offsets, sizes, Row, begin, extent);
}

//===----------------------------------------------------------------------===//
// rt.key_grad_sweep: keys are independent, rows are summed.
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> KeyGradSweepOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::reduction,
          utils::IteratorType::parallel};
}

SmallVector<Range> KeyGradSweepOp::getIterationDomain(OpBuilder &b) {
  return getDomain(b, getLoc(), getDistances(), 3);
}

FailureOr<TilingResult>
KeyGradSweepOp::getTiledImplementation(OpBuilder &b,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, getLoc(), offsets, sizes);
  SmallVector<Axis> perRow = {Batch, Row, Whole};
  Value sums = slice(getSumsIn(), {Batch, Key, Whole});
  Value distances = slice(getDistances(), {Batch, Row, Key});
  Value rows = slice(getRows(), perRow);
  Value stack = slice(getStack(), {Batch, Whole, Row, Whole});
  Value queries = slice(getQueries(), perRow);
  Value signals = slice(getSignals(), perRow);
  Value gradient = slice(getGradient(), perRow);
  Value indices = slice(getIndices(), perRow);
  Value lengths = slice(getLengths(), {Batch});
  Value row = slice.shift(getRow(), Row), key = slice.shift(getKey(), Key);
  auto tiled = KeyGradSweepOp::create(
      b, getLoc(), TypeRange{sums.getType()}, distances, rows, stack, queries,
      signals, gradient, indices, getTau(), getGammas(), row, key, sums,
      lengths, getChannelsAttr(), getMetricAttr(), getMaskAttr());
  return makeResult(tiled, slice);
}

LogicalResult KeyGradSweepOp::getResultTilePosition(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,
    SmallVector<OpFoldResult> &extent) {
  return place(*this, b, number, offsets, sizes, Key, begin, extent);
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
  return place(*this, b, number, offsets, sizes, Row, begin, extent);
}
LogicalResult KeyGradOp::getResultTilePosition(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,
    SmallVector<OpFoldResult> &extent) {
  return place(*this, b, number, offsets, sizes, Row, begin, extent);
}
