//===- ExpandCopiesPass.cpp - strided copies as loops -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace raytention {
#define GEN_PASS_DEF_EXPANDCOPIESPASS
#include "passes/Pipelines/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

bool isContiguous(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getLayout().isIdentity();
}

struct ExpandCopiesPass
    : public raytention::impl::ExpandCopiesPassBase<ExpandCopiesPass> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation().walk([&](memref::CopyOp copy) {
      if (!isContiguous(copy.getSource()) || !isContiguous(copy.getTarget()))
        copies.push_back(copy);
    });
    IRRewriter rewriter(&getContext());
    for (memref::CopyOp copy : copies)
      if (failed(expand(copy, rewriter)))
        return signalPassFailure();
  }

  LogicalResult expand(memref::CopyOp copy, RewriterBase &rewriter) {
    rewriter.setInsertionPoint(copy);
    auto linalgCopy = linalg::CopyOp::create(
        rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
    if (failed(linalg::linalgOpToLoops(rewriter, linalgCopy)))
      return copy.emitOpError() << "has no form as loops";
    rewriter.eraseOp(linalgCopy);
    rewriter.eraseOp(copy);
    ++numExpanded;
    return success();
  }
};

} // namespace
