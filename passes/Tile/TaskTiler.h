//===- TaskTiler.h - one parallel loop and all it needs ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_TASKTILER_H
#define RAYTENTION_PASSES_TILE_TASKTILER_H

#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/ParallelLoop.h"
#include "passes/Tile/ProducerFuser.h"

namespace raytention {

/// What passes by the items of a task.
enum class Passing { Keys, Rows };

/// What one parallel loop computes.
struct Task {
  mlir::TilingInterface root;
  /// The root's own items are rows if keys pass by, and keys if rows do.
  Passing passing;
  int64_t items; ///< per task
  /// Pairs and prepared rows that the root needs, which other tasks read.
  llvm::SmallVector<mlir::OpResult> shared = {};
  /// What it reads of earlier tasks.
  llvm::SmallVector<mlir::OpResult> read = {};
};

/// What an earlier task has stored.
using StoredValues = llvm::DenseMap<mlir::Value, mlir::Value>;

/// Builds the parallel loop over batch entries and tiles of a task's root, with
/// everything that it needs computed in the body. Of what passes by, a tile
/// sees what the mask and the sequence's length leave.
class TaskTiler {
public:
  TaskTiler(mlir::RewriterBase &rewriter, const Task &task,
            StoredValues &stored);

  /// Replaces the root by the loop; what is shared is added to what is stored.
  llvm::LogicalResult run();

private:
  /// Begin and size of what passes by.
  struct Visible {
    mlir::Value begin, size;
  };

  unsigned getItemLoop();
  ParallelLoop buildLoop();
  mlir::Value getGiven(mlir::OpResult result);
  mlir::Value buildOutput(mlir::OpResult result);
  mlir::FailureOr<mlir::TilingResult> tileRoot(ParallelLoop &loop);
  void buildTile(mlir::scf::ForallOp loop);
  llvm::LogicalResult insertResults(ParallelLoop &loop,
                                    mlir::ValueRange values);
  void storeShared(ParallelLoop &loop);
  void insertWeighed(ParallelLoop &loop, unsigned number,
                     const ProducerFuser::Tile &tile);
  const Visible &getVisible(MaskedPairsOpInterface pairs);
  mlir::Value buildEnd(mlir::Value begin, mlir::Value tensor, int64_t axis);
  Visible buildVisibleKeys(MaskedPairsOpInterface pairs);
  Visible buildSeeingRows(MaskedPairsOpInterface pairs);
  void clip(mlir::OpResult producer, LoopSizes &offsets, LoopSizes &sizes);
  void dropLengths(mlir::Operation *tile);

  mlir::RewriterBase &b;
  Task task;
  mlir::TilingInterface root;
  mlir::Location loc;
  Passing passing;
  StoredValues &stored;
  ProducerFuser fuser;
  mlir::Value step, entry, first, count;
  mlir::OpFoldResult numItems;
  LoopSizes offsets, sizes;
  /// By what they follow from.
  llvm::SmallVector<std::pair<MaskedPairsOpInterface, Visible>> visible;
};

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_TASKTILER_H
