//===- TaskTiler.cpp - one parallel loop and all it needs ---- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/TaskTiler.h"
#include "passes/Tile/Bounds.h"
#include "passes/Tile/SequenceLength.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace raytention;

/// The op that knows which of the pairs count that `op` adds up: itself, or the
/// nearest of those that it reads.
static MaskedPairsOpInterface findPairs(Operation *op) {
  if (auto pairs = dyn_cast_if_present<MaskedPairsOpInterface>(op))
    return pairs;
  if (!isa_and_present<TilingInterface, tensor::CastOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (MaskedPairsOpInterface pairs = findPairs(operand.getDefiningOp()))
      return pairs;
  return {};
}

TaskTiler::TaskTiler(RewriterBase &rewriter, TilingInterface root,
                     int64_t items, Passing passing)
    : b(rewriter), root(root), loc(root.getLoc()), passing(passing),
      fuser(
          rewriter, {},
          [this](OpResult producer, LoopSizes &offsets, LoopSizes &sizes) {
            clip(producer, offsets, sizes);
          },
          [this](Operation *tile) { dropLengths(tile); }) {
  step = makeFunctionConstant(b, loc, items);
}

LogicalResult TaskTiler::run() {
  ParallelLoop loop = buildLoop();
  buildTile(loop.op);
  auto whole = cast<TilingInterface>(cloneOnto(b, root, loop.args));
  FailureOr<TilingResult> tile =
      whole.getTiledImplementation(b, offsets, sizes);
  if (failed(tile))
    return root->emitOpError() << "cannot be tiled";
  b.eraseOp(whole);
  fuser.fuse(tile->generatedSlices);
  if (failed(insertResults(loop, tile->tiledValues)))
    return failure();
  b.replaceOp(root, loop.results);
  return success();
}

ParallelLoop TaskTiler::buildLoop() {
  LoopSizes domain = getLoopSizes(b, root);
  numItems = domain[1];
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return ParallelLoop(
      b, loc, {zero, zero}, {domain[0], numItems}, {one, step},
      cast<DestinationStyleOpInterface>(root.getOperation()).getDpsInits());
}

void TaskTiler::buildTile(scf::ForallOp loop) {
  entry = loop.getInductionVar(0);
  first = loop.getInductionVar(1);
  Value total = getValueOrCreateConstantIndexOp(b, loc, numItems);
  Value left = arith::SubIOp::create(b, loc, total, first);
  count = arith::MinSIOp::create(b, loc, left, step);
  OpFoldResult one = b.getIndexAttr(1);
  offsets = {entry, first};
  sizes = {one, count};
}

LogicalResult TaskTiler::insertResults(ParallelLoop &loop, ValueRange values) {
  for (auto [number, value] : llvm::enumerate(values)) {
    SmallVector<OpFoldResult> begin, extent;
    b.setInsertionPoint(loop.op.getTerminator());
    if (failed(root.getResultTilePosition(b, number, offsets, sizes, begin,
                                          extent)))
      return root->emitOpError() << "has no place for a tile";
    loop.insert(b, number, value, begin, extent);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What passes by
//===----------------------------------------------------------------------===//

/// `begin` and the size of an axis, known in front of the loop.
Value TaskTiler::buildEnd(Value begin, Value tensor, int64_t axis) {
  b.setInsertionPoint(entry.getParentBlock()->getParentOp());
  OpFoldResult size = getSize(b, loc, tensor, axis);
  return getValueOrCreateConstantIndexOp(b, loc,
                                         addOffsets(b, loc, begin, size));
}

/// The keys up to the last that any row of the tile sees.
TaskTiler::Visible TaskTiler::buildVisibleKeys(MaskedPairsOpInterface pairs) {
  Value all = buildEnd(pairs.getKey(), pairs.getDistances(), 2);
  b.setInsertionPointAfterValue(count);
  Value row = getValueOrCreateConstantIndexOp(
      b, loc, addOffsets(b, loc, pairs.getRow(), first));
  Value length = buildSequenceLength(b, loc, pairs.getLengths(), entry, all);
  Value end = buildVisibleEnd(b, loc, pairs.getMaskAttr(), row, count, length);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  if (isZeroInteger(OpFoldResult(pairs.getKey())))
    return {zero, end};
  Value left = arith::SubIOp::create(b, loc, end, pairs.getKey());
  return {zero, arith::MaxSIOp::create(b, loc, left, zero)};
}

/// The rows from the first that sees the tile to the sequence's end.
TaskTiler::Visible TaskTiler::buildSeeingRows(MaskedPairsOpInterface pairs) {
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value numRows = buildEnd(zero, pairs.getDistances(), 1);
  Value all = buildEnd(pairs.getKey(), pairs.getDistances(), 2);
  b.setInsertionPointAfterValue(count);
  Value key = getValueOrCreateConstantIndexOp(
      b, loc, addOffsets(b, loc, pairs.getKey(), first));
  MaskInterface mask = getMaskOrCausal(b.getContext(), pairs.getMaskAttr());
  Value begin = mask.getSeeingBegin(b, loc, pairs.getRow(), key);
  Value length = buildSequenceLength(b, loc, pairs.getLengths(), entry, all);
  Value inside = arith::SubIOp::create(b, loc, length, pairs.getRow());
  Value end = arith::MinSIOp::create(b, loc, inside, numRows);
  Value left = arith::SubIOp::create(b, loc, end, begin);
  return {begin, arith::MaxSIOp::create(b, loc, left, zero)};
}

/// One range serves all ops on the same pairs.
const TaskTiler::Visible &TaskTiler::getVisible(MaskedPairsOpInterface pairs) {
  auto describe = [](MaskedPairsOpInterface op) {
    return std::tuple(op.getRow(), op.getKey(), op.getLengths(),
                      op.getMaskAttr(), op.getDistances());
  };
  for (auto &[known, range] : visible)
    if (describe(known) == describe(pairs))
      return range;
  OpBuilder::InsertionGuard guard(b);
  Visible range = passing == Passing::Keys ? buildVisibleKeys(pairs)
                                           : buildSeeingRows(pairs);
  return visible.emplace_back(pairs, range).second;
}

void TaskTiler::clip(OpResult producer, LoopSizes &offsets, LoopSizes &sizes) {
  MaskedPairsOpInterface pairs = isTotal(producer)
                                     ? findPairs(producer.getOwner())
                                     : MaskedPairsOpInterface();
  if (!pairs)
    return;
  unsigned loop = *getSummedLoop(producer.getOwner());
  const Visible &range = getVisible(pairs);
  offsets[loop] = getAsOpFoldResult(range.begin);
  sizes[loop] = range.size;
}

/// The visible part of what passes by lies in the sequence; what a row inside
/// of it sees does too.
void TaskTiler::dropLengths(Operation *tile) {
  auto pairs = dyn_cast<MaskedPairsOpInterface>(tile);
  if (!pairs || !pairs.getLengths())
    return;
  OpFoldResult size =
      findSize(pairs.getDistances(), passing == Passing::Keys ? 2 : 1);
  for (auto &[known, range] : visible)
    if (size && isEqualConstantIntOrValue(size, range.size))
      pairs.dropLengths();
}
