//===- TileTasksPass.cpp - a parallel loop for each finish --- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/ChunkRows.h"
#include "passes/Tile/Cleanup.h"
#include "passes/Tile/Passes.h"
#include "passes/Tile/Schedule.h"
#include "passes/Tile/TaskTiler.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace raytention {
#define GEN_PASS_DEF_TILETASKSPASS
#include "passes/Tile/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// Which pairs and prepared rows of a list of tasks are read by more than one
/// of them: a task stores those that its own rows see, so readers must see the
/// same.
class SharedValues {
public:
  /// Tasks in the order in which they run.
  void add(Task &task) {
    Seen seen = findSeen(task.root);
    tasks.push_back({&task, seen});
    llvm::DenseSet<Operation *> known;
    visit(task.root, known);
  }

private:
  using Seen = std::optional<std::tuple<Value, Value, Value, Attribute>>;

  /// What all ops of a task see, if it is one and the same.
  static Seen findSeen(Operation *root) {
    llvm::DenseSet<Operation *> known;
    SmallVector<Operation *> open = {root};
    Seen seen;
    while (!open.empty()) {
      Operation *op = open.pop_back_val();
      if (!isa_and_present<TilingInterface, tensor::CastOp>(op) ||
          !known.insert(op).second)
        continue;
      if (auto pairs = dyn_cast<MaskedPairsOpInterface>(op)) {
        std::tuple own(pairs.getRow(), pairs.getKey(), pairs.getLengths(),
                       pairs.getMaskAttr());
        if (seen && *seen != own)
          return std::nullopt;
        seen = own;
      }
      for (Value operand : op->getOperands())
        open.push_back(operand.getDefiningOp());
    }
    return seen;
  }

  static bool isStorable(OpResult value) {
    return isa<DistanceOp, GradRowsOp>(value.getOwner()) ||
           (isa<WeighGradOp>(value.getOwner()) && !isTotal(value));
  }

  void visit(Operation *op, llvm::DenseSet<Operation *> &known) {
    if (!isa<TilingInterface>(op) || !known.insert(op).second)
      return;
    for (OpResult result : op->getResults())
      if (isStorable(result))
        owners.try_emplace(result, tasks.size() - 1);
    for (Value operand : op->getOperands()) {
      auto result = dyn_cast<OpResult>(operand);
      if (result && !isShared(result))
        visit(result.getOwner(), known);
    }
  }

  /// Whether an earlier task has the value, and now stores it.
  bool isShared(OpResult value) {
    auto owner = owners.find(value);
    if (owner == owners.end() || owner->second == tasks.size() - 1)
      return false;
    auto &[task, seen] = tasks[owner->second];
    if (!seen || seen != tasks.back().second)
      return false;
    for (auto *values : {&task->shared, &tasks.back().first->read})
      if (!llvm::is_contained(*values, value))
        values->push_back(value);
    return true;
  }

  SmallVector<std::pair<Task *, Seen>> tasks;
  llvm::DenseMap<Value, size_t> owners;
};

struct TileTasksPass
    : public raytention::impl::TileTasksPassBase<TileTasksPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    FailureOr<ScheduleAttr> schedule = getSchedule(func);
    FailureOr<int64_t> rows =
        chooseSize(func, "query-tile", queryTile, &ScheduleAttr::getQueryTile);
    FailureOr<int64_t> keys =
        chooseSize(func, "key-chunk", keyChunk, &ScheduleAttr::getKeyChunk);
    if (failed(schedule) || failed(rows) || failed(keys))
      return signalPassFailure();
    bool isStored = schedule->getFamily() == Family::Stored;
    if (isStored && leavesStored)
      return;
    SmallVector<Operation *> roots;
    if (isStored && failed(chunkRows(func, schedule->getQueryChunk())))
      return signalPassFailure();
    if (failed(collect(func, isStored, roots)))
      return signalPassFailure();
    SmallVector<Task> tasks;
    for (Operation *root : roots) {
      finishInPlace(root);
      bool isKeys = isa<KeyGradOp>(root) || isYieldedSum(root);
      tasks.push_back({cast<TilingInterface>(root),
                       isKeys ? Passing::Rows : Passing::Keys,
                       isKeys ? *keys : *rows});
    }
    if (failed(tile(tasks, isStored)))
      return signalPassFailure();
    if (!tasks.empty())
      cleanUp(func);
  }

  LogicalResult tile(MutableArrayRef<Task> tasks, bool isStored) {
    SharedValues shared;
    if (isStored)
      for (Task &task : tasks)
        shared.add(task);
    StoredValues stored;
    for (const Task &task : tasks) {
      IRRewriter rewriter(task.root);
      if (failed(TaskTiler(rewriter, task, stored).run()))
        return failure();
      ++numTiled;
      numShared += task.shared.size();
    }
    return success();
  }

  /// The finishes, and in the family `stored` what they need as a whole: those
  /// that stand in no parallel loop yet.
  LogicalResult collect(func::FuncOp func, bool isStored,
                        SmallVector<Operation *> &roots) {
    WalkResult walked = func.walk([&](Operation *op) {
      if (op->getParentOfType<scf::ForallOp>())
        return WalkResult::advance();
      if (holdsProducts(op)) {
        op->emitOpError() << "cannot be tiled; expected its products apart "
                             "(--rt-fuse-channels, --rt-fuse-gradient)";
        return WalkResult::interrupt();
      }
      if (isa<scf::IfOp>(op->getParentOp()) && getSummedLoop(op)) {
        op->emitOpError() << "cannot be tiled in a branch; expected it outside "
                             "of scf.if, or in a parallel loop";
        return WalkResult::interrupt();
      }
      if (isa<FinalizeOp, QueryGradOp, KeyGradOp>(op) ||
          (isStored && (isa<ScoreSweepOp>(op) || isYieldedSum(op))))
        roots.push_back(op);
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  /// Gradients of the keys take the place of sums that a loop has carried, as
  /// large as they are, and that nothing else reads.
  static void finishInPlace(Operation *root) {
    auto finish = dyn_cast<KeyGradOp>(root);
    if (finish && finish.getSums().getDefiningOp<scf::ForOp>() &&
        finish.getSums().hasOneUse() &&
        finish.getKeysGradIn().getDefiningOp<tensor::EmptyOp>() &&
        finish.getSums().getType() == finish.getType())
      finish.getKeysGradInMutable().set(finish.getSums());
  }

  /// Whether a loop over chunks of rows carries a sum over them.
  static bool isYieldedSum(Operation *op) {
    return getSummedLoop(op) && isa<scf::ForOp>(op->getParentOp()) &&
           llvm::any_of(op->getUsers(), llvm::IsaPred<scf::YieldOp>);
  }

  static bool holdsProducts(Operation *op) {
    if (auto reduce = dyn_cast<ReduceSweepOp>(op))
      return bool(reduce.getSums());
    return isa<QueryGradSweepOp, KeyGradSweepOp>(op);
  }
};

} // namespace
