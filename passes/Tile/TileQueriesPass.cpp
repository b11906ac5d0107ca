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
#include "passes/Tile/SequenceLength.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace raytention {
#define GEN_PASS_DEF_TILEQUERIESPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// A finish at stage 2, whose rows are independent, and the sweeps it reads.
struct Root {
  Operation *finish;
  SmallVector<Operation *> sweeps;
  Value distances, row, lengths;
  Attribute mask;
};

/// `model` is the sweep that says where the pairs stand.
template <typename Op>
Root makeRoot(Operation *finish, ArrayRef<Operation *> sweeps, Op model) {
  return {finish,
          SmallVector<Operation *>(sweeps),
          model.getDistances(),
          model.getRow(),
          model.getLengths(),
          model.getMaskAttr()};
}

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
  QueryTiler(RewriterBase &rewriter, Root root, int64_t tile)
      : b(rewriter), root(std::move(root)), loc(this->root.finish->getLoc()),
        fuser(rewriter) {
    tileRows = makeFunctionConstant(b, loc, tile);
  }

  LogicalResult run() {
    ParallelLoop loop = buildLoop();
    buildRange(loop.op);
    for (Operation *sweep : root.sweeps)
      if (failed(tileSweep(sweep)))
        return failure();
    FailureOr<TilingResult> finish = tileFinish(loop);
    if (failed(finish))
      return failure();
    insertResults(loop, finish->tiledValues);
    b.replaceOp(root.finish, loop.results);
    return success();
  }

private:
  ParallelLoop buildLoop() {
    auto finish = cast<DestinationStyleOpInterface>(root.finish);
    Value first = finish.getDpsInits().front();
    numRows = getSize(b, loc, first, 1);
    numKeys = getValueOrCreateConstantIndexOp(
        b, loc, getSize(b, loc, root.distances, 2));
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    return ParallelLoop(b, loc, {zero, zero},
                        {getSize(b, loc, first, 0), numRows}, {one, tileRows},
                        finish.getDpsInits());
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
        b, loc, addOffsets(b, loc, root.row, first));
    Value length = buildSequenceLength(b, loc, root.lengths, entry, numKeys);
    return raytention::buildVisibleEnd(b, loc, root.mask, row, rows, length);
  }

  /// The sweep on the tile's rows and its visible keys, which stand for the
  /// length too.
  LogicalResult tileSweep(Operation *sweep) {
    FailureOr<TilingResult> tile =
        cast<TilingInterface>(sweep).getTiledImplementation(b, offsets, sizes);
    if (failed(tile))
      return sweep->emitOpError() << "cannot be tiled";
    Operation *tiled = tile->tiledOps.front();
    llvm::TypeSwitch<Operation *>(tiled)
        .Case<ScoreSweepOp, ReduceSweepOp, QueryGradSweepOp>(
            [](auto op) { op.getLengthsMutable().clear(); });
    fuser.setTile(sweep, tiled->getResults());
    fuser.fuse(tile->generatedSlices);
    b.setInsertionPointAfter(tiled);
    return success();
  }

  FailureOr<TilingResult> tileFinish(const ParallelLoop &loop) {
    Operation *whole = cloneOnto(b, root.finish, loop.args);
    ArrayRef<OpFoldResult> rowOffsets(offsets), rowSizes(sizes);
    FailureOr<TilingResult> tile =
        cast<TilingInterface>(whole).getTiledImplementation(
            b, rowOffsets.take_front(2), rowSizes.take_front(2));
    if (failed(tile))
      return root.finish->emitOpError() << "cannot be tiled";
    b.eraseOp(whole);
    fuser.fuse(tile->generatedSlices);
    return tile;
  }

  void insertResults(ParallelLoop &loop, ValueRange values) {
    ArrayRef<OpFoldResult> rowOffsets(offsets), rowSizes(sizes);
    for (auto [number, value] : llvm::enumerate(values)) {
      SmallVector<OpFoldResult> begin, extent;
      b.setInsertionPoint(loop.op.getTerminator());
      (void)cast<TilingInterface>(root.finish)
          .getResultTilePosition(b, number, rowOffsets.take_front(2),
                                 rowSizes.take_front(2), begin, extent);
      loop.insert(b, number, value, begin, extent);
    }
  }

  RewriterBase &b;
  Root root;
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
    if (!isFused(func))
      return;
    FailureOr<int64_t> tile =
        chooseSize(func, "query-tile", queryTile, &ScheduleAttr::getQueryTile);
    if (failed(tile))
      return signalPassFailure();
    SmallVector<Root> roots;
    if (failed(collect(func, roots)))
      return signalPassFailure();
    for (Root &root : roots) {
      IRRewriter rewriter(root.finish);
      if (failed(QueryTiler(rewriter, root, *tile).run()))
        return signalPassFailure();
      ++numTiled;
    }
    if (!roots.empty())
      cleanUp(func);
  }

  /// Every finish that is not tiled yet.
  LogicalResult collect(func::FuncOp func, SmallVector<Root> &roots) {
    WalkResult walked = func.walk([&](Operation *op) {
      if (op->getParentOfType<scf::ForallOp>())
        return WalkResult::advance();
      LogicalResult ok = llvm::TypeSwitch<Operation *, LogicalResult>(op)
                             .Case<FinalizeOp, QueryGradOp>([&](auto finish) {
                               return add(finish, roots);
                             })
                             .Default([](Operation *) { return success(); });
      return failed(ok) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  LogicalResult add(FinalizeOp finish, SmallVector<Root> &roots) {
    Value score = finish.getScoreFloats(), reduce = finish.getReduceFloats();
    if (isTiled(score) || isTiled(reduce))
      return success();
    auto scoreSweep = getSweep<ScoreSweepOp>(score);
    auto reduceSweep = getSweep<ReduceSweepOp>(reduce);
    if (!scoreSweep || !reduceSweep || !reduceSweep.getSums())
      return finish.emitOpError() << "expected its states from rt.score_sweep "
                                     "and rt.reduce_sweep with sums";
    roots.push_back(makeRoot(finish, {scoreSweep, reduceSweep}, scoreSweep));
    return success();
  }

  LogicalResult add(QueryGradOp finish, SmallVector<Root> &roots) {
    if (isTiled(finish.getFloats()))
      return success();
    auto sweep = getSweep<QueryGradSweepOp>(finish.getFloats());
    if (!sweep)
      return finish.emitOpError()
             << "expected its accumulators from rt.query_grad_sweep";
    roots.push_back(makeRoot(finish, {sweep}, sweep));
    return success();
  }
};

} // namespace
