//===- CudaCpp.cpp - kernels as CUDA C++ text -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/CudaCpp.h"
#include "codegen/CudaCpp/Kernel.h"

using namespace mlir;
using namespace raytention;

FailureOr<std::string> raytention::printCuda(gpu::GPUModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "#include \"prelude.cuh\"\n";
  for (Operation &op : module.getBodyRegion().front()) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
    if (!kernel)
      return op.emitOpError("expected kernels (gpu.func) only in a gpu.module");
    os << "\n";
    if (failed(cuda::printKernel(kernel, os)))
      return failure();
  }
  return text;
}
