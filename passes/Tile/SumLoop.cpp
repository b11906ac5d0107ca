//===- SumLoop.cpp - sums over the same pairs in one loop ---- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/SumLoop.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/Bufferization.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace raytention;

//===----------------------------------------------------------------------===//
// What can be computed together
//===----------------------------------------------------------------------===//

static bool isSum(Operation *op) { return getSummedLoop(op).has_value(); }

/// The sum that `op` goes on with: both add terms, so their loops may be one.
static Operation *getContinued(TilingInterface op) {
  if (!isa<linalg::ContractOp, SumDifferencesOp, CopyGradOp>(op))
    return nullptr;
  auto init = dyn_cast<OpResult>(tile::getInit(op, 0)->get());
  Operation *before = init ? init.getOwner() : nullptr;
  if (!isa_and_present<linalg::ContractOp, SumDifferencesOp, CopyGradOp>(
          before) ||
      before->getBlock() != op->getBlock() || !isSum(before) ||
      !init.hasOneUse())
    return nullptr;
  return before;
}

namespace {

/// How many loops must be over before an op of the block can be computed.
class Levels {
public:
  explicit Levels(Block &block) : block(block) {}

  unsigned get(Operation *op) {
    if (op->getBlock() != &block)
      return 0;
    auto known = levels.find(op);
    if (known != levels.end())
      return known->second;
    auto sum = isSum(op) ? cast<TilingInterface>(op) : TilingInterface();
    Operation *continued = sum ? getContinued(sum) : nullptr;
    unsigned level = continued ? get(continued) : 0;
    for (Value operand : op->getOperands())
      level = std::max(level, getOf(operand, continued));
    return levels[op] = level;
  }

private:
  unsigned getOf(Value operand, Operation *continued) {
    auto result = dyn_cast<OpResult>(operand);
    if (!result || result.getOwner() == continued)
      return 0;
    Operation *op = block.findAncestorOpInBlock(*result.getOwner());
    return op ? get(op) + isTotal(result) : 0;
  }

  Block &block;
  llvm::DenseMap<Operation *, unsigned> levels;
};

} // namespace

static OpFoldResult getLength(OpBuilder &b, TilingInterface op) {
  return getLoopSizes(b, op)[*getSummedLoop(op)];
}

SmallVector<SumGroup> raytention::collectSums(OpBuilder &b, Block &block) {
  struct Entry {
    unsigned level;
    OpFoldResult length;
    SumGroup group;
  };
  SmallVector<Entry> entries;
  Levels levels(block);
  SmallVector<TilingInterface> sums;
  for (Operation &op : block)
    if (isSum(&op))
      sums.push_back(cast<TilingInterface>(&op));
  for (TilingInterface op : sums) {
    b.setInsertionPoint(op);
    OpFoldResult length = getLength(b, op);
    unsigned level = levels.get(op);
    auto *same = llvm::find_if(entries, [&](const Entry &entry) {
      return entry.level == level &&
             isEqualConstantIntOrValue(entry.length, length);
    });
    if (same == entries.end())
      same = &entries.emplace_back(Entry{level, length, {}});
    same->group.push_back(op);
  }
  llvm::stable_sort(entries, [](const Entry &a, const Entry &b) {
    return a.level < b.level;
  });
  SmallVector<SumGroup> groups;
  for (Entry &entry : entries)
    groups.push_back(std::move(entry.group));
  return groups;
}

//===----------------------------------------------------------------------===//
// One loop
//===----------------------------------------------------------------------===//

namespace {

class SumLoopBuilder {
public:
  SumLoopBuilder(RewriterBase &rewriter, SumGroup ops, Value step,
                 KeepsPairs keeps)
      : b(rewriter), group(std::move(ops)), step(step), keeps(keeps),
        loc(group.front().getLoc()), fuser(rewriter, [](OpResult producer) {
          return !isSum(producer.getOwner());
        }) {
    llvm::SmallPtrSet<Operation *, 4> inner;
    for (TilingInterface op : group) {
      continued[op] = getContinued(op);
      inner.insert(continued[op]);
    }
    for (TilingInterface op : group)
      for (OpResult result : op->getResults())
        if (isTotal(result) && !inner.contains(op))
          carried.push_back(result);
  }

  FailureOr<scf::ForOp> run() {
    b.setInsertionPoint(group.back());
    buildLoop();
    for (TilingInterface op : group)
      if (failed(tileSum(op)))
        return failure();
    yieldSums();
    keepPairs();
    replaceSums();
    sortTopologically(loop->getBlock());
    return loop;
  }

private:
  /// The first of those that go on with each other.
  OpResult getHead(OpResult sum) const {
    while (Operation *before = continued.lookup(sum.getOwner()))
      sum = before->getResult(0);
    return sum;
  }
  Value getStart(OpResult sum) const {
    OpResult head = getHead(sum);
    return tile::getInit(head.getOwner(), head.getResultNumber())->get();
  }

  void buildLoop() {
    Value length =
        getValueOrCreateConstantIndexOp(b, loc, getLength(b, group.back()));
    SmallVector<Value> starts = llvm::map_to_vector(
        carried, [&](OpResult sum) { return getStart(sum); });
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    loop = scf::ForOp::create(b, loc, zero, length, step, starts);
    for (auto [sum, argument] : llvm::zip(carried, loop.getRegionIterArgs()))
      current[getHead(sum)] = argument;
    b.setInsertionPointToStart(loop.getBody());
    first = loop.getInductionVar();
    Value left = arith::SubIOp::create(b, loc, length, first);
    size = arith::MinSIOp::create(b, loc, left, step);
  }

