//===- Registration.cpp - dialects, passes and pipelines --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/Registration.h"
#include "codegen/LlvmCpu/Passes.h"
#include "codegen/Pipelines/CpuPipeline.h"
#include "codegen/Pipelines/CudaPipeline.h"
#include "codegen/Target/Passes.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/Bufferization.h"
#include "dialect/RayTile/RayTile.h"
#include "passes/Decompose/Passes.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Fold/Passes.h"
#include "passes/Fuse/Passes.h"
#include "passes/Pipelines/LlvmLowering.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Pipelines/ReferencePipeline.h"
#include "passes/Pipelines/SweepPipeline.h"
#include "passes/Plan/Passes.h"
#include "passes/Sweep/Passes.h"
#include "passes/Tile/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace raytention;

/// How upstream's ops bufferize and free what they own.
static void registerBufferizationModels(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerBufferDeallocationOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  cf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferDeallocationOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
  tile::registerBufferization(registry);
}

namespace {

struct ReferenceOptions : public PassPipelineOptions<ReferenceOptions> {
  Option<bool> backward{*this, "backward",
                        llvm::cl::desc("add backward functions"),
                        llvm::cl::init(false)};
};

} // namespace

static void registerPipelines() {
  PassPipelineRegistration<>("rt-cpu",
                             "the streaming form as tasks for CPU workers, "
                             "down to the LLVM dialect",
                             buildCpuPipeline);
  PassPipelineRegistration<>("rt-cuda",
                             "the streaming form as kernels for a device and "
                             "the plan that launches them",
                             buildCudaPipeline);
  PassPipelineRegistration<ReferenceOptions>(
      "rt-reference", "the materialising reference, down to the LLVM dialect",
      [](OpPassManager &pm, const ReferenceOptions &options) {
        pm.addPass(createIsolateSymbolsPass());
        if (options.backward)
          buildReferenceGradientPipeline(pm);
        else
          buildReferencePipeline(pm);
        buildLlvmLowering(pm);
      });
  PassPipelineRegistration<>("rt-lower-to-llvm",
                             "loops and vectors on buffers to the LLVM dialect",
                             buildLlvmLowering);
}

void raytention::registerDialects(DialectRegistry &registry) {
  registry.insert<RayTentionDialect, affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, linalg::LinalgDialect,
                  LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                  scf::SCFDialect, tensor::TensorDialect, tile::RayTileDialect,
                  ub::UBDialect, vector::VectorDialect>();
  registerBufferizationModels(registry);
  linalg::registerTilingInterfaceExternalModels(registry);
  registerGradients(registry);
}

/// Every upstream pass that a pipeline runs: what --dump-pass-pipeline prints
/// can be given to --pass-pipeline.
static void registerUpstreamPasses() {
  bufferization::registerBufferizationPasses();
  registerLinalgPasses();
  memref::registerExpandReallocPass();
  memref::registerFoldMemRefAliasOpsPass();
  registerLlvmLoweringPasses();
}

void raytention::registerPasses() {
  registerUpstreamPasses();
  registerDecomposePasses();
  registerDifferentiatePasses();
  registerPipelinesPasses();
  registerPlanPasses();
  registerPipelines();
  registerLlvmCpuPasses();
  registerTargetPasses();
  registerSweepPasses();
  registerTilePasses();
  registerFoldPasses();
  registerFusePasses();
  registerStreamPipeline();
}
