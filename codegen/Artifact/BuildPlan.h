//===- BuildPlan.h - a plan from its IR -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_ARTIFACT_BUILDPLAN_H
#define RAYTENTION_CODEGEN_ARTIFACT_BUILDPLAN_H

#include "runtime/plan/Plan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace raytention {

/// A plan and where its kernels are: kernel k is in modules[k.module].
struct BuiltPlan {
  plan::Plan plan;
  llvm::SmallVector<mlir::gpu::GPUModuleOp> modules;
};

/// Whether `module` is at the stage that buildPlan() reads: it has kernels.
bool isPlan(mlir::ModuleOp module);

/// Reads the host function `entry` and the kernels that it launches, which the
/// plan calls as printCuda does. What a plan cannot hold is an error at its
/// operation.
mlir::FailureOr<BuiltPlan> buildPlan(mlir::ModuleOp module,
                                     llvm::StringRef entry);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_ARTIFACT_BUILDPLAN_H
