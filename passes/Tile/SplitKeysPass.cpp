//===- SplitKeysPass.cpp - sweeps over independent key ranges ---*- C++ -*-===//
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

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace raytention {
#define GEN_PASS_DEF_SPLITKEYSPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

constexpr unsigned kKeyAxis = 2;
constexpr auto kStrategy =
    ReductionTilingStrategy::PartialReductionOuterParallel;

/// Builds the loop over key ranges of one sweep.
class KeySplitter {
public:
  KeySplitter(RewriterBase &rewriter, PartialReductionOpInterface sweep,
              Value ways)
      : b(rewriter), sweep(sweep), loc(sweep.getLoc()), ways(ways) {
    Value distances = sweep->getOperand(0);
    for (int64_t axis = 0; axis < 3; ++axis)
      domain.push_back(getTypedSize(b, loc, distances, axis));
    numKeys = getValueOrCreateConstantIndexOp(b, loc, domain[kKeyAxis]);
    axes.insert(kKeyAxis);
  }

  LogicalResult run() {
    Value length = arith::CeilDivSIOp::create(b, loc, numKeys, ways);
    FailureOr<SmallVector<Value>> partials =
        sweep.generateInitialTensorForPartialReduction(
            b, loc, {domain[0], domain[1], length}, axes);
    if (failed(partials))
      return sweep->emitOpError() << "has no partial state";
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    ParallelLoop loop(b, loc, {zero}, {ways}, {one}, *partials);
    buildRange(loop.op.getInductionVar(0), length);
    if (failed(tilePart(loop)))
      return sweep->emitOpError() << "cannot be split";
    b.setInsertionPointAfter(loop.op);
    FailureOr<MergeResult> merged =
        sweep.mergeReductions(b, loc, loop.results, axes);
    if (failed(merged))
      return sweep->emitOpError() << "has no merge";
    b.replaceOp(sweep, merged->replacements);
    return success();
  }

private:
  /// The part's keys, [min(part * length, keys), at most length).
  void buildRange(Value part, Value length) {
    Value start = arith::MulIOp::create(b, loc, part, length);
    Value first = arith::MinSIOp::create(b, loc, start, numKeys);
    Value left = arith::SubIOp::create(b, loc, numKeys, first);
    Value size = arith::MinSIOp::create(b, loc, left, length);
    OpFoldResult zero = b.getIndexAttr(0);
    offsets = {zero, zero, first};
    sizes = {domain[0], domain[1], size};
    parts = {part};
  }

  LogicalResult tilePart(ParallelLoop &loop) {
    FailureOr<TilingResult> tile = sweep.tileToPartialReduction(
        b, loc, kStrategy, loop.args, offsets, sizes, axes, parts);
    if (failed(tile))
      return failure();
    ProducerFuser(b).fuse(tile->generatedSlices);
    for (auto [number, value] : llvm::enumerate(tile->tiledValues)) {
      SmallVector<OpFoldResult> begin, extent;
      b.setInsertionPoint(loop.op.getTerminator());
      if (failed(sweep.getPartialResultTilePosition(b, number, kStrategy,
                                                    offsets, sizes, axes, parts,
                                                    begin, extent)))
        return failure();
      loop.insert(b, number, value, begin, extent);
    }
    return success();
  }

  RewriterBase &b;
  PartialReductionOpInterface sweep;
  Location loc;
  Value ways, numKeys;
  llvm::SetVector<unsigned> axes;
  SmallVector<OpFoldResult> domain, offsets, sizes, parts;
};

/// Whether a sweep adds to one part of a partial state [B, P, ...].
bool isPart(Operation *sweep) {
  auto inits = cast<DestinationStyleOpInterface>(sweep).getDpsInits();
  return llvm::any_of(inits, [](Value init) {
    auto slice = init.getDefiningOp<tensor::ExtractSliceOp>();
    return slice && slice.getSourceType().getRank() > slice.getType().getRank();
  });
}

struct SplitKeysPass
    : public raytention::impl::SplitKeysPassBase<SplitKeysPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isFused(func))
      return;
    FailureOr<int64_t> count =
        chooseSize(func, "ways", ways, &ScheduleAttr::getSplitKeys);
    if (failed(count))
      return signalPassFailure();
    SmallVector<PartialReductionOpInterface> sweeps;
    func.walk([&](Operation *op) {
      if (isa<ScoreSweepOp, ReduceSweepOp>(op) && !isPart(op) &&
          !isa<scf::ForOp>(op->getParentOp()))
        sweeps.push_back(cast<PartialReductionOpInterface>(op));
    });
    if (*count == 1 || sweeps.empty())
      return;
    for (PartialReductionOpInterface sweep : sweeps) {
      IRRewriter rewriter(sweep);
      Value numWays = makeFunctionConstant(rewriter, sweep.getLoc(), *count);
      if (failed(KeySplitter(rewriter, sweep, numWays).run()))
        return signalPassFailure();
      ++numSplit;
    }
    cleanUp(func);
  }
};

} // namespace
