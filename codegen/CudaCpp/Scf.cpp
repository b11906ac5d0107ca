//===- Scf.cpp - scf in C++ -----------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

static LogicalResult checkResults(Operation *op) {
  for (Type type : op->getResultTypes())
    if (getCType(type).empty())
      return op->emitOpError("expected results of i1, i8, i32, i64, index, "
                             "bf16, f32 or f64, got ")
             << type;
  return success();
}

//===----------------------------------------------------------------------===//
// for
//===----------------------------------------------------------------------===//

/// All variables change at once: a value that is itself a variable is read
/// before the first of them is written.
static void emitNextValues(Emitter &emitter, scf::ForOp loop) {
  const Names &names = emitter.operands.getNames();
  for (auto [variable, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
    if (StringRef next = names.ofNext(variable); !next.empty())
      emitter.os << getCType(variable.getType()) << " " << next << " = "
                 << emitter.operands.whole(yielded) << ";\n";
  for (auto [variable, yielded] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
    StringRef next = names.ofNext(variable);
    if (!next.empty())
      emitter.os << names.of(variable) << " = " << next << ";\n";
    else if (yielded != variable)
      emitter.os << names.of(variable) << " = "
                 << emitter.operands.whole(yielded) << ";\n";
  }
}

static LogicalResult emitFor(Emitter &emitter, scf::ForOp loop) {
  const Operands &operands = emitter.operands;
  if (loop.getUnsignedCmp())
    return loop.emitOpError("expected a loop with signed bounds, got one with "
                            "unsigned bounds");
  Type type = loop.getInductionVar().getType();
  if (!isWide(type) && !type.isInteger(32))
    return loop.emitOpError("expected bounds of index, i64 or i32, got ")
           << type;
  for (auto [variable, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    emitter.define(variable, operands.whole(init));

  std::string i = operands.getNames().of(loop.getInductionVar()).str();
  std::string step = operands.whole(loop.getStep());
  emitter.os << "for (" << getCType(type) << " " << i << " = "
             << operands.whole(loop.getLowerBound()) << "; " << i << " < "
             << operands.atom(loop.getUpperBound()) << "; "
             << (step == "1" ? "++" + i : i + " += " + step) << ") ";
  auto scope = emitter.os.scope("{\n", "}\n");
  if (failed(emitter.emitBlock(*loop.getBody())))
    return failure();
  emitNextValues(emitter, loop);
  return success();
}

//===----------------------------------------------------------------------===//
// if
//===----------------------------------------------------------------------===//

static LogicalResult emitBranch(Emitter &emitter, scf::IfOp op, Block &block) {
  if (failed(emitter.emitBlock(block)))
    return failure();
  for (auto [result, yielded] :
       llvm::zip_equal(op.getResults(), block.getTerminator()->getOperands()))
    emitter.os << emitter.operands.getNames().of(result) << " = "
               << emitter.operands.whole(yielded) << ";\n";
  return success();
}

static LogicalResult emitIf(Emitter &emitter, scf::IfOp op) {
  for (Value result : op.getResults())
    emitter.os << getCType(result.getType()) << " "
               << emitter.operands.getNames().of(result) << ";\n";
  emitter.os << "if (" << emitter.operands.whole(op.getCondition()) << ") ";
  {
    auto scope = emitter.os.scope("{\n", "}");
    if (failed(emitBranch(emitter, op, *op.thenBlock())))
      return failure();
  }
  if (op.elseBlock()) {
    auto scope = emitter.os.scope(" else {\n", "}");
    if (failed(emitBranch(emitter, op, *op.elseBlock())))
      return failure();
  }
  emitter.os << "\n";
  return success();
}

LogicalResult cuda::emitScf(Emitter &emitter, Operation *op) {
  if (failed(checkResults(op)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp loop) { return emitFor(emitter, loop); })
      .Case([&](scf::IfOp branch) { return emitIf(emitter, branch); })
      .Default([](Operation *op) { return refuse(op); });
}
