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

namespace raytention {

/// Replaces the slices that a tiled op reads by the tiled producer: what a
/// loop body needs is then computed in it, once. Known tiles (of ops that the
/// caller tiled himself) are used where a slice of the whole is read.
class ProducerFuser {
public:
  explicit ProducerFuser(mlir::RewriterBase &rewriter) : rewriter(rewriter) {}

  /// Declares the results of `tile` to be the tile of the results of `whole`.
  void setTile(mlir::Operation *whole, mlir::ValueRange tile);

  /// Fuses the producers of all `slices`, and theirs in turn; erases slices
  /// that are no longer read.
  void fuse(llvm::ArrayRef<mlir::Operation *> slices);

private:
  struct Fused {
    mlir::OpResult whole;
    llvm::SmallVector<mlir::OpFoldResult> offsets, sizes;
    mlir::Value tile;
  };

  mlir::Value fuseOne(mlir::tensor::ExtractSliceOp slice);
  mlir::Value produce(mlir::tensor::ExtractSliceOp slice,
                      mlir::OpResult producer);
  mlir::Value findTile(mlir::tensor::ExtractSliceOp slice,
                       mlir::OpResult producer);

  mlir::RewriterBase &rewriter;
  llvm::DenseMap<mlir::Value, mlir::Value> tiles;
  llvm::SmallVector<Fused> fused;
};

/// `value` as `type`, by a tensor.cast where static sizes differ.
mlir::Value castTo(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                   mlir::Type type);

/// Whether a tensor type has no elements. Slices of such tensors do not verify
/// (their offset 0 is out of bounds), so none are left: an empty tensor stands
/// for what is read, and nothing is inserted.
bool hasNoElements(mlir::Type type);
/// Whether keys change nothing in a sweep: none of its states has elements.
bool isIdle(mlir::Operation *sweep);

/// A new op `op` with other initial values, for a body whose block arguments
/// stand for them.
mlir::Operation *cloneOnto(mlir::OpBuilder &b, mlir::Operation *op,
                           mlir::ValueRange inits);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_PRODUCERFUSER_H
