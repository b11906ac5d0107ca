//===- Passes.h - checks between stages -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PIPELINES_PASSES_H
#define RAYTENTION_PASSES_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace raytention {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Pipelines/Passes.h.inc"

/// A pass that verifies `stage`.
std::unique_ptr<mlir::Pass> createVerifyStagePass(llvm::StringRef stage);

} // namespace raytention

#endif // RAYTENTION_PASSES_PIPELINES_PASSES_H
