//===- Cleanup.cpp - what tiling leaves behind, removed ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/Cleanup.h"
#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace raytention;

/// A size asked of a tensor keeps the whole of it alive: it is taken from what
/// the tensor was made from instead.
static void resolveSizes(func::FuncOp func) {
  func.walk([](tensor::DimOp op) {
    std::optional<int64_t> axis = op.getConstantIndex();
    if (!axis || !op.getSource().getDefiningOp() ||
        !isa<RankedTensorType>(op.getSource().getType()))
      return;
    OpBuilder b(op);
    OpFoldResult size = getSize(b, op.getLoc(), op.getSource(), *axis);
    op.getResult().replaceAllUsesWith(
        getValueOrCreateConstantIndexOp(b, op.getLoc(), size));
    op.erase();
  });
}

static void eraseUnread(func::FuncOp func) {
  func.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// A tile that only gives its pairs needs no accumulators.
static void dropAccumulators(func::FuncOp func) {
  PatternRewriter rewriter(func.getContext());
  func.walk([&](WeighGradOp op) {
    rewriter.setInsertionPoint(op);
    (void)WeighGradOp::canonicalize(op, rewriter);
  });
}

void raytention::cleanUp(func::FuncOp func) {
  resolveSizes(func);
  eraseUnread(func);
  dropAccumulators(func);
  eraseUnread(func);
  IRRewriter rewriter(func.getContext());
  DominanceInfo dominance(func);
  eliminateCommonSubExpressions(rewriter, dominance, func);
}
