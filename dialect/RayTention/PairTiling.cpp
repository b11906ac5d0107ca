//===- PairTiling.cpp - tiles of a gradient's pairs and sums ------ -*- C++
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

using Axes = SmallVector<Axis>;
using Iterators = SmallVector<utils::IteratorType>;

//===----------------------------------------------------------------------===//
// What the dimensions of a result are, and the loop that is summed over.
//===----------------------------------------------------------------------===//

static Axes getResultAxes(WeighGradOp, unsigned number) {
  static const Axes axes[] = {
      {Batch, Whole, Row, Key}, {Batch, Row, Key}, {Batch, Row, Whole}};
  return axes[number];
}
static Axes getResultAxes(SumDifferencesOp op, unsigned) {
  return {Batch, op.getSide() == PairSide::Query ? Row : Key, Whole};
}
static Axes getResultAxes(CopyGradOp, unsigned) { return {Batch, Key, Whole}; }

static std::optional<Axis> getSummedAxis(WeighGradOp op) {
  return op.getFloats() ? std::optional(Key) : std::nullopt;
}
static std::optional<Axis> getSummedAxis(SumDifferencesOp op) {
  return op.getSide() == PairSide::Query ? Key : Row;
}
static std::optional<Axis> getSummedAxis(CopyGradOp) { return Row; }

//===----------------------------------------------------------------------===//
// How far the loops go.
//===----------------------------------------------------------------------===//

static SmallVector<Range> getDomain(OpBuilder &b, Location loc,
                                    ArrayRef<std::pair<Value, int64_t>> axes) {
  SmallVector<Range> domain;
  for (auto [value, axis] : axes)
    domain.push_back({b.getIndexAttr(0),
                      tensor::getMixedSize(b, loc, value, axis),
                      b.getIndexAttr(1)});
  return domain;
}

template <typename Op> static SmallVector<Range> getPairs(Op op, OpBuilder &b) {
  Value pairs = op.getDistances();
  return getDomain(b, op.getLoc(), {{pairs, 0}, {pairs, 1}, {pairs, 2}});
}
static SmallVector<Range> getPairs(CopyGradOp op, OpBuilder &b) {
  return getDomain(
      b, op.getLoc(),
      {{op.getSumsIn(), 0}, {op.getSignals(), 1}, {op.getSumsIn(), 1}});
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

static Operation *tile(WeighGradOp op, OpBuilder &b, Slicer &slice) {
  Value distances = slice(op.getDistances(), {Batch, Row, Key});
  Value rows = slice(op.getRows(), {Batch, Row, Whole});
  Value products = slice(op.getProducts(), {Batch, Whole, Row, Key});
  Value lengths = slice(op.getLengths(), {Batch});
  Value floats = slice(op.getFloatsIn(), {Batch, Row, Whole});
  Value row = slice.shift(op.getRow(), Row),
        key = slice.shift(op.getKey(), Key);
  return WeighGradOp::create(
      b, op.getLoc(), products.getType(), distances.getType(),
      floats ? floats.getType() : Type(), distances, rows, products,
      op.getTau(), op.getGammas(), row, key, lengths, floats,
      op.getChannelsAttr(), op.getMetricAttr(), op.getMaskAttr());
}

static Operation *tile(SumDifferencesOp op, OpBuilder &b, Slicer &slice) {
  Value coefficients = slice(op.getCoefficients(), {Batch, Row, Key});
  Value queries = slice(op.getQueries(), {Batch, Row, Whole});
  Value keys = slice(op.getKeys(), {Batch, Key, Whole});
  Value distances = slice(op.getDistances(), {Batch, Row, Key});
  Value sums = slice(op.getSumsIn(), getResultAxes(op, 0));
  return SumDifferencesOp::create(
      b, op.getLoc(), sums.getType(), op.getSideAttr(), coefficients, queries,
      keys, distances, sums, op.getMetricAttr(), op.getPrecisionAttr());
}

static Operation *tile(CopyGradOp op, OpBuilder &b, Slicer &slice) {
  Axes perRow = {Batch, Row, Whole};
  Value rows = slice(op.getRows(), perRow);
  Value signals = slice(op.getSignals(), perRow);
  Value gradient = slice(op.getGradient(), perRow);
  Value indices = slice(op.getIndices(), perRow);
  Value sums = slice(op.getSumsIn(), getResultAxes(op, 0));
  return CopyGradOp::create(b, op.getLoc(), sums.getType(), rows, signals,
                            gradient, indices, slice.shift(op.getKey(), Key),
                            sums, op.getChannelsAttr());
}

//===----------------------------------------------------------------------===//
// The interface, the same for all of them.
//===----------------------------------------------------------------------===//

#define RT_PAIR_TILING(OP)                                                     \
  Iterators OP::getLoopIteratorTypes() {                                       \
    Iterators iterators(3, utils::IteratorType::parallel);                     \
    if (std::optional<Axis> axis = getSummedAxis(*this))                       \
      iterators[*axis] = utils::IteratorType::reduction;                       \
    return iterators;                                                          \
  }                                                                            \
  SmallVector<Range> OP::getIterationDomain(OpBuilder &b) {                    \
    return getPairs(*this, b);                                                 \
  }                                                                            \
  FailureOr<TilingResult> OP::getTiledImplementation(                          \
      OpBuilder &b, ArrayRef<OpFoldResult> offsets,                            \
      ArrayRef<OpFoldResult> sizes) {                                          \
    Slicer slice(b, getLoc(), offsets, sizes);                                 \
    Operation *tiled = tile(*this, b, slice);                                  \
    return TilingResult{                                                       \
        {tiled}, SmallVector<Value>(tiled->getResults()), slice.slices};       \
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
                       getResultAxes(*this, number), getIterationDomain(b),    \
                       begin, extent, offsets, sizes);                         \
  }

RT_PAIR_TILING(WeighGradOp)
RT_PAIR_TILING(SumDifferencesOp)
RT_PAIR_TILING(CopyGradOp)
