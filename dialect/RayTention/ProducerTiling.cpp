//===- ProducerTiling.cpp - tiles of what starts from nothing --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All loops of these ops are parallel: (batch, row) or (batch, row, key). Each
// dimension of a result is one of them, or whole.
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/Slicer.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::pairs;

using Axes = SmallVector<Axis>;

//===----------------------------------------------------------------------===//
// What the dimensions of a result are.
//===----------------------------------------------------------------------===//

static Axes getResultAxes(DistanceOp, unsigned) { return {Batch, Row, Key}; }
static Axes getResultAxes(LookupOp, unsigned) { return {Batch, Row, Whole}; }
static Axes getResultAxes(InitOp op, unsigned) {
  return op.getParts() ? Axes{Batch, Whole, Row, Whole}
                       : Axes{Batch, Row, Whole};
}
static Axes getResultAxes(WeighOp, unsigned) {
  return {Batch, Whole, Row, Key};
}
static Axes getResultAxes(GradRowsOp, unsigned number) {
  return number == 0 ? Axes{Batch, Row, Whole} : Axes{Batch, Whole, Row, Whole};
}

//===----------------------------------------------------------------------===//
// How far the loops go.
//===----------------------------------------------------------------------===//

using Extents = SmallVector<OpFoldResult>;

static Extents getSizes(OpBuilder &b, Location loc, Value value, int64_t rank) {
  Extents sizes;
  for (int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(tensor::getMixedSize(b, loc, value, axis));
  return sizes;
}

static Extents getExtents(DistanceOp op, OpBuilder &b) {
  Extents sizes = getSizes(b, op.getLoc(), op.getQueries(), 2);
  sizes.push_back(tensor::getMixedSize(b, op.getLoc(), op.getKeys(), 1));
  return sizes;
}
static Extents getExtents(LookupOp op, OpBuilder &b) {
  return getSizes(b, op.getLoc(), op.getIndices(), 2);
}
static Extents getExtents(InitOp op, OpBuilder &) {
  return {op.getBatch(), op.getRows()};
}
static Extents getExtents(WeighOp op, OpBuilder &b) {
  return getSizes(b, op.getLoc(), op.getDistances(), 3);
}
static Extents getExtents(GradRowsOp op, OpBuilder &b) {
  return getSizes(b, op.getLoc(), op.getSignals(), 2);
}

//===----------------------------------------------------------------------===//
// Tiles. `types` are those of the results.
//===----------------------------------------------------------------------===//

static Operation *tile(DistanceOp op, OpBuilder &b, Slicer &slice,
                       ArrayRef<Type> types, ArrayRef<OpFoldResult>) {
  Value queries = slice(op.getQueries(), {Batch, Row, Whole});
  Value keys = slice(op.getKeys(), {Batch, Key, Whole});
  return DistanceOp::create(b, op.getLoc(), types[0], queries, keys,
                            op.getMetricAttr(), op.getPrecisionAttr());
}

static Operation *tile(LookupOp op, OpBuilder &b, Slicer &slice,
                       ArrayRef<Type> types, ArrayRef<OpFoldResult>) {
  Value table = op.getTable();
  if (cast<RankedTensorType>(table.getType()).getRank() == 3)
    table = slice(table, {Batch, Whole, Whole});
  Value indices = slice(op.getIndices(), {Batch, Row});
  return LookupOp::create(b, op.getLoc(), types[0], table, indices);
}

static Operation *tile(InitOp op, OpBuilder &b, Slicer &, ArrayRef<Type> types,
                       ArrayRef<OpFoldResult> sizes) {
  auto size = [&](Axis axis) {
    return getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[axis]);
  };
  Value batch = size(Batch), rows = size(Row);
  return InitOp::create(b, op.getLoc(), types[0], types[1], op.getSweepAttr(),
                        op.getChannelsAttr(), batch, rows, op.getParts());
}

static Operation *tile(WeighOp op, OpBuilder &b, Slicer &slice,
                       ArrayRef<Type> types, ArrayRef<OpFoldResult>) {
  Value distances = slice(op.getDistances(), {Batch, Row, Key});
  Value state = slice(op.getScoreState(), {Batch, Row, Whole});
  Value lengths = slice(op.getLengths(), {Batch});
  Value positions = slice(op.getKeyPositions(), {Batch, Whole, Key});
  Value masses = slice(op.getKeyMasses(), {Batch, Whole, Key});
  Value row = slice.shift(op.getRow(), Row);
  Value key = positions ? op.getKey() : slice.shift(op.getKey(), Key);
  return WeighOp::create(b, op.getLoc(), types[0], distances, state,
                         op.getTau(), op.getGammas(), row, key, lengths,
                         positions, masses, op.getChannelsAttr(),
                         op.getScoreChannelsAttr(), op.getMaskAttr());
}

static Operation *tile(GradRowsOp op, OpBuilder &b, Slicer &slice,
                       ArrayRef<Type> types, ArrayRef<OpFoldResult>) {
  Axes perRow = {Batch, Row, Whole};
  Value signals = slice(op.getSignals(), perRow);
  Value norm = slice(op.getNorm(), {Batch, Row});
  Value logSums = slice(op.getLogSums(), perRow);
  Value gradient = slice(op.getGradient(), perRow);
  Value lengths = slice(op.getLengths(), {Batch});
  return GradRowsOp::create(
      b, op.getLoc(), types[0], types[1], signals, norm, logSums, gradient,
      op.getTau(), op.getGammas(), slice.shift(op.getRow(), Row), op.getKeys(),
      lengths, op.getChannelsAttr(), op.getDecayOriginAttr());
}

