//===- CudaPipeline.cpp - from rt.attend to a plan ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Pipelines/CudaPipeline.h"
#include "passes/Pipelines/SweepPipeline.h"

using namespace raytention;

static void buildTiles(mlir::OpPassManager &pm) { buildTileStage(pm); }

llvm::ArrayRef<PipelineStage> raytention::getCudaStages() {
  static constexpr PipelineStage kStages[] = {{"sweeps", buildSweepStage},
                                              {"tiled", buildTiles}};
  return kStages;
}
