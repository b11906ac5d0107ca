//===- TileTasksPass.cpp - a parallel loop for each finish --- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

struct TileTasksPass
    : public raytention::impl::TileTasksPassBase<TileTasksPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isFused(func))
      return;
    FailureOr<int64_t> rows =
        chooseSize(func, "query-tile", queryTile, &ScheduleAttr::getQueryTile);
    FailureOr<int64_t> keys =
        chooseSize(func, "key-chunk", keyChunk, &ScheduleAttr::getKeyChunk);
    SmallVector<Operation *> finishes;
    if (failed(rows) || failed(keys) || failed(collect(func, finishes)))
      return signalPassFailure();
    for (Operation *finish : finishes) {
      bool isKeys = isa<KeyGradOp>(finish);
      IRRewriter rewriter(finish);
      if (failed(TaskTiler(rewriter, cast<TilingInterface>(finish),
                           isKeys ? *keys : *rows,
                           isKeys ? Passing::Rows : Passing::Keys)
                     .run()))
        return signalPassFailure();
      ++numTiled;
    }
    if (!finishes.empty())
      cleanUp(func);
  }

  /// Those that stand in no parallel loop yet.
  LogicalResult collect(func::FuncOp func, SmallVector<Operation *> &finishes) {
    WalkResult walked = func.walk([&](Operation *op) {
      if (isWhole(op)) {
        op->emitOpError() << "cannot be tiled; expected its products apart "
                             "(--rt-fuse-channels, --rt-fuse-gradient)";
        return WalkResult::interrupt();
      }
      if (isa<FinalizeOp, QueryGradOp, KeyGradOp>(op) &&
          !op->getParentOfType<scf::ForallOp>())
        finishes.push_back(op);
      return WalkResult::advance();
    });
    return failure(walked.wasInterrupted());
  }

  /// Whether a sweep still holds its products.
  static bool isWhole(Operation *op) {
    if (auto reduce = dyn_cast<ReduceSweepOp>(op))
      return reduce.getSums() && !op->getParentOfType<scf::ForallOp>();
    return isa<QueryGradSweepOp, KeyGradSweepOp>(op);
  }
};

} // namespace
