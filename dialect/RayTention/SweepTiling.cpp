//===- SweepTiling.cpp - tiling and splitting of the streaming ops ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/Slicer.h"
#include "dialect/RayTention/SweepLayout.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::pairs;

MutableOperandRange ScoreSweepOp::getDpsInitsMutable() {
  auto [begin, size] = getODSOperandIndexAndLength(5);
  return MutableOperandRange(*this, begin, size + 1);
}
MutableOperandRange ReduceSweepOp::getDpsInitsMutable() {
  auto [begin, size] = getODSOperandIndexAndLength(8);
  return MutableOperandRange(*this, begin, size + (getSumsIn() ? 2 : 1));
}
MutableOperandRange FinalizeOp::getDpsInitsMutable() {
  auto [begin, size] = getODSOperandIndexAndLength(10);
  return MutableOperandRange(*this, begin, size + (getLogSumsIn() ? 3 : 2));
}

static SmallVector<Range> getPairDomain(OpBuilder &b, Location loc,
                                        Value distances) {
  SmallVector<Range> domain;
  for (int64_t axis = 0; axis < 3; ++axis)
    domain.push_back({b.getIndexAttr(0),
                      tensor::getMixedSize(b, loc, distances, axis),
                      b.getIndexAttr(1)});
  return domain;
}

static SmallVector<utils::IteratorType> getPairIterators() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel,
          utils::IteratorType::reduction};
}

/// Where the tile's keys stand. Positions of a list are themselves.
template <typename Op> static Value shiftKey(Op op, Slicer &slice) {
  return op.getKeyPositions() ? op.getKey() : slice.shift(op.getKey(), Key);
}

/// The sweep on a tile, its initial states given whole by `inits`.
static ScoreSweepOp tileSweep(ScoreSweepOp op, OpBuilder &b, Slicer &slice,
                              ValueRange inits) {
  Value distances = slice(op.getDistances(), {Batch, Row, Key});
  Value lengths = slice(op.getLengths(), {Batch});
  Value positions = slice(op.getKeyPositions(), {Batch, Whole, Key});
  Value masses = slice(op.getKeyMasses(), {Batch, Whole, Key});
  Value row = slice.shift(op.getRow(), Row), key = shiftKey(op, slice);
  return ScoreSweepOp::create(
      b, op.getLoc(), TypeRange{inits[0].getType(), inits[1].getType()},
      distances, op.getTau(), op.getGammas(), row, key, inits[0], inits[1],
      lengths, positions, masses, op.getChannelsAttr(), op.getMaskAttr());
}
static ReduceSweepOp tileSweep(ReduceSweepOp op, OpBuilder &b, Slicer &slice,
                               ValueRange inits) {
  Value distances = slice(op.getDistances(), {Batch, Row, Key});
  Value state = slice(op.getScoreState(), {Batch, Row, Whole});
  Value keys = slice(op.getKeys(), {Batch, Key, Whole});
  Value lengths = slice(op.getLengths(), {Batch});
  Value positions = slice(op.getKeyPositions(), {Batch, Whole, Key});
  Value masses = slice(op.getKeyMasses(), {Batch, Whole, Key});
  Value row = slice.shift(op.getRow(), Row), key = shiftKey(op, slice);
  SmallVector<Type> types(inits.getTypes());
  return ReduceSweepOp::create(
      b, op.getLoc(), TypeRange(types), distances, state, op.getTau(),
      op.getGammas(), keys, row, key, lengths, inits[0], inits[1],
      inits.size() > 2 ? inits[2] : Value(), positions, masses,
      op.getChannelsAttr(), op.getScoreChannelsAttr(), op.getMaskAttr());
}

/// Axes of the n-th state: floats, positions, sums.
static SmallVector<Axis> getStateAxes(unsigned number) {
  if (number < 2)
    return {Batch, Row, Whole};
  return {Batch, Whole, Row, Whole};
}

