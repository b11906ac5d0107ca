//===- DifferentiatePass.cpp - backward functions of a module ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/BackwardFunction.h"
#include "passes/Differentiate/Passes.h"

#include "dialect/RayTention/Differentiable.h"

#include "mlir/IR/SymbolTable.h"

namespace raytention {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "passes/Differentiate/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

bool isFloatTensor(Type type) {
  return isa<RankedTensorType>(type) && getAdjointType(type);
}

/// Whether a gradient of the function is meant to exist.
bool qualifies(func::FuncOp func) {
  if (func.isExternal() || !func.isPublic() || func.getNumResults() == 0 ||
      !isFloatTensor(func.getResultTypes().front()))
    return false;
  WalkResult found = func.walk([](DifferentiableOpInterface op) {
    return isa_and_present<RayTentionDialect>(op->getDialect())
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

struct DifferentiatePass
    : public raytention::impl::DifferentiatePassBase<DifferentiatePass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<SmallVector<func::FuncOp>> functions = selectFunctions();
    if (failed(functions))
      return signalPassFailure();
    for (func::FuncOp func : *functions)
      if (failed(differentiate(func)))
        return signalPassFailure();
  }

private:
  /// Those that qualify, or the one that the option names.
  FailureOr<SmallVector<func::FuncOp>> selectFunctions() {
    SmallVector<func::FuncOp> selected;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (qualifies(func) && (function.empty() || function == func.getName()))
        selected.push_back(func);
    if (selected.empty() && !function.empty())
      return getOperation().emitError()
             << "expected a public function @" << function
             << " with a tensor of floats as first result and a differentiable "
                "op of the rt dialect, got none";
    return selected;
  }

  LogicalResult differentiate(func::FuncOp func) {
    std::string name = (func.getName() + "_backward").str();
    if (getOperation().lookupSymbol(name))
      return func.emitOpError()
             << "expected no function @" << name << " yet, got one";
    if (!func.getBody().hasOneBlock())
      return func.emitOpError()
             << "expected straight-line code of one block to differentiate, "
                "got "
             << func.getBody().getBlocks().size() << " blocks";
    if (failed(prepareForward(func)))
      return failure();
    FailureOr<BackwardFunction> backward = buildBackwardFunction(func, name);
    if (failed(backward))
      return failure();
    ++numFunctions;
    numRules += backward->numRules;
    numRecomputed += backward->numRecomputed;
    return success();
  }

  /// Lets ops ask for residuals, and returns those from the function.
  LogicalResult prepareForward(func::FuncOp func) {
    IRRewriter rewriter(&getContext());
    SmallVector<Value> returned(func.front().getTerminator()->getOperands());
    size_t numBefore = returned.size();
    auto ops =
        llvm::to_vector(func.front().getOps<DifferentiableOpInterface>());
    SmallVector<Value> wanted;
    for (DifferentiableOpInterface op : ops) {
      rewriter.setInsertionPoint(op);
      llvm::append_range(wanted, op.prepareForward(rewriter));
    }
    // Rewritten ops have replaced their results in the terminator.
    returned.assign(func.front().getTerminator()->operand_begin(),
                    func.front().getTerminator()->operand_end());
    for (Value value : wanted)
      if (!llvm::is_contained(returned, value))
        returned.push_back(value);
    if (returned.size() == numBefore)
      return success();
    return setReturned(func, returned);
  }

  LogicalResult setReturned(func::FuncOp func, ArrayRef<Value> returned) {
    if (!SymbolTable::symbolKnownUseEmpty(func, getOperation()))
      return func.emitOpError() << "expected no use of the function, whose "
                                   "results grow by what its gradient needs";
    numResiduals += returned.size() - func.getNumResults();
    func.front().getTerminator()->setOperands(returned);
    func.setType(FunctionType::get(&getContext(), func.getArgumentTypes(),
                                   TypeRange(ValueRange(returned))));
    return success();
  }
};

} // namespace
