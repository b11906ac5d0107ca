//===- ProducerFuser.h - producers pulled into a loop body, slice by slice -*-
// C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_PRODUCERFUSER_H
#define RAYTENTION_PASSES_TILE_PRODUCERFUSER_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/TilingInterface.h"

#include <functional>
#include <optional>

namespace raytention {

using LoopSizes = llvm::SmallVector<mlir::OpFoldResult>;

/// Replaces the slices that a tiled op reads by the tiled producer: what a
/// loop body needs is then computed in it, once.
class ProducerFuser {
public:
  /// Which producers are fused; all by default.
  using Filter = std::function<bool(mlir::OpResult)>;
  /// What of a producer's loops is computed, where that is less than what is
  /// read of it.
  using Clip = std::function<void(mlir::OpResult producer, LoopSizes &offsets,
                                  LoopSizes &sizes)>;
  /// Called for every tile that is made.
  using Listener = std::function<void(mlir::Operation *tile)>;
  /// What stands for a value that is read: it is there already.
  using Known = llvm::DenseMap<mlir::Value, mlir::Value>;

  explicit ProducerFuser(mlir::RewriterBase &rewriter, Filter filter = {},
                         Clip clip = {}, Listener listener = {})
      : rewriter(rewriter), filter(std::move(filter)), clip(std::move(clip)),
        listener(std::move(listener)) {}

  /// Declares the results of `tile` to be those of `whole` at a part of its
  /// loops.
  void setTile(mlir::TilingInterface whole, mlir::Operation *tile,
               llvm::ArrayRef<mlir::OpFoldResult> offsets,
               llvm::ArrayRef<mlir::OpFoldResult> sizes);

  /// Slices of `whole` become slices of `own`.
  void setKnown(mlir::Value whole, mlir::Value own) { known[whole] = own; }

  /// Fuses the producers of all `slices`, and theirs in turn; erases slices
  /// that are no longer read.
  void fuse(llvm::ArrayRef<mlir::Operation *> slices);

  struct Tile {
    mlir::OpResult whole;
    LoopSizes offsets, sizes;
    mlir::Value tile;
  };
  /// What was declared or fused so far, in this order.
  llvm::ArrayRef<Tile> getTiles() const { return tiles; }

private:
  mlir::Value fuseOne(mlir::tensor::ExtractSliceOp slice);
  mlir::Value produce(mlir::tensor::ExtractSliceOp slice,
                      mlir::OpResult producer);
  mlir::Value findTile(mlir::tensor::ExtractSliceOp slice,
                       mlir::OpResult producer);

  mlir::RewriterBase &rewriter;
  Filter filter;
  Clip clip;
  Listener listener;
  Known known;
  llvm::SmallVector<Tile> tiles;
};

/// The loop of a tiled op that its result is summed over, if there is one: what
/// passes by, rows or keys. Products of pairs are no sums of them.
std::optional<unsigned> getSummedLoop(mlir::Operation *op);

/// Whether a result is there only when all has been added up; else it is there
/// part by part.
bool isTotal(mlir::OpResult result);

/// The sum that another goes on with, if nothing else reads it: both add terms,
/// so their loops may be one.
mlir::Operation *getContinuedSum(mlir::Operation *op);

/// An op's loops as the code already names them; static sizes only where the
/// types have them.
LoopSizes getLoopSizes(mlir::OpBuilder &b, mlir::TilingInterface op);

/// `value` as `type`, by a tensor.cast where static sizes differ.
mlir::Value castTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   mlir::Type type);

/// Whether a tensor type has no elements. Slices of such tensors do not verify
/// (their offset 0 is out of bounds), so none are left: an empty tensor stands
/// for what is read, and nothing is inserted.
bool hasNoElements(mlir::Type type);
} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_PRODUCERFUSER_H
