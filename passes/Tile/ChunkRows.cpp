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
static LoopGroup getSums(KeyGradOp finish) {
  LoopGroup sums;
  Operation *op = finish.getSums().getDefiningOp();
  for (; op; op = getContinuedSum(op))
    if (std::optional<unsigned> loop = getSummedLoop(op))
      sums.push_back({cast<TilingInterface>(op), *loop});
  return LoopGroup(llvm::reverse(sums));
}

/// Whether a gradient's queries and sums over its keys read the same pairs.
static bool isSameGradient(Operation *finish, const LoopGroup &sums) {
  auto queries = dyn_cast<QueryGradOp>(finish);
  Operation *pairs = queries ? queries.getFloats().getDefiningOp() : nullptr;
  return pairs && llvm::any_of(sums, [&](LoopRoot root) {
           auto differences =
               dyn_cast<SumDifferencesOp>(root.op.getOperation());
           return differences &&
                  differences.getCoefficients().getDefiningOp() == pairs;
         });
}

/// Whether another finish reads the same sums.
static bool isKnown(ArrayRef<LoopGroup> groups, LoopRoot sum) {
  return llvm::any_of(groups, [&](const LoopGroup &group) {
    return llvm::any_of(group,
                        [&](LoopRoot root) { return root.op == sum.op; });
  });
}

/// A loop for each attention or gradient that has none yet.
static SmallVector<LoopGroup> collectGroups(func::FuncOp func) {
  SmallVector<LoopGroup> groups;
  func.walk([&](Operation *op) {
    if (op->getParentOp() != func)
      return;
    if (isa<FinalizeOp, QueryGradOp>(op))
      groups.push_back({{cast<TilingInterface>(op), 1}});
    auto finish = dyn_cast<KeyGradOp>(op);
    LoopGroup sums = finish ? getSums(finish) : LoopGroup();
    if (sums.empty() || isKnown(groups, sums.back()))
      return;
    auto *same = llvm::find_if(groups, [&](const LoopGroup &group) {
      return group.size() == 1 &&
             isSameGradient(LoopRoot(group.front()).op.getOperation(), sums);
    });
    if (same == groups.end())
      same = &groups.emplace_back();
    same->append(sums);
  });
  return groups;
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
  // A sum goes on only where nothing else reads what it starts from.
  cleanUp(func);
  SmallVector<LoopGroup> groups = collectGroups(func);
  if (groups.empty())
    return success();
  IRRewriter rewriter(func);
  rewriter.setInsertionPointToStart(&func.getBody().front());
  Value step = makeFunctionConstant(rewriter, func.getLoc(), chunk);
  auto isInChunk = [](OpResult producer) {
    return !isa<LookupOp>(producer.getOwner());
  };
  for (const LoopGroup &group : groups) {
    FailureOr<scf::ForOp> loop = buildSharedLoop(
        rewriter, group, step, isInChunk, [](OpResult) { return false; });
    if (failed(loop))
      return failure();
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(loop->getOperation()));
  }
  cleanUp(func);
  return shrinkEmptyTensors(func);
}
