//===- ToLinalgPass.cpp - reference ops in linalg ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Decompose/Passes.h"
#include "passes/Decompose/ToLinalgPatterns.h"

#include "mlir/Transforms/DialectConversion.h"

namespace raytention {
#define GEN_PASS_DEF_TOLINALGPASS
#include "passes/Decompose/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

bool isReferenceOp(Operation *op) {
  return isa<LookupOp, DistanceOp, SoftmaxOp, DecayOp, ReduceOp, ArgSelectOp,
             NormalizeOp, ScatterAddOp, ClearPaddingOp>(op);
}

struct ToLinalgPass : public raytention::impl::ToLinalgPassBase<ToLinalgPass> {
  void runOnOperation() override {
    if (failed(verifyStage()))
      return signalPassFailure();
    ConversionTarget target(getContext());
    target.addIllegalDialect<RayTentionDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(&getContext());
    populateKeysToLinalg(patterns);
    populateWeightsToLinalg(patterns);
    populateRowsToLinalg(patterns);
    populateSelectToLinalg(patterns);
    populateScatterToLinalg(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }

  /// Only reference ops stand at this stage; counts them.
  LogicalResult verifyStage() {
    WalkResult result = getOperation().walk([&](Operation *op) {
      if (!isa_and_present<RayTentionDialect>(op->getDialect()))
        return WalkResult::advance();
      if (isReferenceOp(op)) {
        ++numLowered;
        return WalkResult::advance();
      }
      op->emitOpError() << "expected reference ops only, got "
                        << op->getName().getStringRef()
                        << ", which rt-to-linalg does not lower";
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
