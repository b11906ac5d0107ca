//===- Kernel.cpp - one kernel in C++ -------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Kernel.h"
#include "codegen/CudaCpp/CudaCpp.h"
#include "codegen/CudaCpp/Emitter.h"
#include "codegen/CudaCpp/Identifiers.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

//===----------------------------------------------------------------------===//
// What a kernel may be
//===----------------------------------------------------------------------===//

static LogicalResult checkArgument(gpu::GPUFuncOp kernel, Type type) {
  if (isa<BaseMemRefType>(type)) {
    if (failed(checkMemRef(kernel, type)))
      return failure();
    auto space = dyn_cast_if_present<gpu::AddressSpaceAttr>(
        cast<MemRefType>(type).getMemorySpace());
    if (space && space.getValue() != gpu::AddressSpace::Global)
      return kernel.emitOpError("expected arguments in global memory, got ")
             << type;
    return success();
  }
  bool isPassed = type.isIndex() || type.isInteger(32) || type.isInteger(64) ||
                  type.isF32() || type.isF64();
  if (!isPassed)
    return kernel.emitOpError("expected arguments of memref, index, i32, i64, "
                              "f32 or f64, got ")
           << type;
  return success();
}

static LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (!kernel.isKernel())
    return kernel.emitOpError("expected a kernel, got a function");
  if (!kernel.getWorkgroupAttributions().empty() ||
      !kernel.getPrivateAttributions().empty())
    return kernel.emitOpError("expected memory by gpu.dynamic_shared_memory "
                              "and memref.alloca, got attributions");
  if (!llvm::hasSingleElement(kernel.getBody()))
    return kernel.emitOpError("expected one block, got ")
           << kernel.getBody().getBlocks().size();
  for (Type type : kernel.getArgumentTypes())
    if (failed(checkArgument(kernel, type)))
      return failure();
  return success();
}

/// The threads of a block; the device's limit is 1024.
static FailureOr<int64_t> countThreads(gpu::GPUFuncOp kernel) {
  std::optional<ArrayRef<int32_t>> sizes = kernel.getKnownBlockSize();
  if (!sizes)
    return kernel.emitOpError("expected known_block_size");
  int64_t threads = 1;
  for (int32_t size : *sizes) {
    if (size < 1 || size > 1024 || (threads *= size) > 1024)
      return kernel.emitOpError("expected a block of 1 to 1024 threads, got "
                                "known_block_size ")
             << *sizes;
  }
  return threads;
}

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

static bool isWritten(Value memref) {
  return llvm::any_of(memref.getUsers(), [](Operation *user) {
    auto cast = dyn_cast<memref::CastOp>(user);
    return cast ? isWritten(cast) : !isa<memref::LoadOp, memref::DimOp>(user);
  });
}

/// A buffer and its dynamic sizes, or a value.
static void listParameters(const Names &names, BlockArgument argument,
                           SmallVector<std::string> &parameters) {
  std::string name = names.of(argument).str();
  auto memref = dyn_cast<MemRefType>(argument.getType());
  if (!memref) {
    parameters.push_back(getCType(argument.getType()).str() + " " + name);
    return;
  }
  std::string element = getCType(memref.getElementType()).str();
  parameters.push_back((isWritten(argument) ? "" : "const ") + element + " *" +
                       name);
  for (int64_t i = 0; i < memref.getRank(); ++i)
    if (memref.isDynamicDim(i))
      parameters.push_back("long long " + names.ofDimension(argument, i).str());
}

/// Parameters in lines of at most 80 characters.
static void printParameters(ArrayRef<std::string> parameters, raw_ostream &os) {
  size_t column = 80;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    bool isLast = i + 1 == parameters.size();
    size_t width = parameter.size() + 2;
    if (column + width > 80) {
      os << "\n   ";
      column = 3;
    }
    os << " " << parameter << (isLast ? "" : ",");
    column += width;
  }
}

static void printSignature(gpu::GPUFuncOp kernel, const Names &names,
                           int64_t threads, raw_ostream &os) {
  SmallVector<std::string> parameters;
  for (BlockArgument argument : kernel.getArguments())
    listParameters(names, argument, parameters);
  os << "extern \"C\" __global__ void __launch_bounds__(" << threads << ")\n"
     << getKernelName(kernel) << "(";
  printParameters(parameters, os);
  os << ") ";
}

//===----------------------------------------------------------------------===//
// Body
//===----------------------------------------------------------------------===//

static bool usesSharedMemory(gpu::GPUFuncOp kernel) {
  return kernel
      .walk([](gpu::DynamicSharedMemoryOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

std::string raytention::getKernelName(gpu::GPUFuncOp kernel) {
  return mangleKernelName(kernel.getName());
}

LogicalResult cuda::printKernel(gpu::GPUFuncOp kernel, raw_ostream &os) {
  if (failed(checkKernel(kernel)))
    return failure();
  FailureOr<int64_t> threads = countThreads(kernel);
  if (failed(threads))
    return failure();
  Names names = Names::choose(kernel);

  // The comment reads sizes that are only known to have a form afterwards.
  std::string body;
  llvm::raw_string_ostream bodyStream(body);
  Emitter emitter(names, bodyStream);
  emitter.os.indent();
  if (failed(emitter.emitBlock(kernel.getBody().front())))
    return failure();

  printKernelComment(kernel, emitter.operands, os);
  printSignature(kernel, names, *threads, os);
  os << "{\n";
  if (usesSharedMemory(kernel))
    os << "  extern __shared__ __align__(16) unsigned char shared[];\n";
  os << body << "}\n";
  return success();
}
