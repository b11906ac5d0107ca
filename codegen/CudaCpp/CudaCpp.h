//===- CudaCpp.h - kernels as CUDA C++ text ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_CUDACPP_H
#define RAYTENTION_CODEGEN_CUDACPP_CUDACPP_H

#include "mlir/Support/LLVM.h"

#include <string>

namespace mlir::gpu {
class GPUFuncOp;
class GPUModuleOp;
} // namespace mlir::gpu

namespace raytention {

/// The kernels of a stage-5 module as CUDA C++ that NVRTC compiles as
/// makeKernelSource (kernels_gen/prelude) says. The same IR gives the same
/// bytes. An argument of memref type becomes a pointer and a `long long` per
/// dynamic dimension; all others are passed by value. What has no form in CUDA
/// C++ is an error at its op.
mlir::FailureOr<std::string> printCuda(mlir::gpu::GPUModuleOp module);

/// The name of a kernel in the text and in what NVRTC makes of it: its symbol
/// where that is a name which C++ and CUDA leave free, else `rt_kernel_` and
/// the symbol with `_XX` (hexadecimal) for all but letters and digits. Two
/// symbols never share a name.
std::string getKernelName(mlir::gpu::GPUFuncOp kernel);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_CUDACPP_CUDACPP_H