//===----------------------------------------------------------------------===//
// The interface, the same for all of them.
//===----------------------------------------------------------------------===//

/// A dynamic size that is no extent.
static OpFoldResult getWholeSize(InitOp op, int64_t) { return op.getParts(); }
static OpFoldResult getWholeSize(Operation *, int64_t) { return {}; }

static RankedTensorType getTileType(Value result, ArrayRef<Axis> axes,
                                    ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, axis] : llvm::zip(shape, axes))
    if (axis != Whole)
      size = getConstantIntValue(sizes[axis]).value_or(ShapedType::kDynamic);
  return type.clone(shape);
}

template <typename Op>
static TilingResult tileProducer(Op op, OpBuilder &b,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, op.getLoc(), offsets, sizes);
  SmallVector<Type> types;
  for (OpResult result : op->getResults())
    types.push_back(getTileType(
        result, getResultAxes(op, result.getResultNumber()), sizes));
  Operation *tiled = tile(op, b, slice, types, sizes);
  return {{tiled}, SmallVector<Value>(tiled->getResults()), slice.slices};
}

template <typename Op>
static SmallVector<Range> getDomain(Op op, OpBuilder &b) {
  SmallVector<Range> domain;
  for (OpFoldResult size : getExtents(op, b))
    domain.push_back({b.getIndexAttr(0), size, b.getIndexAttr(1)});
  return domain;
}

template <typename Op>
static FailureOr<TilingResult> tileResult(Op op, OpBuilder &b, unsigned number,
                                          ArrayRef<OpFoldResult> begin,
                                          ArrayRef<OpFoldResult> extent) {
  Extents offsets, sizes;
  if (failed(getLoopTile(op->getResult(number), getResultAxes(op, number),
                         getDomain(op, b), begin, extent, offsets, sizes)))
    return failure();
  TilingResult tile = tileProducer(op, b, offsets, sizes);
  return TilingResult{
      tile.tiledOps, {tile.tiledValues[number]}, tile.generatedSlices};
}

/// The shape of a result: extents along its axes, else what its type says.
template <typename Op>
static LogicalResult reifyShapes(Op op, OpBuilder &b,
                                 ReifiedRankedShapedTypeDims &shapes) {
  Extents sizes = getExtents(op, b);
  for (OpResult result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    Extents &shape = shapes.emplace_back();
    for (auto [dim, axis] :
         llvm::enumerate(getResultAxes(op, result.getResultNumber()))) {
      if (!type.isDynamicDim(dim))
        shape.push_back(b.getIndexAttr(type.getDimSize(dim)));
      else if (axis != Whole)
        shape.push_back(
            getValueOrCreateConstantIndexOp(b, op.getLoc(), sizes[axis]));
      else if (OpFoldResult size = getWholeSize(op, dim))
        shape.push_back(size);
      else
        return failure();
    }
  }
  return success();
}

#define RT_PRODUCER_TILING(OP)                                                 \
  SmallVector<utils::IteratorType> OP::getLoopIteratorTypes() {                \
    unsigned count = llvm::count_if(getResultAxes(*this, 0),                   \
                                    [](Axis axis) { return axis != Whole; });  \
    return SmallVector<utils::IteratorType>(count,                             \
                                            utils::IteratorType::parallel);    \
  }                                                                            \
  SmallVector<Range> OP::getIterationDomain(OpBuilder &b) {                    \
    return getDomain(*this, b);                                                \
  }                                                                            \
  FailureOr<TilingResult> OP::getTiledImplementation(                          \
      OpBuilder &b, ArrayRef<OpFoldResult> offsets,                            \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return tileProducer(*this, b, offsets, sizes);                             \
  }                                                                            \
  LogicalResult OP::getResultTilePosition(                                     \
      OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,           \
      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,          \
      SmallVector<OpFoldResult> &extent) {                                     \
    Slicer(b, getLoc(), offsets, sizes)                                        \
        .position(getOperation()->getResult(number),                           \
                  getResultAxes(*this, number), begin, extent);                \
    return success();                                                          \
  }                                                                            \
  LogicalResult OP::getIterationDomainTileFromResultTile(                      \
      OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> begin,             \
      ArrayRef<OpFoldResult> extent, SmallVectorImpl<OpFoldResult> &offsets,   \
      SmallVectorImpl<OpFoldResult> &sizes) {                                  \
    return getLoopTile(getOperation()->getResult(number),                      \
                       getResultAxes(*this, number), getDomain(*this, b),      \
                       begin, extent, offsets, sizes);                         \
  }                                                                            \
  FailureOr<TilingResult> OP::generateResultTileValue(                         \
      OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,           \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return tileResult(*this, b, number, offsets, sizes);                       \
  }                                                                            \
  LogicalResult OP::reifyResultShapes(OpBuilder &b,                            \
                                      ReifiedRankedShapedTypeDims &shapes) {   \
    return reifyShapes(*this, b, shapes);                                      \
  }

RT_PRODUCER_TILING(DistanceOp)
RT_PRODUCER_TILING(LookupOp)
RT_PRODUCER_TILING(InitOp)
RT_PRODUCER_TILING(WeighOp)
RT_PRODUCER_TILING(GradRowsOp)
