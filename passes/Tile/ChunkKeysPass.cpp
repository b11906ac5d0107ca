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
#include "passes/Tile/SharedLoop.h"

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

/// Whether an op of a task, or of a function, stands in a sequential loop of
/// it.
bool isCut(Operation *op) {
  Operation *parent = op->getParentOp();
  while (isa_and_present<scf::IfOp>(parent))
    parent = parent->getParentOp();
  return isa_and_present<scf::ForOp>(parent);
}

/// Whether a group sums over rows, for its keys.
bool passesRows(const LoopGroup &group) {
  return llvm::any_of(group, [](const LoopRoot &root) {
    Operation *op = root.op;
    auto differences = dyn_cast<SumDifferencesOp>(op);
    return isa<CopyGradOp>(op) ||
           (differences && differences.getSide() == PairSide::Key);
  });
}

bool isRoot(Operation *op, const LoopGroup &group) {
  return llvm::any_of(group,
                      [&](const LoopRoot &root) { return root.op == op; });
}

struct ChunkKeysPass
    : public raytention::impl::ChunkKeysPassBase<ChunkKeysPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (leavesStored && !isFused(func))
      return;
    FailureOr<int64_t> keys =
        chooseSize(func, "key-chunk", keyChunk, &ScheduleAttr::getKeyChunk);
    FailureOr<int64_t> rows =
        chooseSize(func, "query-tile", queryTile, &ScheduleAttr::getQueryTile);
    FailureOr<bool> keep = choosePlan(func);
    if (failed(keys) || failed(rows) || failed(keep))
      return signalPassFailure();
    keepsScores = *keep;
    SmallVector<Block *> blocks = collectBlocks(func);
    if (blocks.empty())
      return;
    IRRewriter rewriter(func);
    rewriter.setInsertionPointToStart(&func.getBody().front());
    Value ofKeys = makeFunctionConstant(rewriter, func.getLoc(), *keys);
    Value ofRows = makeFunctionConstant(rewriter, func.getLoc(), *rows);
    for (Block *block : blocks)
      for (const LoopGroup &group : collectSums(rewriter, *block))
        if (failed(chunk(rewriter, group, passesRows(group) ? ofRows : ofKeys)))
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

  /// Blocks with sums that no loop has cut yet.
  static SmallVector<Block *> collectBlocks(func::FuncOp func) {
    llvm::SetVector<Block *> blocks;
    func.walk([&](Operation *op) {
      bool isOurs = isa_and_present<RayTentionDialect>(op->getDialect()) ||
                    (isa<linalg::ContractOp>(op) &&
                     isa<scf::ForallOp>(op->getParentOp()));
      if (isOurs && getSummedLoop(op) && !isCut(op))
        blocks.insert(op->getBlock());
    });
    return blocks.takeVector();
  }

  LogicalResult chunk(RewriterBase &rewriter, const LoopGroup &group,
                      Value step) {
    numChunked += group.size();
    return buildSharedLoop(
        rewriter, group, step,
        [](OpResult producer) { return !getSummedLoop(producer.getOwner()); },
        [&](OpResult pairs) { return isKept(pairs, group); });
  }

  /// Pairs that cannot be computed again, and scores where that is the plan.
  bool isKept(OpResult pairs, const LoopGroup &group) {
    bool isScore = keepsScores && isa<DistanceOp>(pairs.getOwner());
    bool isKept = llvm::any_of(pairs.getUsers(), [&](Operation *user) {
      bool needsAll = getSummedLoop(pairs.getOwner()) || isScore ||
                      !isa<TilingInterface, tensor::CastOp>(user);
      return needsAll && isReadLater(user, group);
    });
    numKept += isKept && isScore;
    return isKept;
  }

  /// Whether an op is more than a step to the sums of a group.
  static bool isReadLater(Operation *op, const LoopGroup &group) {
    if (isa<tensor::DimOp>(op) || isRoot(op, group))
      return false;
    if (!isa<TilingInterface, tensor::CastOp>(op) || getSummedLoop(op))
      return true;
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return isReadLater(user, group);
    });
  }

  bool keepsScores = false;
};

} // namespace
