//===- FuseChannelsPass.cpp - stacked weights, one product ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"
#include "passes/Fuse/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace raytention {
#define GEN_PASS_DEF_FUSECHANNELSPASS
#include "passes/Fuse/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// The stacked weights [B, C, Tq, n] of a chunk.
Value buildWeights(OpBuilder &b, ReduceSweepOp op, int64_t numWeighted) {
  auto distances = cast<RankedTensorType>(op.getDistances().getType());
  auto type =
      distances.clone({distances.getDimSize(0), numWeighted,
                       distances.getDimSize(1), distances.getDimSize(2)});
  return WeighOp::create(
      b, op.getLoc(), type, op.getDistances(), op.getScoreState(), op.getTau(),
      op.getGammas(), op.getRow(), op.getKey(), op.getLengths(),
      op.getKeyPositions(), op.getKeyMasses(), op.getChannelsAttr(),
      op.getScoreChannelsAttr(), op.getMaskAttr());
}

/// `sums[b, c, i, d] += sum_j weights[b, c, i, j] keys[b, j, d]`.
Value buildProduct(OpBuilder &b, ReduceSweepOp op, Value weights) {
  AffineExpr batch, channel, row, width, key;
  bindDims(b.getContext(), batch, channel, row, width, key);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(5, 0, results, b.getContext());
  };
  ArrayAttr maps = b.getAffineMapArrayAttr({map({batch, channel, row, key}),
                                            map({batch, key, width}),
                                            map({batch, channel, row, width})});
  return linalg::ContractOp::create(b, op.getLoc(),
                                    TypeRange{op.getSumsIn().getType()},
                                    ValueRange{weights, op.getKeys()},
                                    ValueRange{op.getSumsIn()}, maps)
      ->getResult(0);
}

/// The sweep without its sums.
ReduceSweepOp buildScalarSweep(OpBuilder &b, ReduceSweepOp op) {
  return ReduceSweepOp::create(
      b, op.getLoc(),
      TypeRange{op.getFloats().getType(), op.getPositions().getType()},
      op.getDistances(), op.getScoreState(), op.getTau(), op.getGammas(),
      Value(), op.getRow(), op.getKey(), op.getLengths(), op.getFloatsIn(),
      op.getPositionsIn(), Value(), op.getKeyPositions(), op.getKeyMasses(),
      op.getChannelsAttr(), op.getScoreChannelsAttr(), op.getMaskAttr());
}

struct FuseChannelsPass
    : public raytention::impl::FuseChannelsPassBase<FuseChannelsPass> {
  void runOnOperation() override {
    SmallVector<ReduceSweepOp> sweeps;
    getOperation().walk([&](ReduceSweepOp op) {
      if (op.getSums())
        sweeps.push_back(op);
    });
    for (ReduceSweepOp op : sweeps)
      fuse(op);
  }

  void fuse(ReduceSweepOp op) {
    IRRewriter rewriter(op);
    SweepLayout layout = SweepLayout::get(op.getChannels());
    Value sums = op.getSumsIn();
    if (layout.numWeighted > 0) {
      sums = buildProduct(rewriter, op,
                          buildWeights(rewriter, op, layout.numWeighted));
      ++numFused;
      numStacked += layout.numWeighted;
    }
    if (layout.numFloats(SweepKind::Reduce) == 0 &&
        layout.numInts(SweepKind::Reduce) == 0) {
      ++numDropped;
      rewriter.replaceOp(op, {op.getFloatsIn(), op.getPositionsIn(), sums});
      return;
    }
    ReduceSweepOp scalar = buildScalarSweep(rewriter, op);
    rewriter.replaceOp(op, {scalar.getFloats(), scalar.getPositions(), sums});
  }
};

} // namespace
