//===- SweepPipeline.h - from an attention to fused chunks ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PIPELINES_SWEEPPIPELINE_H
#define RAYTENTION_PASSES_PIPELINES_SWEEPPIPELINE_H

#include "passes/Tile/Passes.h"

#include "mlir/Pass/PassManager.h"

namespace raytention {

/// How the tile stage cuts; what is 0 or not chosen comes from `rt.schedule`
/// of each function.
struct TileOptions {
  int64_t queryTile = 0; ///< rows
  int64_t keyChunk = 0;  ///< keys
  int64_t splitKeys = 0; ///< key ranges
  ScoreChoice scores = ScoreChoice::FromSchedule;
  /// Functions of the family stored have kernels instead of tasks.
  bool leavesStored = false;
};

/// Stage 1: a function @NAME_backward beside each @NAME that holds an
/// attention.
void buildGradientStage(mlir::OpPassManager &pm);

/// Stage 0 to 2: rt.attend becomes sweeps on whole tensors.
void buildSweepStage(mlir::OpPassManager &pm);
/// Stage 2 to 3: products apart, still on whole tensors, for all schedules.
void buildProductStage(mlir::OpPassManager &pm);
/// Stage 3 to 4: loops over batch, rows, key ranges and chunks, as the schedule
/// of each function says.
void buildTileStage(mlir::OpPassManager &pm, const TileOptions &options = {});

/// `--rt-stream`: all of the above.
void registerStreamPipeline();

} // namespace raytention

#endif // RAYTENTION_PASSES_PIPELINES_SWEEPPIPELINE_H
