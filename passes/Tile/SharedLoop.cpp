//===- SharedLoop.cpp - several ops in one sequential loop --- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/SharedLoop.h"
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

static OpFoldResult getLength(OpBuilder &b, const LoopRoot &root) {
  return getLoopSizes(b, root.op)[root.loop];
}

namespace {

/// How many loops must be over before an op of the block can be computed.
class Levels {
public:
  Levels(OpBuilder &b, Block &block) : block(block) {
    for (Operation &op : block)
      if (isSum(&op))
        sums.push_back(&op);
    for (Operation *op : sums) {
      b.setInsertionPoint(op);
      lengths[op] =
          getLength(b, {cast<TilingInterface>(op), *getSummedLoop(op)});
    }
  }

  unsigned get(Operation *op) {
    if (op->getBlock() != &block)
      return 0;
    auto known = levels.find(op);
    if (known != levels.end())
      return known->second;
    Operation *continued = isSum(op) ? getContinuedSum(op) : nullptr;
    unsigned level = continued ? get(continued) : 0;
    for (Value operand : op->getOperands())
      level = std::max(level, getOf(operand, op, continued));
    return levels[op] = level;
  }

  ArrayRef<Operation *> getSums() const { return sums; }
  OpFoldResult lengthOf(Operation *sum) const { return lengths.lookup(sum); }

private:
  /// Part by part, pairs are there in loops of the same length only.
  unsigned getOf(Value operand, Operation *reader, Operation *continued) {
    auto result = dyn_cast<OpResult>(operand);
    if (!result || result.getOwner() == continued)
      return 0;
    Operation *op = block.findAncestorOpInBlock(*result.getOwner());
    if (!op)
      return 0;
    bool isOver =
        isTotal(result) || (isSum(op) && isSum(reader) &&
                            !isSameSize(lengths[op], lengths[reader]));
    return get(op) + isOver;
  }

  Block &block;
  SmallVector<Operation *> sums;
  llvm::DenseMap<Operation *, OpFoldResult> lengths;
  llvm::DenseMap<Operation *, unsigned> levels;
};

} // namespace

SmallVector<LoopGroup> raytention::collectSums(OpBuilder &b, Block &block) {
  struct Entry {
    unsigned level;
    OpFoldResult length;
    LoopGroup group;
  };
  SmallVector<Entry> entries;
  Levels levels(b, block);
  for (Operation *op : levels.getSums()) {
    OpFoldResult length = levels.lengthOf(op);
    unsigned level = levels.get(op);
    auto *same = llvm::find_if(entries, [&](const Entry &entry) {
      return entry.level == level && isSameSize(entry.length, length);
    });
    if (same == entries.end())
      same = &entries.emplace_back(Entry{level, length, {}});
    same->group.push_back({cast<TilingInterface>(op), *getSummedLoop(op)});
  }
  llvm::stable_sort(entries, [](const Entry &a, const Entry &b) {
    return a.level < b.level;
  });
  SmallVector<LoopGroup> groups;
  for (Entry &entry : entries)
    groups.push_back(std::move(entry.group));
  return groups;
}

//===----------------------------------------------------------------------===//
// One loop
//===----------------------------------------------------------------------===//

namespace {

class SharedLoopBuilder {
public:
  SharedLoopBuilder(RewriterBase &rewriter, LoopGroup ops, Value step,
                    ProducerFuser::Filter fuses, KeepsPairs keeps)
      : b(rewriter), group(std::move(ops)), step(step), keeps(keeps),
        loc(group.front().op.getLoc()), fuser(rewriter, std::move(fuses)) {
    llvm::SmallPtrSet<Operation *, 4> inner;
    for (const LoopRoot &root : group)
      if (Operation *before =
              isSummed(root) ? getContinuedSum(root.op) : nullptr) {
        continued[root.op] = before;
        inner.insert(before);
      }
    for (const LoopRoot &root : group)
      for (OpResult result : root.op->getResults())
        if (isCarried(result) && !inner.contains(root.op))
          carried.push_back(result);
  }

  FailureOr<scf::ForOp> run() {
    b.setInsertionPoint(group.back().op);
    buildLoop();
    for (const LoopRoot &root : group)
      if (failed(tile(root)))
        return failure();
    yieldResults();
    keepPairs();
    replaceSums();
    sortTopologically(loop->getBlock());
    return loop;
  }

private:
  static bool isSummed(const LoopRoot &root) {
    return getSummedLoop(root.op) == root.loop;
  }
  static bool isCarried(OpResult result) {
    return tile::getInit(result.getOwner(), result.getResultNumber());
  }
  bool isRoot(Operation *op) const {
    return llvm::any_of(group,
                        [&](const LoopRoot &root) { return root.op == op; });
  }

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

