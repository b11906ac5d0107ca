//===- CpuPipeline.cpp - from rt.attend to code for the CPU -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/CpuPipeline.h"
#include "codegen/LlvmCpu/Passes.h"
#include "passes/Pipelines/LlvmLowering.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Pipelines/ReferencePipeline.h"
#include "passes/Pipelines/SweepPipeline.h"
#include "passes/Plan/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace raytention;

static void buildTiles(OpPassManager &pm) { buildTileStage(pm); }

/// Sweeps on tiles become loops over vectors and buffers, those become tasks.
static void buildCpuStage(OpPassManager &pm) {
  pm.addPass(createBufferizePass());
  pm.addPass(createLowerToCpuPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createCollectScratchPass());
  pm.addPass(createOutlineTasksPass());
  pm.addPass(createCpuEntryPass());
  pm.addPass(createVerifyStagePass("cpu"));
}

/// Without calls of libm.
static void buildCpuLlvmStage(OpPassManager &pm) {
  pm.addPass(createExpandMathPass());
  buildLlvmLowering(pm);
}

static void buildEntryStage(OpPassManager &pm) {
  pm.addPass(createCpuEntryPass());
}

ArrayRef<PipelineStage> raytention::getCpuGradientStages() {
  static constexpr PipelineStage kStages[] = {
      {"gradient", buildGradientStage}, {"sweeps", buildSweepStage},
      {"products", buildProductStage},  {"tiled", buildTiles},
      {"cpu", buildCpuStage},           {"llvm", buildCpuLlvmStage}};
  return kStages;
}

ArrayRef<PipelineStage> raytention::getCpuStages() {
  return getCpuGradientStages().drop_front();
}

ArrayRef<PipelineStage> raytention::getReferenceStages() {
  static constexpr PipelineStage kStages[] = {
      {"reference", buildReferencePipeline},
      {"cpu", buildEntryStage},
      {"llvm", buildLlvmLowering}};
  return kStages;
}

void raytention::buildCpuPipeline(OpPassManager &pm) {
  pm.addPass(createIsolateSymbolsPass());
  for (const PipelineStage &stage : getCpuStages())
    stage.build(pm);
}
