//===- TileKeysPass.cpp - independent chunks of keys ---------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/Bounds.h"
#include "passes/Tile/Cleanup.h"
#include "passes/Tile/ParallelLoop.h"
#include "passes/Tile/Passes.h"
#include "passes/Tile/ProducerFuser.h"
#include "passes/Tile/SequenceLength.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace raytention {
#define GEN_PASS_DEF_TILEKEYSPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// Builds the loop over chunks of keys of one gradient, and in it the loop over
/// the query tiles that see them.
class KeyTiler {
public:
  KeyTiler(RewriterBase &rewriter, KeyGradOp finish, KeyGradSweepOp sweep,
           int64_t chunk, int64_t tile)
      : b(rewriter), finish(finish), sweep(sweep), loc(finish.getLoc()) {
    chunkKeys = makeFunctionConstant(b, loc, chunk);
    tileRows = makeFunctionConstant(b, loc, tile);
  }

  LogicalResult run() {
    ParallelLoop loop = buildChunks();
    Value count = clip(loop.op.getInductionVar(1), numKeys, chunkKeys);
    entry = loop.op.getInductionVar(0);
    firstKey = loop.op.getInductionVar(1);
    OpFoldResult one = b.getIndexAttr(1);
    chunkOffsets = {entry, firstKey};
    chunkSizes = {one, count};
    FailureOr<scf::ForOp> rows = buildRows();
    if (failed(rows))
      return failure();
    b.setInsertionPointAfter(*rows);
    return finishChunk(loop, rows->getResults());
  }

private:
  /// min(total - first, step).
  Value clip(Value first, Value total, Value step) {
    Value left = arith::SubIOp::create(b, loc, total, first);
    return arith::MinSIOp::create(b, loc, left, step);
  }

  ParallelLoop buildChunks() {
    Value init = finish.getKeysGradIn();
    OpFoldResult length = getSize(b, loc, init, 1);
    numKeys = getValueOrCreateConstantIndexOp(b, loc, length);
    numRows = getValueOrCreateConstantIndexOp(
        b, loc, getSize(b, loc, sweep.getDistances(), 1));
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    return ParallelLoop(b, loc, {zero, zero},
                        {getSize(b, loc, init, 0), length}, {one, chunkKeys},
                        ValueRange{init});
  }