template <typename Op>
static FailureOr<TilingResult> tile(Op op, OpBuilder &b,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, op.getLoc(), offsets, sizes);
  SmallVector<Value> inits;
  for (auto [number, init] : llvm::enumerate(op.getDpsInits()))
    inits.push_back(slice(init, getStateAxes(number)));
  Op tiled = tileSweep(op, b, slice, inits);
  SmallVector<Value> results(tiled->getResults());
  return TilingResult{{tiled}, results, slice.slices};
}

template <typename Op>
static LogicalResult placeResult(Op op, OpBuilder &b, unsigned number,
                                 ArrayRef<OpFoldResult> offsets,
                                 ArrayRef<OpFoldResult> sizes,
                                 SmallVector<OpFoldResult> &begin,
                                 SmallVector<OpFoldResult> &extent) {
  Slicer(b, op.getLoc(), offsets, sizes)
      .position(op->getResult(number), getStateAxes(number), begin, extent);
  return success();
}

//===----------------------------------------------------------------------===//
// Splitting the keys: partial states [B, P, ...], merged by rt.merge.
//===----------------------------------------------------------------------===//

/// How many parts loops over the keys in steps of `size` have. A size that is
/// the N-th part of the keys, rounded up, asks for N: the last ones may then be
/// empty, and even no keys at all leave N parts (empty ones merge away).
static OpFoldResult getNumParts(OpBuilder &b, Location loc, Value distances,
                                OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    if (auto part = value.getDefiningOp<arith::CeilDivSIOp>())
      return part.getRhs();
  AffineExpr s0, s1;
  bindSymbols(b.getContext(), s0, s1);
  return affine::makeComposedFoldedAffineApply(
      b, loc, s0.ceilDiv(s1),
      {tensor::getMixedSize(b, loc, distances, 2), size});
}

/// Partial states over no keys; `partSizes` are the tile sizes of the loops.
/// Sums are a product's: where the sweep still has them, it is not split.
template <typename Op>
static FailureOr<SmallVector<Value>>
makePartialInits(Op op, OpBuilder &b, Location loc,
                 ArrayRef<OpFoldResult> partSizes) {
  if (op->getNumResults() > 2)
    return failure();
  Value parts = getValueOrCreateConstantIndexOp(
      b, loc, getNumParts(b, loc, op.getDistances(), partSizes[Key]));
  auto size = [&](Value value, int64_t axis) {
    return getValueOrCreateConstantIndexOp(
        b, loc, tensor::getMixedSize(b, loc, value, axis));
  };
  Value batch = size(op.getDistances(), 0), rows = size(op.getDistances(), 1);
  auto partial = [&](Value state) {
    auto type = cast<RankedTensorType>(state.getType());
    int64_t dynamic = ShapedType::kDynamic;
    return type.clone(
        {type.getDimSize(0), dynamic, type.getDimSize(1), type.getDimSize(2)});
  };
  auto init = InitOp::create(b, loc, partial(op.getFloats()),
                             partial(op.getPositions()),
                             SweepKindAttr::get(b.getContext(), Op::sweepKind),
                             op.getChannelsAttr(), batch, rows, parts);
  SmallVector<Value> inits = {init.getFloats(), init.getPositions()};
  return inits;
}

/// Where part `part` of a partial state [B, P, ...] stands.
template <typename Op>
static void
placePart(Op op, OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
          ArrayRef<OpFoldResult> sizes, OpFoldResult part,
          SmallVector<OpFoldResult> &begin, SmallVector<OpFoldResult> &extent) {
  Slicer(b, op.getLoc(), offsets, sizes)
      .position(op->getResult(number), getStateAxes(number), begin, extent);
  begin.insert(begin.begin() + 1, part);
  extent.insert(extent.begin() + 1, b.getIndexAttr(1));
}

