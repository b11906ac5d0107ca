//===- Gpu.cpp - gpu in C++ -----------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

template <class Op>
static LogicalResult emitId(Emitter &emitter, Op op, StringRef variable) {
  emitter.define(op,
                 variable + "." + gpu::stringifyDimension(op.getDimension()));
  return success();
}

static LogicalResult emitSharedMemory(Emitter &emitter,
                                      gpu::DynamicSharedMemoryOp op) {
  // Declared once, at the start of the kernel.
  for (Operation *user : op->getUsers())
    if (user->getName().getStringRef() != "memref.view")
      return user->emitOpError(
          "expected gpu.dynamic_shared_memory to be used by memref.view only");
  return success();
}

LogicalResult cuda::emitGpu(Emitter &emitter, Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case(
          [&](gpu::ThreadIdOp id) { return emitId(emitter, id, "threadIdx"); })
      .Case([&](gpu::BlockIdOp id) { return emitId(emitter, id, "blockIdx"); })
      .Case([&](gpu::BlockDimOp id) { return emitId(emitter, id, "blockDim"); })
      .Case([&](gpu::GridDimOp id) { return emitId(emitter, id, "gridDim"); })
      .Case([&](gpu::BarrierOp) {
        emitter.os << "__syncthreads();\n";
        return success();
      })
      .Case([&](gpu::DynamicSharedMemoryOp shared) {
        return emitSharedMemory(emitter, shared);
      })
      .Default([](Operation *op) { return refuse(op); });
}