  /// The zero accumulators of the chunk.
  SmallVector<Value> buildInits() {
    SmallVector<Value> inits;
    for (Value init : sweep.getDpsInits()) {
      SmallVector<OpFoldResult> sizes = {chunkSizes[0], chunkSizes[1]};
      auto type = cast<RankedTensorType>(init.getType());
      sizes.push_back(b.getIndexAttr(type.getShape().back()));
      Value zero = arith::ConstantOp::create(
          b, loc, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
      Value empty =
          tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
      inits.push_back(linalg::FillOp::create(b, loc, zero, empty).getResult(0));
    }
    return inits;
  }

  /// The rows from the first that sees the chunk to the sequence's end.
  FailureOr<scf::ForOp> buildRows() {
    MaskInterface mask = getMaskOrCausal(b.getContext(), sweep.getMaskAttr());
    Value keyAt = getValueOrCreateConstantIndexOp(
        b, loc, addOffsets(b, loc, sweep.getKey(), firstKey));
    Value begin = mask.getSeeingBegin(b, loc, sweep.getRow(), keyAt);
    Value length =
        buildSequenceLength(b, loc, sweep.getLengths(), entry, numKeys);
    Value inside = arith::SubIOp::create(b, loc, length, sweep.getRow());
    Value end = arith::MinSIOp::create(b, loc, inside, numRows);
    auto loop = scf::ForOp::create(b, loc, begin, end, tileRows, buildInits());
    b.setInsertionPointToStart(loop.getBody());
    Value first = loop.getInductionVar();
    Value rows = clip(first, end, tileRows);
    OpFoldResult one = b.getIndexAttr(1);
    ValueRange args = loop.getRegionIterArgs();
    if (failed(buildBody(args, {entry, first, firstKey},
                         {one, rows, chunkSizes[1]})))
      return failure();
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop.getOperation()));
    return loop;
  }

  LogicalResult buildBody(ValueRange args, ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) {
    FailureOr<TilingResult> tile =
        sweep.getTiledImplementation(b, offsets, sizes);
    if (failed(tile))
      return sweep.emitOpError() << "cannot be tiled";
    auto tiled = cast<KeyGradSweepOp>(tile->tiledOps.front());
    tiled.getLengthsMutable().clear();
    SmallVector<Value> outs;
    for (auto [arg, init] : llvm::zip(args, tiled.getDpsInits()))
      outs.push_back(castTo(b, loc, arg, init.getType()));
    for (Value out : outs)
      if (Operation *cast = out.getDefiningOp<tensor::CastOp>())
        cast->moveBefore(tiled);
    tiled.getDpsInitsMutable().assign(outs);
    ProducerFuser(b).fuse(tile->generatedSlices);
    b.setInsertionPointAfter(tiled);
    SmallVector<Value> results;
    for (auto [value, arg] : llvm::zip(tiled->getResults(), args))
      results.push_back(castTo(b, loc, value, arg.getType()));
    scf::YieldOp::create(b, loc, results);
    return success();
  }

  LogicalResult finishChunk(ParallelLoop &loop, ValueRange sums) {
    auto whole = cast<KeyGradOp>(cloneOnto(b, finish, loop.args));
    FailureOr<TilingResult> tile =
        whole.getTiledImplementation(b, chunkOffsets, chunkSizes);
    if (failed(tile))
      return finish.emitOpError() << "cannot be tiled";
    auto tiled = cast<KeyGradOp>(tile->tiledOps.front());
    b.eraseOp(whole);
    tiled.getSumsMutable().assign(sums.front());
    ProducerFuser(b).fuse(tile->generatedSlices);
    SmallVector<OpFoldResult> begin, extent;
    b.setInsertionPoint(loop.op.getTerminator());
    (void)finish.getResultTilePosition(b, 0, chunkOffsets, chunkSizes, begin,
                                       extent);
    loop.insert(b, 0, tile->tiledValues.front(), begin, extent);
    b.replaceOp(finish, loop.results);
    return success();
  }

  RewriterBase &b;
  KeyGradOp finish;
  KeyGradSweepOp sweep;
  Location loc;
  Value chunkKeys, tileRows, numKeys, numRows, entry, firstKey;
  SmallVector<OpFoldResult> chunkOffsets, chunkSizes;
};

struct TileKeysPass : public raytention::impl::TileKeysPassBase<TileKeysPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isFused(func))
      return;
    FailureOr<int64_t> chunk =
        chooseSize(func, "key-chunk", keyChunk, &ScheduleAttr::getKeyChunk);
    FailureOr<int64_t> tile =
        chooseSize(func, "query-tile", queryTile, &ScheduleAttr::getQueryTile);
    if (failed(chunk) || failed(tile))
      return signalPassFailure();
    SmallVector<KeyGradOp> finishes;
    func.walk([&](KeyGradOp op) {
      if (!op->getParentOfType<scf::ForallOp>())
        finishes.push_back(op);
    });
    for (KeyGradOp finish : finishes) {
      auto sweep = finish.getSums().getDefiningOp<KeyGradSweepOp>();
      if (!sweep) {
        finish.emitOpError() << "expected its sums from rt.key_grad_sweep";
        return signalPassFailure();
      }
      IRRewriter rewriter(finish);
      if (failed(KeyTiler(rewriter, finish, sweep, *chunk, *tile).run()))
        return signalPassFailure();
      ++numTiled;
    }
    if (!finishes.empty())
      cleanUp(func);
  }
};

} // namespace
