//===- KernelTable.cpp - the kernels that a plan launches -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/KernelTable.h"
#include "codegen/Artifact/PlanTypes.h"
#include "codegen/CudaCpp/CudaCpp.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// What a plan says of a kernel is its block; other promises it cannot keep.
static LogicalResult checkKernel(gpu::GPUFuncOp func) {
  if (!func.isKernel())
    return func.emitOpError("expected a kernel, got a function without the "
                            "attribute gpu.kernel");
  std::optional<ArrayRef<int32_t>> block = func.getKnownBlockSize();
  if (!block || llvm::any_of(*block, [](int32_t size) { return size < 1; }))
    return func.emitOpError("expected known_block_size = array<i32: X, Y, Z> "
                            "of sizes above 0, got ")
           << (block ? "another" : "none");
  if (func.getKnownGridSize() || func.getKnownClusterSize())
    return func.emitOpError("expected no known grid or cluster size, got one");
  return success();
}

static LogicalResult addParameters(gpu::GPUFuncOp func, plan::Kernel &kernel) {
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    std::optional<plan::Type> known = getPlanType(type);
    if (!known || !isParameterType(*known))
      return func.emitOpError("expected parameter ")
             << index
             << " to be index, i32, i64, f32, f64 or a memref with the "
                "identity layout in the default memory space, got "
             << type;
    kernel.parameters.push_back(*known);
  }
  return success();
}

unsigned KernelTable::addModule(gpu::GPUModuleOp op) {
  auto *known = llvm::find(modules, op);
  if (known == modules.end())
    known = &modules.emplace_back(op);
  return known - modules.begin();
}

FailureOr<unsigned> KernelTable::addKernel(gpu::GPUFuncOp func) {
  auto [it, isNew] = numbers.try_emplace(func, kernels.size());
  if (!isNew)
    return it->second;
  plan::Kernel kernel;
  if (failed(checkKernel(func)) || failed(addParameters(func, kernel)))
    return failure();
  kernel.name = getKernelName(func);
  kernel.module = addModule(func->getParentOfType<gpu::GPUModuleOp>());
  llvm::copy(*func.getKnownBlockSize(), kernel.block.begin());
  kernels.push_back(std::move(kernel));
  return it->second;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static LogicalResult checkForm(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject())
    return launch.emitOpError("expected a launch in order, got an asynchronous "
                              "one");
  if (launch.hasClusterSize())
    return launch.emitOpError("expected a launch without clusters, got one "
                              "with them");
  return success();
}

static LogicalResult checkAgreement(gpu::LaunchFuncOp launch,
                                    gpu::GPUFuncOp func) {
  TypeRange given = launch.getKernelOperands().getTypes();
  ArrayRef<Type> taken = func.getArgumentTypes();
  if (given.size() != taken.size())
    return launch.emitOpError("expected ")
           << taken.size() << " arguments, as the kernel takes, got "
           << given.size();
  for (auto [index, type] : llvm::enumerate(taken))
    if (given[index] != type)
      return launch.emitOpError("expected argument ")
             << index << " to be " << type << ", as the kernel takes, got "
             << given[index];
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  Value sizes[] = {block.x, block.y, block.z};
  for (auto [axis, value] : llvm::enumerate(sizes)) {
    APInt size;
    int64_t wanted = (*func.getKnownBlockSize())[axis];
    if (matchPattern(value, m_ConstantInt(&size)) &&
        size.getSExtValue() != wanted)
      return launch.emitOpError("expected a block of ")
             << wanted << " along "
             << "xyz"[axis] << ", as known_block_size says, got "
             << size.getSExtValue();
  }
  return success();
}

FailureOr<unsigned> KernelTable::add(gpu::LaunchFuncOp launch) {
  if (failed(checkForm(launch)))
    return failure();
  auto func = dyn_cast_or_null<gpu::GPUFuncOp>(
      SymbolTable::lookupSymbolIn(module, launch.getKernelAttr()));
  if (!func)
    return launch.emitOpError("expected a gpu.func of a gpu.module, got ")
           << launch.getKernelAttr();
  FailureOr<unsigned> number = addKernel(func);
  if (failed(number) || failed(checkAgreement(launch, func)))
    return failure();
  return number;
}
