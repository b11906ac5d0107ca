//===- VerifyResourcesPass.cpp - whether launches fit a target -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/Passes.h"

#include "mlir/IR/Matchers.h"

namespace raytention {
#define GEN_PASS_DEF_VERIFYRESOURCESPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// A constant of a launch, or none.
static std::optional<int64_t> getConstant(Value value) {
  APInt constant;
  if (value && matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

namespace {

struct VerifyResourcesPass
    : public raytention::impl::VerifyResourcesPassBase<VerifyResourcesPass> {
  using Base::Base;

  void runOnOperation() override {
    WalkResult walked = getOperation()->walk([&](gpu::LaunchFuncOp launch) {
      return succeeded(check(launch)) ? WalkResult::advance()
                                      : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult check(gpu::LaunchFuncOp launch) {
    std::optional<int64_t> bytes =
        getConstant(launch.getDynamicSharedMemorySize());
    if (bytes && *bytes > sharedBytes)
      return launch.emitOpError()
             << "expected at most " << sharedBytes.getValue()
             << " bytes of shared memory per block, got " << *bytes
             << "; use a smaller query tile or key chunk, or the family stored";
    std::optional<int64_t> threads = getConstant(launch.getBlockSizeX());
    if (threads && *threads > maxThreads)
      return launch.emitOpError()
             << "expected at most " << maxThreads.getValue()
             << " threads per block, got " << *threads;
    return success();
  }
};

} // namespace
