//===- StageEditor.h - what edits of a stage share --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_EXEC_STAGEEDITOR_H
#define RAYTENTION_TESTS_EXEC_STAGEEDITOR_H

#include "dialect/RayTention/RayTention.h"
#include "raytention/Attention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace raytention::test {

/// A function of a stage on tensors, and a builder at its begin.
class StageEditor {
public:
  explicit StageEditor(mlir::ModuleOp module, llvm::StringRef name = "attend")
      : func(module.lookupSymbol<mlir::func::FuncOp>(name)), b(func),
        loc(func.getLoc()) {
    toStart();
  }

  enum Argument { Queries, Table, Ids, Tau, Gammas, Offset, Lengths };
  mlir::Value argument(Argument number) { return func.getArgument(number); }

  void toStart() { b.setInsertionPointToStart(&func.getBody().front()); }
  mlir::Value index(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value zero(mlir::Type type) {
    return mlir::arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  }

  template <typename Op> llvm::SmallVector<Op> all() {
    llvm::SmallVector<Op> ops;
    func.walk([&](Op op) { ops.push_back(op); });
    return ops;
  }
  /// The one op of its kind.
  template <typename Op> Op only() {
    llvm::SmallVector<Op> ops = all<Op>();
    assert(ops.size() == 1 && "expected one op of its kind");
    return ops.front();
  }
  /// The loop over entries and tiles that an op stands in.
  static mlir::scf::ForallOp tilesOf(mlir::Operation *op);
  /// That loop, or the op itself where no tiles are made yet.
  static mlir::Operation *nestOf(mlir::Operation *op);

  /// A tensor [2, ...] with each sequence at the other's place.
  mlir::Value swapHalves(mlir::Value whole);
  /// The same for all that reads an argument, or for a result.
  void swapArgument(mlir::Value argument);
  void swapResult(unsigned number);
  /// Moves where the finished rows of a tile are inserted along one axis.
  void moveResult(mlir::OpResult result, int64_t axis,
                  llvm::function_ref<mlir::Value(mlir::Value)> change);

  mlir::Value isZero(mlir::Value value);
  /// `condition ? values : others`.
  mlir::scf::IfOp branch(mlir::Value condition, mlir::ValueRange values,
                         mlir::ValueRange others);
  /// Iteration i becomes iteration n - 1 - i.
  void reverse(mlir::Value counter, mlir::Value end, mlir::Value step,
               mlir::Block *body);

  /// Clones all of these; nobody reads the second of each.
  template <typename... Ops> void repeat() {
    llvm::SmallVector<mlir::Operation *> ops;
    func.walk([&](mlir::Operation *op) {
      if (mlir::isa<Ops...>(op))
        ops.push_back(op);
    });
    for (mlir::Operation *op : ops) {
      b.setInsertionPointAfter(op);
      b.clone(*op);
    }
  }
  /// The offset becomes `lengths[0] - lengths[1]`.
  void computeTheOffset();

  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  mlir::Location loc;
};

/// The text of a stage of an attention after an edit, which changes it.
std::string makeEditedText(const AttentionSpec &spec,
                           const CompileOptions &options, const char *stage,
                           void (*change)(mlir::ModuleOp));

} // namespace raytention::test

#endif // RAYTENTION_TESTS_EXEC_STAGEEDITOR_H
