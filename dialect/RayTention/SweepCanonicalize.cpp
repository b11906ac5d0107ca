//===- SweepCanonicalize.cpp - dead and equal channels ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace raytention;

namespace {

/// The same initial state for another list of channels.
InitOp rebuildInit(PatternRewriter &rewriter, InitOp init, ArrayAttr channels) {
  SweepLayout layout = SweepLayout::get(channels);
  SweepKind kind = init.getSweep();
  auto resize = [](Value state, int64_t fields) {
    auto type = cast<RankedTensorType>(state.getType());
    return type.clone({type.getDimSize(0), type.getDimSize(1), fields});
  };
  return InitOp::create(
      rewriter, init.getLoc(), resize(init.getFloats(), layout.numFloats(kind)),
      resize(init.getPositions(), layout.numInts(kind)), init.getSweepAttr(),
      channels, init.getBatch(), init.getRows(), init.getParts());
}

/// Zero sums [B, C, Tq, D] for another number C of weighted channels.
Value rebuildSums(PatternRewriter &rewriter, linalg::FillOp fill,
                  int64_t numWeighted) {
  auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
  RankedTensorType type = empty.getType();
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = numWeighted;
  Value resized = tensor::EmptyOp::create(
      rewriter, fill.getLoc(), type.clone(shape), empty.getDynamicSizes());
  return linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs()[0],
                                resized)
      .getResult(0);
}

/// Whole-tensor sweeps carry exactly the distinct channels that rt.finalize
/// finishes: a dead channel disappears, equal ones are computed once.
struct SweepUsedChannels : public OpRewritePattern<FinalizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(FinalizeOp op,
                                PatternRewriter &rewriter) const override {
    llvm::SetVector<Attribute> used(op.getChannels().begin(),
                                    op.getChannels().end());
    ArrayAttr channels = rewriter.getArrayAttr(used.getArrayRef());
    if (channels == op.getSweepChannels())
      return rewriter.notifyMatchFailure(op, "every swept channel is used");
    auto score = op.getScoreFloats().getDefiningOp<ScoreSweepOp>();
    auto reduce = op.getReduceFloats().getDefiningOp<ReduceSweepOp>();
    if (!score || !reduce || !reduce.getSums())
      return rewriter.notifyMatchFailure(op, "the sweeps are tiled already");
    if (score.getKeyPositions() || reduce.getKeyPositions())
      return rewriter.notifyMatchFailure(op, "keys stand in a list");
    if (op.getReduceChannels() || reduce.getScoreChannels())
      return rewriter.notifyMatchFailure(op, "the sweeps have several lists");
    auto scoreInit = score.getFloatsIn().getDefiningOp<InitOp>();
    auto reduceInit = reduce.getFloatsIn().getDefiningOp<InitOp>();
    auto sumsInit = reduce.getSumsIn().getDefiningOp<linalg::FillOp>();
    if (!scoreInit || !reduceInit || !sumsInit ||
        !sumsInit.getOutputs()[0].getDefiningOp<tensor::EmptyOp>())
      return rewriter.notifyMatchFailure(op, "the initial states are opaque");
    rebuild(rewriter, op, score, reduce, scoreInit, reduceInit, sumsInit,
            channels);
    return success();
  }

  void rebuild(PatternRewriter &rewriter, FinalizeOp op, ScoreSweepOp score,
               ReduceSweepOp reduce, InitOp scoreInit, InitOp reduceInit,
               linalg::FillOp sumsInit, ArrayAttr channels) const {
    SweepLayout layout = SweepLayout::get(channels);
    InitOp init = rebuildInit(rewriter, scoreInit, channels);
    auto newScore = ScoreSweepOp::create(
        rewriter, score.getLoc(), init->getResultTypes(), score.getDistances(),
        score.getTau(), score.getGammas(), score.getRow(), score.getKey(),
        init.getFloats(), init.getPositions(), score.getLengths(), Value(),
        Value(), channels, score.getMaskAttr());
    InitOp rinit = rebuildInit(rewriter, reduceInit, channels);
    Value sums = rebuildSums(rewriter, sumsInit, layout.numWeighted);
    auto newReduce = ReduceSweepOp::create(
        rewriter, reduce.getLoc(),
        TypeRange{rinit.getFloats().getType(), rinit.getPositions().getType(),
                  sums.getType()},
        reduce.getDistances(), newScore.getFloats(), reduce.getTau(),
        reduce.getGammas(), reduce.getKeys(), reduce.getRow(), reduce.getKey(),
        reduce.getLengths(), rinit.getFloats(), rinit.getPositions(), sums,
        Value(), Value(), channels, ArrayAttr(), reduce.getMaskAttr());
    rewriter.modifyOpInPlace(op, [&] {
      op.setSweepChannelsAttr(channels);
      op.getScoreFloatsMutable().assign(newScore.getFloats());
      op.getScorePositionsMutable().assign(newScore.getPositions());
      op.getReduceFloatsMutable().assign(newReduce.getFloats());
      op.getReducePositionsMutable().assign(newReduce.getPositions());
      op.getSumsMutable().assign(newReduce.getSums());
    });
  }
};

} // namespace

void FinalizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<SweepUsedChannels>(context);
}
