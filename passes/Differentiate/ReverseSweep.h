//===- ReverseSweep.h - adjoints of the values of a block -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DIFFERENTIATE_REVERSESWEEP_H
#define RAYTENTION_PASSES_DIFFERENTIATE_REVERSESWEEP_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace raytention {

/// Reverse mode over the straight-line ops of one block: from the adjoints of
/// some of its values to those of `variables`. Serves a function of tensor ops
/// and the scalar body of an element-wise op alike.
///
///     ReverseSweep sweep(block, block.getArguments(), mapping);
///     sweep.addAdjoint(b, result, seed);
///     if (failed(sweep.run(b))) ...
///     Value adjoint = sweep.getAdjoint(argument);   // null: none
class ReverseSweep {
public:
  /// `mapping` takes every value that an op of `block` uses to what stands for
  /// it where the adjoints are built; it is read when the sweep runs.
  ReverseSweep(mlir::Block &block, mlir::ValueRange variables,
               const mlir::IRMapping &mapping);

  /// Adds `adjoint` to that of `value`; nothing if `value` depends on none of
  /// the variables.
  void addAdjoint(mlir::OpBuilder &builder, mlir::Value value,
                  mlir::Value adjoint);

  /// Applies the rules from the last op to the first. An op without one is an
  /// error at the op.
  mlir::LogicalResult run(mlir::OpBuilder &builder);

  /// The adjoint of a value of the block so far; null where none arrived.
  mlir::Value getAdjoint(mlir::Value value) const;

  /// How many rules ran.
  int64_t getNumRules() const { return numRules; }

private:
  void findActive(mlir::Block &block, mlir::ValueRange variables);
  bool dependsOnVariables(mlir::Operation &op) const;
  mlir::LogicalResult applyRule(mlir::OpBuilder &builder, mlir::Operation &op,
                                mlir::ValueRange resultAdjoints);

  mlir::Block &block;
  const mlir::IRMapping &mapping;
  /// Values of floats that depend on a variable.
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> adjoints;
  int64_t numRules = 0;
};

} // namespace raytention

#endif // RAYTENTION_PASSES_DIFFERENTIATE_REVERSESWEEP_H
