//===- TileQueriesPass.cpp - batch entries and tiles of rows ----*- C++ -*-===//
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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace raytention {
#define GEN_PASS_DEF_TILEQUERIESPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// An attention at stage 2.
struct Attention {
  FinalizeOp finish;
  ScoreSweepOp score;
  ReduceSweepOp reduce;
};

/// Looks through the casts that canonicalisation leaves.
template <typename Op> Op getSweep(Value state) {
  while (auto cast = state.getDefiningOp<tensor::CastOp>())
    state = cast.getSource();
  return state.getDefiningOp<Op>();
}

/// Whether a state comes from loops of the later passes.
bool isTiled(Value state) {
  while (auto cast = state.getDefiningOp<tensor::CastOp>())
    state = cast.getSource();
  Operation *op = state.getDefiningOp();
  return isa_and_nonnull<scf::ForOp, scf::ForallOp, MergeOp>(op);
}

/// Builds the loop over tiles of one attention.
class QueryTiler {
public:
  QueryTiler(RewriterBase &rewriter, Attention attention, int64_t tile)
      : b(rewriter), op(attention), loc(op.finish.getLoc()), fuser(rewriter) {
    tileRows = makeFunctionConstant(b, loc, tile);
  }

  LogicalResult run() {
    ParallelLoop loop = buildLoop();
    buildRange(loop.op);
    if (failed(tileSweep(op.score)) || failed(tileSweep(op.reduce)))
      return failure();
    FailureOr<TilingResult> finish = tileFinish(loop);
    if (failed(finish))
      return failure();
    insertResults(loop, finish->tiledValues);
    b.replaceOp(op.finish, loop.results);
    return success();
  }

private:
  ParallelLoop buildLoop() {
    Value norm = op.finish.getNormIn();
    numRows = getSize(b, loc, norm, 1);
    numKeys = getValueOrCreateConstantIndexOp(
        b, loc, getSize(b, loc, op.score.getDistances(), 2));
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    return ParallelLoop(b, loc, {zero, zero},
                        {getSize(b, loc, norm, 0), numRows}, {one, tileRows},
                        op.finish.getDpsInits());
  }

  /// Offsets and sizes of the tile: (batch, row, key).
  void buildRange(scf::ForallOp loop) {
    Value entry = loop.getInductionVar(0), first = loop.getInductionVar(1);
    Value total = getValueOrCreateConstantIndexOp(b, loc, numRows);
    Value left = arith::SubIOp::create(b, loc, total, first);
    Value rows = arith::MinSIOp::create(b, loc, left, tileRows);
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    offsets = {entry, first, zero};
    sizes = {one, rows, buildVisibleEnd(entry, first, rows)};
  }

  /// One past the last key that any row of the tile sees.
  Value buildVisibleEnd(Value entry, Value first, Value rows) {
    Value row = getValueOrCreateConstantIndexOp(
        b, loc, addOffsets(b, loc, op.score.getRow(), first));
    Value length = numKeys;
    if (Value lengths = op.score.getLengths()) {
      Value own = tensor::ExtractOp::create(b, loc, lengths, entry);
      length = arith::IndexCastOp::create(b, loc, b.getIndexType(), own);
      // Holds against a wrong length, and bounds the range from outside.
      length = arith::MinSIOp::create(b, loc, length, numKeys);
    }
    auto mask = cast<MaskInterface>(op.score.getMask().value_or(
        Attribute(CausalAttr::get(b.getContext()))));
    Value end = mask.getVisibleEnd(b, loc, row, rows, length);
    // A row before position 0, or a negative length, sees nothing.
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    return arith::MaxSIOp::create(b, loc, end, zero);
  }

  /// The sweep on the tile's rows and its visible keys, which stand for the
  /// length too.
  template <typename Op> LogicalResult tileSweep(Op sweep) {
    FailureOr<TilingResult> tile =
        cast<TilingInterface>(sweep.getOperation())
            .getTiledImplementation(b, offsets, sizes);
    if (failed(tile))
      return sweep.emitOpError() << "cannot be tiled";
    auto tiled = cast<Op>(tile->tiledOps.front());
    tiled.getLengthsMutable().clear();
    fuser.setTile(sweep, tiled->getResults());
    fuser.fuse(tile->generatedSlices);
    b.setInsertionPointAfter(tiled);
    return success();
  }

  FailureOr<TilingResult> tileFinish(const ParallelLoop &loop) {
    auto whole = cast<FinalizeOp>(cloneOnto(b, op.finish, loop.args));
    ArrayRef<OpFoldResult> rowOffsets(offsets), rowSizes(sizes);
    FailureOr<TilingResult> tile = whole.getTiledImplementation(
        b, rowOffsets.take_front(2), rowSizes.take_front(2));
    if (failed(tile))
      return op.finish.emitOpError() << "cannot be tiled";
    b.eraseOp(whole);
    fuser.fuse(tile->generatedSlices);
    return tile;
  }

  void insertResults(ParallelLoop &loop, ValueRange values) {
    ArrayRef<OpFoldResult> rowOffsets(offsets), rowSizes(sizes);
    for (auto [number, value] : llvm::enumerate(values)) {
      SmallVector<OpFoldResult> begin, extent;
      b.setInsertionPoint(loop.op.getTerminator());
      (void)op.finish.getResultTilePosition(b, number, rowOffsets.take_front(2),
                                            rowSizes.take_front(2), begin,
                                            extent);
      loop.insert(b, number, value, begin, extent);
    }
  }

  RewriterBase &b;
  Attention op;
  Location loc;
  ProducerFuser fuser;
  Value tileRows;
  OpFoldResult numRows;
  Value numKeys;
  SmallVector<OpFoldResult> offsets, sizes;
};

struct TileQueriesPass
    : public raytention::impl::TileQueriesPassBase<TileQueriesPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    FailureOr<int64_t> tile =
        chooseSize(func, "query-tile", queryTile, &ScheduleAttr::getQueryTile);
    if (failed(tile))
      return signalPassFailure();
    SmallVector<Attention> attentions;
    if (failed(collect(func, attentions)))
      return signalPassFailure();
    for (Attention attention : attentions) {
      IRRewriter rewriter(attention.finish);
      if (failed(QueryTiler(rewriter, attention, *tile).run()))
        return signalPassFailure();
      ++numTiled;
    }
    if (!attentions.empty())
      cleanUp(func);
  }

  LogicalResult collect(func::FuncOp func, SmallVector<Attention> &attentions) {
    WalkResult walked = func.walk([&](FinalizeOp finish) {
      Value score = finish.getScoreFloats(), reduce = finish.getReduceFloats();
      if (finish->getParentOfType<scf::ForallOp>() || isTiled(score) ||
          isTiled(reduce))
        return WalkResult::advance();
      Attention found = {finish, getSweep<ScoreSweepOp>(score),
                         getSweep<ReduceSweepOp>(reduce)};
      if (!found.score || !found.reduce || !found.reduce.getSums()) {
        finish.emitOpError() << "expected its states from rt.score_sweep and "
                                "rt.reduce_sweep with sums";
        return WalkResult::interrupt();
      }
      attentions.push_back(found);
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }
};

} // namespace
