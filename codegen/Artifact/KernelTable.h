//===- KernelTable.h - the kernels that a plan launches ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_ARTIFACT_KERNELTABLE_H
#define RAYTENTION_CODEGEN_ARTIFACT_KERNELTABLE_H

#include "runtime/plan/Plan.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace raytention {

/// Kernels in the order of their first launch.
class KernelTable {
public:
  explicit KernelTable(mlir::ModuleOp module) : module(module) {}

  /// The number of the kernel of `launch`. An error at the launch or at the
  /// kernel where a plan cannot hold it, or where the two disagree on the
  /// parameters or on a constant block size.
  mlir::FailureOr<unsigned> add(mlir::gpu::LaunchFuncOp launch);

  std::vector<plan::Kernel> takeKernels() { return std::move(kernels); }
  llvm::SmallVector<mlir::gpu::GPUModuleOp> takeModules() {
    return std::move(modules);
  }

private:
  mlir::FailureOr<unsigned> addKernel(mlir::gpu::GPUFuncOp func);
  unsigned addModule(mlir::gpu::GPUModuleOp op);

  mlir::ModuleOp module;
  std::vector<plan::Kernel> kernels;
  llvm::SmallVector<mlir::gpu::GPUModuleOp> modules;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_ARTIFACT_KERNELTABLE_H
