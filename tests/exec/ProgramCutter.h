//===- ProgramCutter.h - a fused loop as several parallel ones --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_PROGRAMCUTTER_H
#define RAYTENTION_TESTS_EXEC_PROGRAMCUTTER_H

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace raytention::test {

/// Edits a function of the stage "tiled" so that what passed between the ops of
/// a task passes between parallel loops. It computes the same.
class ProgramCutter {
public:
  ProgramCutter(mlir::ModuleOp module, llvm::StringRef function);

  /// The ops of a kind, in order.
  template <typename Op> llvm::SmallVector<Op> all() {
    llvm::SmallVector<Op> ops;
    func.walk([&](Op op) { ops.push_back(op); });
    return ops;
  }

  /// What stands before `op` in its task becomes a parallel loop in front of
  /// the task's; tensors pass as buffers of the function, by their values.
  void cutBefore(mlir::Operation *op);
  /// `value`, made chunk by chunk, gets a loop of its own in the task: the one
  /// it stood in reads it from there. Chunks follow each other along the last
  /// axis, or, in tasks of keys, along that of rows. `isFull`: it has all of
  /// them, and 0 where it is not written. Returns all of it.
  mlir::Value keepChunks(mlir::Value value, bool isFull, bool areRows = false);
  /// A loop over chunks of rows around the parallel loop.
  void loopOverRows(mlir::scf::ForallOp loop, int64_t rows);
  /// The loop over chunks of a parallel loop, whose results are all that this
  /// gives, becomes one around it: each step adds to buffers of the function.
  void hoistChunks(mlir::scf::ForallOp loop);
  /// All lookups read keys that a loop of its own has looked up.
  void lookUpOnce(int64_t chunk);
  /// The buffer [B, ..., Tq, ...] that cutBefore() has made of a tile.
  mlir::Value getPassed(mlir::Value tile) { return passed.at(key(tile)); }
  /// Reads `from` at [entry, row, column] in place of the tile `use`.
  void readInstead(mlir::Value use, mlir::Value from, mlir::Value row,
                   mlir::Value column = {});

private:
  using Sizes = llvm::SmallVector<mlir::OpFoldResult>;
  /// [B, ..., all rows, ...] of a tile.
  Sizes getWholeSizes(mlir::scf::ForallOp loop, mlir::Value value);
  /// The axis along which the tasks' tiles of it follow each other.
  int64_t getTileAxis(mlir::Value value) const;
  static void *key(mlir::Value value) { return value.getAsOpaquePointer(); }
  mlir::Value index(int64_t value);
  mlir::Value numKeys();
  mlir::Value numQueries();
  mlir::Value number(mlir::OpFoldResult size);

  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  mlir::Location loc;
  /// First row of a loop, and how many it has, where a loop is around it.
  llvm::DenseMap<mlir::Operation *, std::pair<mlir::Value, mlir::Value>> rowsOf;
  std::map<void *, mlir::Value> passed;
  llvm::DenseSet<mlir::Value> columnTiles; ///< tiles along the last axis
};

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_PROGRAMCUTTER_H
