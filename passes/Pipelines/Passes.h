//===- Passes.h - passes that several pipelines share -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PIPELINES_PASSES_H
#define RAYTENTION_PASSES_PIPELINES_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace raytention {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Pipelines/Passes.h.inc"

/// The callback by which compiled code runs tasks in parallel.
constexpr llvm::StringLiteral kParallelFor = "rt_parallel_for";

/// A pass that verifies `stage`.
std::unique_ptr<mlir::Pass> createVerifyStagePass(llvm::StringRef stage);

} // namespace raytention

#endif // RAYTENTION_PASSES_PIPELINES_PASSES_H
