//===- ExpandElementsPass.cpp - ops on tiles as element code -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/ExpandOps.h"
#include "passes/Plan/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace raytention {
#define GEN_PASS_DEF_EXPANDELEMENTSPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

static LogicalResult expandCompute(OpBuilder &b, tile::ComputeOp compute) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(compute.getOp())
      .Case([&](LookupOp op) { return expandLookup(b, compute, op); })
      .Case([&](DistanceOp op) { return expandDistance(b, compute, op); })
      .Case([&](InitOp op) { return expandInit(b, compute, op); })
      .Case([&](ScoreSweepOp op) { return expandScoreSweep(b, compute, op); })
      .Case([&](ReduceSweepOp op) { return expandReduceSweep(b, compute, op); })
      .Case([&](WeighOp op) { return expandWeigh(b, compute, op); })
      .Case([&](FinalizeOp op) { return expandFinalize(b, compute, op); })
      .Default([](Operation *op) {
        return op->emitOpError() << "is not supported in a kernel yet";
      });
}

static LogicalResult expand(OpBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tile::ComputeOp op) { return expandCompute(b, op); })
      .Case([&](linalg::ContractOp op) { return expandContract(b, op); })
      .Case([&](linalg::FillOp op) { return expandFill(b, op); })
      .Case([&](memref::CopyOp op) { return expandCopy(b, op); })
      .Case([](memref::LoadOp op) {
        return op.emitOpError()
               << "reads memory of a block outside of a loop over threads, "
                  "which is not supported in a kernel";
      })
      .Case([](memref::StoreOp op) {
        return op.emitOpError()
               << "in a kernel expected a loop over threads around it "
                  "(scf.forall), got a store that every thread of a block "
                  "would do";
      })
      .Default([](Operation *op) {
        return op->emitOpError() << "is not supported in a kernel";
      });
}

/// Whether a buffer is, or may be, one of the kernel itself.
static bool isBlockMemory(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(memref);
  return !argument || !isa<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
}

/// What a thread does alone, or all threads may do alike.
static bool isElementCode(Operation *op) {
  if (isa<memref::StoreOp>(op))
    return op->getParentOfType<scf::ForallOp>() != nullptr;
  // No barrier would stand between such a load and what is written next.
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return op->getParentOfType<scf::ForallOp>() ||
           !isBlockMemory(load.getMemRef());
  return isa<memref::AllocOp, memref::DimOp, memref::SubViewOp, memref::CastOp,
             scf::ForOp, scf::IfOp, scf::YieldOp, scf::ForallOp,
             scf::InParallelOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect, gpu::GPUDialect>(
             op->getDialect());
}

namespace {

struct ExpandElementsPass
    : public raytention::impl::ExpandElementsPassBase<ExpandElementsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == getOperation() || isElementCode(op))
        return WalkResult::advance();
      ops.push_back(op);
      return WalkResult::skip();
    });
    for (Operation *op : ops) {
      OpBuilder b(op);
      if (failed(expand(b, op)))
        return signalPassFailure();
      op->erase();
      ++numExpanded;
    }
  }
};

} // namespace
