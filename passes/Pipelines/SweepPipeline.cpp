//===- SweepPipeline.cpp - from an attention to fused chunks ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/SweepPipeline.h"
#include "passes/Differentiate/Passes.h"
#include "passes/Fold/Passes.h"
#include "passes/Fuse/Passes.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Sweep/Passes.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace raytention;

void raytention::buildGradientStage(OpPassManager &pm) {
  pm.addPass(createDifferentiatePass());
  pm.addPass(createVerifyStagePass("attention"));
}

void raytention::buildSweepStage(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createToSweepsPass());
  pm.addPass(createVerifyStagePass("sweeps"));
}

void raytention::buildProductStage(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createFoldVocabularyPass());
  pm.addNestedPass<func::FuncOp>(createFuseChannelsPass());
  pm.addNestedPass<func::FuncOp>(createFuseGradientPass());
  pm.addPass(createVerifyStagePass("products"));
}

void raytention::buildTileStage(OpPassManager &pm, const TileOptions &options) {
  TileTasksPassOptions tasks;
  tasks.queryTile = options.queryTile;
  tasks.keyChunk = options.keyChunk;
  tasks.leavesStored = options.leavesStored;
  SplitKeysPassOptions split;
  split.ways = options.splitKeys;
  ChunkKeysPassOptions chunk;
  chunk.keyChunk = options.keyChunk;
  chunk.queryTile = options.queryTile;
  chunk.scores = options.scores;
  chunk.leavesStored = options.leavesStored;
  pm.addNestedPass<func::FuncOp>(createTileTasksPass(tasks));
  pm.addNestedPass<func::FuncOp>(createSplitKeysPass(split));
  pm.addNestedPass<func::FuncOp>(createChunkKeysPass(chunk));
  pm.addPass(createVerifyStagePass("tiled"));
}

namespace {

struct StreamOptions : public PassPipelineOptions<StreamOptions> {
  Option<int64_t> queryTile{*this, "query-tile",
                            llvm::cl::desc("rows per tile"), llvm::cl::init(0)};
  Option<int64_t> keyChunk{*this, "key-chunk", llvm::cl::desc("keys per chunk"),
                           llvm::cl::init(0)};
  Option<int64_t> splitKeys{*this, "split-keys",
                            llvm::cl::desc("independent key ranges"),
                            llvm::cl::init(0)};
  Option<ScoreChoice> scores{
      *this, "scores", llvm::cl::desc("what the reduce sweep reads"),
      llvm::cl::init(ScoreChoice::FromSchedule),
      llvm::cl::values(
          clEnumValN(ScoreChoice::FromSchedule, "schedule", "as scheduled"),
          clEnumValN(ScoreChoice::Keep, "keep", "kept distances"),
          clEnumValN(ScoreChoice::Recompute, "recompute",
                     "distances computed again"))};
};

} // namespace

void raytention::registerStreamPipeline() {
  PassPipelineRegistration<StreamOptions>(
      "rt-stream", "rt.attend as products in tiles and chunks",
      [](OpPassManager &pm, const StreamOptions &options) {
        buildSweepStage(pm);
        buildProductStage(pm);
        buildTileStage(pm, {options.queryTile, options.keyChunk,
                            options.splitKeys, options.scores});
      });
}
