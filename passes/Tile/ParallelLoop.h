//===- ParallelLoop.h - scf.forall over tensors with elements ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_PARALLELLOOP_H
#define RAYTENTION_PASSES_TILE_PARALLELLOOP_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace raytention {

/// An scf.forall with one output per initial value that has elements; a tensor
/// without any passes by the loop. (Upstream's folders take the n-th inserting
/// op to be the n-th output's, so an output that nothing is inserted into must
/// not stand there.)
struct ParallelLoop {
  /// Builds the loop and sets the insertion point into its body.
  ParallelLoop(mlir::OpBuilder &b, mlir::Location loc,
               llvm::ArrayRef<mlir::OpFoldResult> begins,
               llvm::ArrayRef<mlir::OpFoldResult> ends,
               llvm::ArrayRef<mlir::OpFoldResult> steps,
               mlir::ValueRange inits);

  /// Inserts a tile into the n-th value, at the end of the body.
  void insert(mlir::OpBuilder &b, unsigned number, mlir::Value tile,
              llvm::ArrayRef<mlir::OpFoldResult> offsets,
              llvm::ArrayRef<mlir::OpFoldResult> sizes);

  mlir::scf::ForallOp op;
  llvm::SmallVector<mlir::Value> args; ///< in the body, one per initial value
  llvm::SmallVector<mlir::Value> results; ///< after it
};

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_PARALLELLOOP_H
