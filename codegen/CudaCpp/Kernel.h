//===- Kernel.h - one kernel in C++ -----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_KERNEL_H
#define RAYTENTION_CODEGEN_CUDACPP_KERNEL_H

#include "codegen/CudaCpp/Operands.h"

namespace raytention::cuda {

/// Prints a kernel with a comment that says what it was made for and how it
/// lays out shared memory. Fails at the op that has no form.
mlir::LogicalResult printKernel(mlir::gpu::GPUFuncOp kernel,
                                llvm::raw_ostream &os);

/// The comment: rt.problem and rt.schedule where the kernel or a module around
/// it has them, and each memref.view.
void printKernelComment(mlir::gpu::GPUFuncOp kernel, const Operands &operands,
                        llvm::raw_ostream &os);

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_KERNEL_H