template <typename Op>
static FailureOr<TilingResult>
tilePart(Op op, OpBuilder &b, ValueRange partials,
         ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
         ArrayRef<OpFoldResult> parts) {
  Slicer slice(b, op.getLoc(), offsets, sizes);
  SmallVector<Value> inits;
  for (auto [number, partial] : llvm::enumerate(partials)) {
    SmallVector<OpFoldResult> begin, extent;
    placePart(op, b, number, offsets, sizes, parts.front(), begin, extent);
    SmallVector<int64_t> shape;
    for (auto [axis, size] : llvm::enumerate(extent))
      if (axis != 1)
        shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size)
                                             : ShapedType::kDynamic);
    auto type = cast<RankedTensorType>(partial.getType());
    SmallVector<OpFoldResult> strides(begin.size(), b.getIndexAttr(1));
    auto part = tensor::ExtractSliceOp::create(
        b, op.getLoc(), type.clone(shape), partial, begin, extent, strides);
    slice.slices.push_back(part);
    inits.push_back(part);
  }
  Op tiled = tileSweep(op, b, slice, inits);
  SmallVector<Value> results(tiled->getResults());
  return TilingResult{{tiled}, results, slice.slices};
}

template <typename Op>
static FailureOr<MergeResult> merge(Op op, OpBuilder &b, Location loc,
                                    ValueRange partials) {
  SmallVector<Type> types(op->getResultTypes());
  auto merged =
      MergeOp::create(b, loc, types[0], types[1],
                      SweepKindAttr::get(b.getContext(), Op::sweepKind),
                      op.getChannelsAttr(), partials[0], partials[1]);
  SmallVector<Value> results(merged->getResults());
  return MergeResult{{merged}, results};
}

//===----------------------------------------------------------------------===//
// The interfaces, the same for both sweeps.
//===----------------------------------------------------------------------===//

#define RT_SWEEP_TILING(OP)                                                    \
  SmallVector<utils::IteratorType> OP::getLoopIteratorTypes() {                \
    return getPairIterators();                                                 \
  }                                                                            \
  SmallVector<Range> OP::getIterationDomain(OpBuilder &b) {                    \
    return getPairDomain(b, getLoc(), getDistances());                         \
  }                                                                            \
  FailureOr<TilingResult> OP::getTiledImplementation(                          \
      OpBuilder &b, ArrayRef<OpFoldResult> offsets,                            \
      ArrayRef<OpFoldResult> sizes) {                                          \
    return tile(*this, b, offsets, sizes);                                     \
  }                                                                            \
  LogicalResult OP::getResultTilePosition(                                     \
      OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,           \
      ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,          \
      SmallVector<OpFoldResult> &extent) {                                     \
    return placeResult(*this, b, number, offsets, sizes, begin, extent);       \
  }                                                                            \
  LogicalResult OP::getIterationDomainTileFromResultTile(                      \
      OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> begin,             \
      ArrayRef<OpFoldResult> extent, SmallVectorImpl<OpFoldResult> &offsets,   \
      SmallVectorImpl<OpFoldResult> &sizes) {                                  \
    return getLoopTile(getOperation()->getResult(number),                      \
                       getStateAxes(number), getIterationDomain(b), begin,     \
                       extent, offsets, sizes);                                \
  }                                                                            \
  FailureOr<TilingResult> OP::generateResultTileValue(                         \
      OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,           \
      ArrayRef<OpFoldResult> sizes) {                                          \
    Range keys = getIterationDomain(b)[Key];                                   \
    unsigned row = number < 2 ? 1 : 2;                                         \
    FailureOr<TilingResult> whole =                                            \
        tile(*this, b, {offsets[0], offsets[row], keys.offset},                \
             {sizes[0], sizes[row], keys.size});                               \
    return TilingResult{whole->tiledOps,                                       \
                        {whole->tiledValues[number]},                          \
                        whole->generatedSlices};                               \
  }                                                                            \
  FailureOr<SmallVector<Value>> OP::generateInitialTensorForPartialReduction(  \
      OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes,                \
      const SetVector<unsigned> &) {                                           \
    return makePartialInits(*this, b, loc, sizes);                             \
  }                                                                            \
  FailureOr<TilingResult> OP::tileToPartialReduction(                          \
      OpBuilder &b, Location, ReductionTilingStrategy, ValueRange init,        \
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,            \
      const SetVector<unsigned> &, ArrayRef<OpFoldResult> parts) {             \
    return tilePart(*this, b, init, offsets, sizes, parts);                    \
  }                                                                            \
  FailureOr<MergeResult> OP::mergeReductions(OpBuilder &b, Location loc,       \
                                             ValueRange partials,              \
                                             const SetVector<unsigned> &) {    \
    return merge(*this, b, loc, partials);                                     \
  }                                                                            \
  LogicalResult OP::getPartialResultTilePosition(                              \
      OpBuilder &b, unsigned number, ReductionTilingStrategy,                  \
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,            \
      const SetVector<unsigned> &, ArrayRef<OpFoldResult> parts,               \
      SmallVector<OpFoldResult> &begin, SmallVector<OpFoldResult> &extent) {   \
    placePart(*this, b, number, offsets, sizes, parts.front(), begin, extent); \
    return success();                                                          \
  }

