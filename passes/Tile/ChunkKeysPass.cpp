//===- ChunkKeysPass.cpp - sweeps chunk by chunk of keys --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/Bounds.h"
#include "passes/Tile/Cleanup.h"
#include "passes/Tile/Passes.h"
#include "passes/Tile/ProducerFuser.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace raytention {
#define GEN_PASS_DEF_CHUNKKEYSPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

constexpr unsigned kKeyAxis = 2;

/// Builds the loop over chunks of one sweep, score or reduce.
class KeyChunker {
public:
  KeyChunker(RewriterBase &rewriter, Operation *sweep, Value chunk)
      : b(rewriter), sweep(sweep), loc(sweep->getLoc()), chunk(chunk) {
    Value distances = sweep->getOperand(0);
    for (int64_t axis = 0; axis < 3; ++axis)
      domain.push_back(getTypedSize(b, loc, distances, axis));
    numKeys = getValueOrCreateConstantIndexOp(b, loc, domain[kKeyAxis]);
  }

  /// Replaces the sweep; where its distances are to be kept, `kept` is set to
  /// all of them.
  LogicalResult run(bool keep, Value &kept) {
    SmallVector<Value> inits(
        cast<DestinationStyleOpInterface>(sweep).getDpsInits());
    size_t numStates = inits.size();
    if (keep)
      inits.push_back(tensor::EmptyOp::create(
          b, loc, domain, getElementTypeOrSelf(sweep->getOperand(0))));
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    auto loop = scf::ForOp::create(b, loc, zero, numKeys, chunk, inits);
    b.setInsertionPointToStart(loop.getBody());
    FailureOr<SmallVector<Value>> states = buildBody(loop, numStates);
    if (failed(states))
      return failure();
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, loc, *states);
    if (keep)
      kept = loop.getResults().back();
    b.replaceOp(sweep, loop.getResults().take_front(numStates));
    return success();
  }

private:
  FailureOr<SmallVector<Value>> buildBody(scf::ForOp loop, size_t numStates) {
    Value first = loop.getInductionVar();
    Value left = arith::SubIOp::create(b, loc, numKeys, first);
    Value size = arith::MinSIOp::create(b, loc, left, chunk);
    OpFoldResult zero = b.getIndexAttr(0);
    SmallVector<OpFoldResult> offsets = {zero, zero, first};
    SmallVector<OpFoldResult> sizes = {domain[0], domain[1], size};
    ValueRange args = loop.getRegionIterArgs();
    Operation *whole = cloneOnto(b, sweep, args.take_front(numStates));
    FailureOr<TilingResult> tile =
        cast<TilingInterface>(whole).getTiledImplementation(b, offsets, sizes);
    if (failed(tile))
      return sweep->emitOpError() << "cannot be cut in chunks";
    b.eraseOp(whole);
    ProducerFuser(b).fuse(tile->generatedSlices);
    Operation *tiled = tile->tiledOps.front();
    b.setInsertionPointAfter(tiled);
    SmallVector<Value> states;
    for (auto [value, arg] : llvm::zip(tiled->getResults(), args))
      states.push_back(castTo(b, loc, value, arg.getType()));
    if (args.size() > numStates)
      states.push_back(
          keepChunk(tiled->getOperand(0), args.back(), offsets, sizes));
    return states;
  }

  Value keepChunk(Value distances, Value kept, ArrayRef<OpFoldResult> offsets,
                  ArrayRef<OpFoldResult> sizes) {
    if (hasNoElements(kept.getType()))
      return kept;
    SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
    return tensor::InsertSliceOp::create(b, loc, distances, kept, offsets,
                                         sizes, strides);
  }

  RewriterBase &b;
  Operation *sweep;
  Location loc;
  Value chunk, numKeys;
  SmallVector<OpFoldResult> domain;
};

bool isChunked(Operation *sweep) {
  return isa<scf::ForOp>(sweep->getParentOp());
}

struct ChunkKeysPass
    : public raytention::impl::ChunkKeysPassBase<ChunkKeysPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isFused(func))
      return;
    FailureOr<int64_t> size =
        chooseSize(func, "key-chunk", keyChunk, &ScheduleAttr::getKeyChunk);
    FailureOr<bool> keep = choosePlan(func);
    if (failed(size) || failed(keep))
      return signalPassFailure();
    dropIdleSweeps(func);
    SmallVector<Operation *> sweeps;
    func.walk([&](Operation *op) {
      if (isa<ScoreSweepOp, ReduceSweepOp, QueryGradSweepOp>(op) &&
          !isChunked(op))
        sweeps.push_back(op);
    });
    if (sweeps.empty())
      return;
    IRRewriter rewriter(func);
    rewriter.setInsertionPointToStart(&func.getBody().front());
    Value chunk = makeFunctionConstant(rewriter, func.getLoc(), *size);
    for (Operation *sweep : sweeps)
      if (failed(chunkSweep(rewriter, sweep, chunk, *keep)))
        return signalPassFailure();
    cleanUp(func);
  }

  FailureOr<bool> choosePlan(func::FuncOp func) {
    if (scores != ScoreChoice::FromSchedule)
      return scores == ScoreChoice::Keep;
    FailureOr<ScheduleAttr> schedule = getSchedule(func);
    if (failed(schedule))
      return failure();
    return schedule->getScores() == ScorePlan::Keep;
  }

  void dropIdleSweeps(func::FuncOp func) {
    func.walk([&](ReduceSweepOp op) {
      if (!isIdle(op))
        return;
      SmallVector<Value> inits(op.getDpsInits());
      op->replaceAllUsesWith(inits);
      op->erase();
      ++numIdle;
    });
  }

  LogicalResult chunkSweep(IRRewriter &rewriter, Operation *sweep, Value chunk,
                           bool keep) {
    rewriter.setInsertionPoint(sweep);
    auto score = dyn_cast<ScoreSweepOp>(sweep);
    ReduceSweepOp reader = keep && score ? findReader(score) : ReduceSweepOp();
    Value kept;
    if (failed(KeyChunker(rewriter, sweep, chunk).run(bool(reader), kept)))
      return failure();
    ++numChunked;
    if (reader) {
      reader.getDistancesMutable().assign(kept);
      ++numKept;
    }
    return success();
  }

  /// The reduce sweep that can read what a score sweep kept: one of the same
  /// distances, later in the same block.
  ReduceSweepOp findReader(ScoreSweepOp score) {
    if (!score.getDistances().getDefiningOp<DistanceOp>())
      return {};
    for (Operation *user : score.getDistances().getUsers()) {
      auto reduce = dyn_cast<ReduceSweepOp>(user);
      if (reduce && reduce->getBlock() == score->getBlock() &&
          score->isBeforeInBlock(reduce) &&
          reduce.getDistances() == score.getDistances())
        return reduce;
    }
    return {};
  }
};

} // namespace
