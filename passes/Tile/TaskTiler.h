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

/// Builds the parallel loop over batch entries and tiles of one op whose
/// results have (batch, items) as their first loops, with everything that the
/// op needs computed in its body. Of what passes by, a tile sees what the mask
/// and the sequence's length leave.
class TaskTiler {
public:
  /// `items` per task; the root's own items are rows if keys pass by, and keys
  /// if rows do.
  TaskTiler(mlir::RewriterBase &rewriter, mlir::TilingInterface root,
            int64_t items, Passing passing);

  /// Replaces the root by the loop.
  llvm::LogicalResult run();

private:
  /// Begin and size of what passes by.
  struct Visible {
    mlir::Value begin, size;
  };

  ParallelLoop buildLoop();
  void buildTile(mlir::scf::ForallOp loop);
  llvm::LogicalResult insertResults(ParallelLoop &loop,
                                    mlir::ValueRange values);
  const Visible &getVisible(MaskedPairsOpInterface pairs);
  mlir::Value buildEnd(mlir::Value begin, mlir::Value tensor, int64_t axis);
  Visible buildVisibleKeys(MaskedPairsOpInterface pairs);
  Visible buildSeeingRows(MaskedPairsOpInterface pairs);
  void clip(mlir::OpResult producer, LoopSizes &offsets, LoopSizes &sizes);
  void dropLengths(mlir::Operation *tile);

  mlir::RewriterBase &b;
  mlir::TilingInterface root;
  mlir::Location loc;
  Passing passing;
  ProducerFuser fuser;
  mlir::Value step, entry, first, count;
  mlir::OpFoldResult numItems;
  LoopSizes offsets, sizes;
  /// By what they follow from.
  llvm::SmallVector<std::pair<MaskedPairsOpInterface, Visible>> visible;
};

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_TASKTILER_H
