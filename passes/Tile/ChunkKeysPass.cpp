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
#include "passes/Tile/SumLoop.h"

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

/// Whether rows pass by the keys of a block.
bool passesRows(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto differences = dyn_cast<SumDifferencesOp>(&op);
    return isa<CopyGradOp, KeyGradOp>(&op) ||
           (differences && differences.getSide() == PairSide::Key);
  });
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
    for (Block *block : blocks)
      if (failed(chunkBlock(func, *block, passesRows(*block) ? *rows : *keys)))
        return signalPassFailure();
    if (!blocks.empty())
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

  LogicalResult chunkBlock(func::FuncOp func, Block &block, int64_t size) {
    IRRewriter rewriter(func);
    rewriter.setInsertionPointToStart(&func.getBody().front());
    Value step = makeFunctionConstant(rewriter, func.getLoc(), size);
    SmallVector<SumGroup> groups = collectSums(rewriter, block);
    for (const SumGroup &group : groups) {
      numChunked += group.size();
      if (failed(buildSumLoop(rewriter, group, step, [&](OpResult pairs) {
            return isKept(pairs, group);
          })))
        return failure();
    }
    return success();
  }

  /// Pairs that cannot be computed again, and scores where that is the plan.
  bool isKept(OpResult pairs, const SumGroup &group) {
    bool isScore = keepsScores && isa<DistanceOp>(pairs.getOwner());
    bool isKept = llvm::any_of(pairs.getUsers(), [&](Operation *user) {
      bool needsAll = getSummedLoop(pairs.getOwner()) || isScore ||
                      !isa<TilingInterface>(user);
      return needsAll && isReadLater(user, group);
    });
    numKept += isKept && isScore;
    return isKept;
  }

  /// Whether an op is more than a step to the sums of a group.
  static bool isReadLater(Operation *op, const SumGroup &group) {
    if (isa<tensor::DimOp>(op) || llvm::is_contained(group, op))
      return false;
    if (!isa<TilingInterface>(op) || getSummedLoop(op))
      return true;
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return isReadLater(user, group);
    });
  }

  bool keepsScores = false;
};

} // namespace