RT_SWEEP_TILING(ScoreSweepOp)
RT_SWEEP_TILING(ReduceSweepOp)

//===----------------------------------------------------------------------===//
// rt.finalize: rows are independent.
//===----------------------------------------------------------------------===//

/// Of signals, norm, indices, log-sums.
static SmallVector<Axis> getFinishAxes(unsigned number) {
  if (number == 1)
    return {Batch, Row};
  return {Batch, Row, Whole};
}

SmallVector<utils::IteratorType> FinalizeOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(2, utils::IteratorType::parallel);
}

SmallVector<Range> FinalizeOp::getIterationDomain(OpBuilder &b) {
  SmallVector<Range> domain;
  for (int64_t axis = 0; axis < 2; ++axis)
    domain.push_back({b.getIndexAttr(0),
                      tensor::getMixedSize(b, getLoc(), getNormIn(), axis),
                      b.getIndexAttr(1)});
  return domain;
}

FailureOr<TilingResult>
FinalizeOp::getTiledImplementation(OpBuilder &b, ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  Slicer slice(b, getLoc(), offsets, sizes);
  SmallVector<Axis> perRow = {Batch, Row, Whole};
  Value scoreFloats = slice(getScoreFloats(), perRow);
  Value scorePositions = slice(getScorePositions(), perRow);
  Value reduceFloats = slice(getReduceFloats(), perRow);
  Value reducePositions = slice(getReducePositions(), perRow);
  Value sums = slice(getSums(), {Batch, Whole, Row, Whole});
  Value ids = slice(getIds(), {Batch, Whole});
  Value row = slice.shift(getRow(), Row);
  Value lengths = slice(getLengths(), {Batch});
  Value signals = slice(getSignalsIn(), perRow);
  Value norm = slice(getNormIn(), {Batch, Row});
  Value indices = slice(getIndicesIn(), perRow);
  Value logSums = slice(getLogSumsIn(), perRow);
  SmallVector<Type> types = {signals.getType(), norm.getType(),
                             indices.getType()};
  if (logSums)
    types.push_back(logSums.getType());
  auto tiled = FinalizeOp::create(
      b, getLoc(), types, scoreFloats, scorePositions, reduceFloats,
      reducePositions, sums, getTable(), ids, getTau(), getGammas(), row,
      signals, norm, indices, logSums, lengths, getChannelsAttr(),
      getSweepChannelsAttr(), getReduceChannelsAttr(), getDecayOriginAttr());
  SmallVector<Value> results(tiled->getResults());
  return TilingResult{{tiled}, results, slice.slices};
}

LogicalResult FinalizeOp::getResultTilePosition(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &begin,
    SmallVector<OpFoldResult> &extent) {
  Slicer(b, getLoc(), offsets, sizes)
      .position(getResult(number), getFinishAxes(number), begin, extent);
  return success();
}

LogicalResult FinalizeOp::getIterationDomainTileFromResultTile(
    OpBuilder &b, unsigned number, ArrayRef<OpFoldResult> begin,
    ArrayRef<OpFoldResult> extent, SmallVectorImpl<OpFoldResult> &offsets,
    SmallVectorImpl<OpFoldResult> &sizes) {
  return getLoopTile(getResult(number), getFinishAxes(number),
                     getIterationDomain(b), begin, extent, offsets, sizes);
}
