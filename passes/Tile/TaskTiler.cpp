//===- TaskTiler.cpp - one parallel loop and all it needs ---- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/TaskTiler.h"
#include "dialect/RayTile/Bufferization.h"
#include "passes/Tile/Bounds.h"
#include "passes/Tile/SequenceLength.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

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

TaskTiler::TaskTiler(RewriterBase &rewriter, const Task &task,
                     StoredValues &stored)
    : b(rewriter), task(task), root(task.root), loc(root.getLoc()),
      passing(task.passing), stored(stored),
      fuser(
          rewriter, {},
          [this](OpResult producer, LoopSizes &offsets, LoopSizes &sizes) {
            clip(producer, offsets, sizes);
          },
          [this](Operation *tile) { dropLengths(tile); }) {
  step = makeFunctionConstant(b, loc, task.items);
  for (OpResult value : task.read)
    if (Value own = stored.lookup(value))
      fuser.setKnown(value, own);
}

LogicalResult TaskTiler::run() {
  ParallelLoop loop = buildLoop();
  buildTile(loop.op);
  FailureOr<TilingResult> tile = tileRoot(loop);
  if (failed(tile))
    return root->emitOpError() << "cannot be tiled";
  if (failed(insertResults(loop, tile->tiledValues)))
    return failure();
  storeShared(loop);
  b.replaceOp(root, ArrayRef(loop.results).take_front(root->getNumResults()));
  return success();
}

//===----------------------------------------------------------------------===//
// Loop and root
//===----------------------------------------------------------------------===//

/// Whether nothing but where it starts is known of an initial value.
static bool isStart(Value init) {
  return isa_and_present<InitOp, linalg::FillOp>(init.getDefiningOp());
}

/// What a result goes on with that was there before the task.
Value TaskTiler::getGiven(OpResult result) {
  Operation *op = result.getOwner();
  unsigned number = result.getResultNumber();
  while (Operation *before = getContinuedSum(op)) {
    op = before;
    number = 0;
  }
  OpOperand *init = tile::getInit(op, number);
  return init && !isStart(init->get()) ? init->get() : Value();
}

/// What the loop writes a result of the root to. A sum's start belongs to the
/// tile.
Value TaskTiler::buildOutput(OpResult result) {
  if (Value init = getGiven(result))
    return init;
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    sizes.push_back(getTypedSize(b, loc, result, axis));
  return tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
}

/// The loop of the root whose items tasks share: of a sum that a finish would
/// read, that of its rows.
unsigned TaskTiler::getItemLoop() {
  if (auto product = dyn_cast<linalg::ContractOp>(root.getOperation()))
    return product.getIndexingMapsArray().back().getDimPosition(1);
  bool hasPassing = root.getLoopIteratorTypes().size() > 2;
  return passing == Passing::Rows && hasPassing ? 2 : 1;
}

ParallelLoop TaskTiler::buildLoop() {
  LoopSizes domain = getLoopSizes(b, root);
  numItems = domain[getItemLoop()];
  SmallVector<Value> outputs;
  for (OpResult result : root->getResults())
    outputs.push_back(buildOutput(result));
  for (OpResult value : task.shared)
    outputs.push_back(buildOutput(value));
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  return ParallelLoop(b, loc, {zero, zero}, {domain[0], numItems}, {one, step},
                      outputs);
}

FailureOr<TilingResult> TaskTiler::tileRoot(ParallelLoop &loop) {
  for (auto [result, argument] : llvm::zip(root->getResults(), loop.args))
    if (Value init = getGiven(result))
      fuser.setKnown(init, argument);
  if (std::optional<unsigned> summed = getSummedLoop(root)) {
    LoopSizes extents = getLoopSizes(b, root);
    LoopSizes own(extents.size(), b.getIndexAttr(0));
    own[0] = offsets[0];
    extents[0] = sizes[0];
    own[getItemLoop()] = offsets[1];
    extents[getItemLoop()] = sizes[1];
    clip(root->getResult(0), own, extents);
    offsets = own;
    sizes = extents;
  }
  FailureOr<TilingResult> tile = root.getTiledImplementation(b, offsets, sizes);
  if (failed(tile))
    return failure();
  fuser.setTile(root, tile->tiledOps.front(), offsets, sizes);
  dropLengths(tile->tiledOps.front());
  fuser.fuse(tile->generatedSlices);
  return tile;
}

//===----------------------------------------------------------------------===//
// What other tasks read
//===----------------------------------------------------------------------===//

void TaskTiler::storeShared(ParallelLoop &loop) {
  for (auto [number, value] : llvm::enumerate(task.shared)) {
    unsigned output = root->getNumResults() + number;
    const auto *tile =
        llvm::find_if(fuser.getTiles(), [&](const ProducerFuser::Tile &tile) {
          return tile.whole == value;
        });
    if (tile == fuser.getTiles().end())
      continue;
    if (!isa<WeighGradOp>(value.getOwner()))
      loop.insert(b, output, tile->tile, tile->offsets, tile->sizes);
    else
      insertWeighed(loop, output, *tile);
    stored[value] = loop.results[output];
  }
}

/// What is weighed is 0 where masked. Distances there have no say, as they
/// have no weight.
void TaskTiler::insertWeighed(ParallelLoop &loop, unsigned number,
                              const ProducerFuser::Tile &tile) {
  auto type = cast<RankedTensorType>(tile.tile.getType());
  LoopSizes sizes = tile.sizes, none(type.getRank(), b.getIndexAttr(0));
  LoopSizes strides(type.getRank(), b.getIndexAttr(1));
  b.setInsertionPoint(loop.op);
  sizes.back() = getTypedSize(b, loc, tile.whole, type.getRank() - 1);
  b.setInsertionPointAfterValue(count);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  Value zero = arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  Value zeros = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  b.setInsertionPoint(loop.op.getTerminator());
  Value rows = tensor::InsertSliceOp::create(b, loc, tile.tile, zeros, none,
                                             tile.sizes, strides);
  loop.insert(b, number, rows, tile.offsets, sizes);
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