  /// What a sum starts from in the body.
  Value getCurrent(OpResult sum) {
    if (Operation *before = continued.lookup(sum.getOwner()))
      return tiles.lookup(before)->getResult(0);
    return current.lookup(sum);
  }

  /// The op on the loop's part, which adds to what the loop carries.
  LogicalResult tileSum(TilingInterface op) {
    LoopSizes sizes = getLoopSizes(b, op);
    LoopSizes offsets(sizes.size(), b.getIndexAttr(0));
    offsets[*getSummedLoop(op)] = first;
    sizes[*getSummedLoop(op)] = size;
    auto whole = cast<TilingInterface>(b.clone(*op));
    for (OpResult result : op->getResults())
      if (OpOperand *init = tile::getInit(whole, result.getResultNumber())) {
        Value current = getCurrent(result);
        init->set(current);
        whole->getResult(result.getResultNumber()).setType(current.getType());
      }
    FailureOr<TilingResult> tile =
        whole.getTiledImplementation(b, offsets, sizes);
    if (failed(tile))
      return op->emitOpError() << "cannot be cut in chunks";
    b.eraseOp(whole);
    Operation *tiled = tile->tiledOps.front();
    tiles[op] = tiled;
    fuser.setTile(op, tiled, offsets, sizes);
    fuser.fuse(tile->generatedSlices);
    b.setInsertionPointAfter(tiled);
    return success();
  }

  void yieldSums() {
    SmallVector<Value> sums;
    for (auto [result, argument] :
         llvm::zip(carried, loop.getRegionIterArgs())) {
      Value sum =
          tiles.lookup(result.getOwner())->getResult(result.getResultNumber());
      sums.push_back(castTo(b, loc, sum, argument.getType()));
    }
    scf::YieldOp::create(b, loc, sums);
  }

  /// Pairs that something behind the loop reads are collected by it.
  void keepPairs() {
    SmallVector<ProducerFuser::Tile> kept;
    llvm::SmallPtrSet<Value, 4> known;
    for (const ProducerFuser::Tile &tile : fuser.getTiles())
      if (isCut(tile) && !isTotal(tile.whole) && keeps(tile.whole) &&
          known.insert(tile.whole).second)
        kept.push_back(tile);
    if (kept.empty())
      return;
    b.setInsertionPoint(loop);
    SmallVector<Value> all;
    for (const ProducerFuser::Tile &tile : kept)
      all.push_back(makeEmpty(tile.whole));
    auto insert = [&](OpBuilder &b, Location loc,
                      ArrayRef<BlockArgument> args) {
      SmallVector<Value> inserted;
      for (auto [tile, argument] : llvm::zip(kept, args))
        inserted.push_back(insertTile(b, loc, tile, argument));
      return inserted;
    };
    auto more = loop.replaceWithAdditionalYields(
        b, all, /*replaceInitOperandUsesInLoop=*/false, insert);
    loop = cast<scf::ForOp>(more->getOperation());
    for (auto [tile, result] :
         llvm::zip(kept, loop.getResults().take_back(kept.size())))
      b.replaceUsesWithIf(tile.whole, result, [&](OpOperand &use) {
        return !llvm::is_contained(group, use.getOwner());
      });
  }

  /// Whether a tile is another one in each step.
  bool isCut(const ProducerFuser::Tile &tile) {
    return llvm::is_contained(tile.offsets, OpFoldResult(first));
  }

  Value makeEmpty(Value pairs) {
    auto type = cast<RankedTensorType>(pairs.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      sizes.push_back(getTypedSize(b, loc, pairs, axis));
    return tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  }

  static Value insertTile(OpBuilder &b, Location loc,
                          const ProducerFuser::Tile &tile, Value into) {
    SmallVector<OpFoldResult> strides(tile.offsets.size(), b.getIndexAttr(1));
    return tensor::InsertSliceOp::create(b, loc, tile.tile, into, tile.offsets,
                                         tile.sizes, strides);
  }

  void replaceSums() {
    for (auto [result, sum] : llvm::zip(carried, loop.getResults())) {
      Value value = castTo(b, loc, sum, result.getType());
      b.replaceAllUsesWith(result, value);
    }
    for (TilingInterface op : llvm::reverse(group))
      if (op->use_empty())
        b.eraseOp(op);
  }

  RewriterBase &b;
  SumGroup group;
  Value step;
  KeepsPairs keeps;
  Location loc;
  ProducerFuser fuser;
  SmallVector<OpResult>
      carried; ///< sums that nothing of the group goes on with
  scf::ForOp loop;
  Value first, size;
  llvm::DenseMap<Operation *, Operation *> continued, tiles;
  llvm::DenseMap<Value, Value> current; ///< by head, what the loop carries
};

} // namespace

FailureOr<scf::ForOp> raytention::buildSumLoop(RewriterBase &rewriter,
                                               const SumGroup &group,
                                               Value step, KeepsPairs keeps) {
  return SumLoopBuilder(rewriter, group, step, keeps).run();
}
