//===- CudaPipeline.cpp - the stages down to kernels and their plan -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/CudaPipeline.h"
#include "codegen/Target/Passes.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Pipelines/SweepPipeline.h"
#include "passes/Plan/Passes.h"
#include "passes/Tile/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace raytention;

static void buildSweeps(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createScheduleKernelsPass());
  buildSweepStage(pm);
}

/// The family `fused`: a task for each tile of rows; `stored`: a loop for each
/// op.
static void buildTiles(OpPassManager &pm) {
  TileOptions options;
  options.leavesStored = true;
  pm.addNestedPass<func::FuncOp>(createTileKernelsPass());
  buildTileStage(pm, options);
}

static void buildKernelStage(OpPassManager &pm) {
  pm.addPass(createBufferizePass());
  pm.addPass(createOutlineKernelsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createVerifyStagePass("kernels"));
}

static void buildPlanStage(OpPassManager &pm) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>().nest<gpu::GPUFuncOp>();
  kernels.addPass(createExpandElementsPass());
  kernels.addPass(createDistributeThreadsPass());
  kernels.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createPlacePass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createVerifyResourcesPass());
  pm.addPass(createVerifyStagePass("plan"));
}

ArrayRef<PipelineStage> raytention::getCudaStages() {
  static constexpr PipelineStage kStages[] = {{"sweeps", buildSweeps},
                                              {"products", buildProductStage},
                                              {"tiled", buildTiles},
                                              {"kernels", buildKernelStage},
                                              {"plan", buildPlanStage}};
  return kStages;
}

void raytention::buildCudaPipeline(OpPassManager &pm) {
  for (const PipelineStage &stage : getCudaStages())
    stage.build(pm);
}
