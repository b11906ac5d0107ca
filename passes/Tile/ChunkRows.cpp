//===- ChunkRows.cpp - a loop over chunks of rows ------------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/ChunkRows.h"
#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/Bounds.h"
#include "passes/Tile/Cleanup.h"
#include "passes/Tile/SharedLoop.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;
using namespace raytention;

/// What adds up over rows for the finish of keys, first to last.
static void addSums(KeyGradOp finish, LoopGroup &group) {
  LoopGroup sums;
  Operation *op = finish.getSums().getDefiningOp();
  for (; op; op = getContinuedSum(op))
    if (std::optional<unsigned> loop = getSummedLoop(op))
      sums.push_back({cast<TilingInterface>(op), *loop});
  group.append(sums.rbegin(), sums.rend());
}

/// Chunks of an empty tensor are as small as the chunk.
static LogicalResult shrinkEmptyTensors(func::FuncOp func) {
  RewritePatternSet patterns(func.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  return applyPatternsGreedily(func, std::move(patterns));
}

LogicalResult raytention::chunkRows(func::FuncOp func, int64_t chunk) {
  if (chunk == 0)
    return success();
  LoopGroup group, sums;
  func.walk([&](Operation *op) {
    if (op->getParentOp() != func) // else it has its loops
      return;
    if (isa<FinalizeOp, QueryGradOp>(op))
      group.push_back({cast<TilingInterface>(op), 1});
    if (auto finish = dyn_cast<KeyGradOp>(op))
      addSums(finish, sums);
  });
  group.append(sums);
  if (group.empty())
    return success();
  IRRewriter rewriter(func);
  rewriter.setInsertionPoint(group.front().op);
  Value step = makeFunctionConstant(rewriter, func.getLoc(), chunk);
  auto isInChunk = [](OpResult producer) {
    return !isa<LookupOp>(producer.getOwner());
  };
  FailureOr<scf::ForOp> loop = buildSharedLoop(
      rewriter, group, step, isInChunk, [](OpResult) { return false; });
  if (failed(loop))
    return failure();
  moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop->getOperation()));
  cleanUp(func);
  return shrinkEmptyTensors(func);
}