  /// What a result starts from in the body.
  Value getCurrent(OpResult result) {
    if (Operation *before = continued.lookup(result.getOwner()))
      return values.lookup(before->getResult(0));
    return current.lookup(result);
  }

  /// The op on the loop's part, which adds to what the loop carries.
  LogicalResult tile(const LoopRoot &root) {
    TilingInterface op = root.op;
    LoopSizes sizes = getLoopSizes(b, op);
    LoopSizes offsets(sizes.size(), b.getIndexAttr(0));
    offsets[root.loop] = first;
    sizes[root.loop] = size;
    auto whole = cast<TilingInterface>(b.clone(*op));
    for (OpResult result : op->getResults())
      if (OpOperand *init = tile::getInit(whole, result.getResultNumber())) {
        Value value = getCurrent(result);
        init->set(value);
        whole->getResult(result.getResultNumber()).setType(value.getType());
      }
    FailureOr<TilingResult> tile =
        whole.getTiledImplementation(b, offsets, sizes);
    if (failed(tile))
      return op->emitOpError() << "cannot be cut in chunks";
    b.eraseOp(whole);
    Operation *tiled = tile->tiledOps.front();
    fuser.setTile(op, tiled, offsets, sizes);
    fuser.fuse(tile->generatedSlices);
    b.setInsertionPointAfter(tiled);
    for (auto [result, value] :
         llvm::zip(op->getResults(), tiled->getResults()))
      if (isCarried(result))
        values[result] = isSummed(root)
                             ? Value(value)
                             : insertPart(root, result, value, offsets, sizes);
    return success();
  }

  /// A part of a result in what the loop carries.
  Value insertPart(const LoopRoot &root, OpResult result, Value part,
                   ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes) {
    SmallVector<OpFoldResult> begin, extent;
    TilingInterface op = root.op;
    (void)op.getResultTilePosition(b, result.getResultNumber(), offsets, sizes,
                                   begin, extent);
    return insertTile(b, loc, {result, begin, extent, part},
                      getCurrent(result));
  }

  void yieldResults() {
    b.setInsertionPointToEnd(loop.getBody());
    SmallVector<Value> results;
    for (auto [result, argument] : llvm::zip(carried, loop.getRegionIterArgs()))
      results.push_back(
          castTo(b, loc, values.lookup(result), argument.getType()));
    scf::YieldOp::create(b, loc, results);
  }

  /// Pairs that something behind the loop reads are collected by it.
  void keepPairs() {
    SmallVector<ProducerFuser::Tile> kept;
    llvm::SmallPtrSet<Value, 4> known;
    for (const ProducerFuser::Tile &tile : fuser.getTiles())
      if (isCut(tile) && !isCarried(tile.whole) && keeps(tile.whole) &&
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
        return !isRoot(use.getOwner());
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
    if (hasNoElements(into.getType()))
      return into;
    SmallVector<OpFoldResult> strides(tile.offsets.size(), b.getIndexAttr(1));
    SmallVector<int64_t> shape;
    for (OpFoldResult size : tile.sizes)
      shape.push_back(isa<Attribute>(size) ? *getConstantIntValue(size)
                                           : ShapedType::kDynamic);
    auto type = cast<RankedTensorType>(into.getType()).clone(shape);
    Value part = castTo(b, loc, tile.tile, type);
    return tensor::InsertSliceOp::create(b, loc, part, into, tile.offsets,
                                         tile.sizes, strides);
  }

  void replaceSums() {
    for (auto [result, sum] : llvm::zip(carried, loop.getResults())) {
      Value value = castTo(b, loc, sum, result.getType());
      b.replaceAllUsesWith(result, value);
    }
    for (const LoopRoot &root : llvm::reverse(group))
      if (root.op->use_empty())
        b.eraseOp(root.op);
  }

  RewriterBase &b;
  LoopGroup group;
  Value step;
  KeepsPairs keeps;
  Location loc;
  ProducerFuser fuser;
  SmallVector<OpResult>
      carried; ///< sums that nothing of the group goes on with
  scf::ForOp loop;
  Value first, size;
  llvm::DenseMap<Operation *, Operation *> continued;
  llvm::DenseMap<Value, Value> current; ///< by head, what the loop carries
  llvm::DenseMap<Value, Value> values;  ///< of results, in the body
};

} // namespace

FailureOr<scf::ForOp> raytention::buildSharedLoop(RewriterBase &rewriter,
                                                  const LoopGroup &group,
                                                  Value step,
                                                  ProducerFuser::Filter fuses,
                                                  KeepsPairs keeps) {
  return SharedLoopBuilder(rewriter, group, step, std::move(fuses), keeps)
      .run();
}
