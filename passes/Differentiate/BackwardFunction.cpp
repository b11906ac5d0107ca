//===- BackwardFunction.cpp - the backward of one function ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/BackwardFunction.h"
#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/ReverseSweep.h"

#include "dialect/RayTention/Differentiable.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace raytention;

namespace {

class BackwardBuilder {
public:
  BackwardBuilder(func::FuncOp forward, StringRef name)
      : forward(forward), terminator(forward.front().getTerminator()),
        builder(forward.getContext()) {
    builder.setInsertionPointAfter(forward);
    result.function = func::FuncOp::create(builder, forward.getLoc(), name,
                                           getBackwardType());
    // What is said of the function holds for both, but its schedule where the
    // gradient has one of its own.
    result.function->setDiscardableAttrs(
        llvm::to_vector(forward->getDiscardableAttrs()));
    if (Attribute own =
            result.function->removeDiscardableAttr("rt.backward_schedule"))
      result.function->setDiscardableAttr("rt.schedule", own);
    builder.setInsertionPointToStart(result.function.addEntryBlock());
  }

  FailureOr<BackwardFunction> build() {
    mapArguments();
    cloneForward();
    if (failed(buildAdjoints())) {
      result.function.erase();
      return failure();
    }
    eraseDead();
    return result;
  }

private:
  /// The arguments that get an adjoint.
  SmallVector<Value> getVariables() {
    SmallVector<Value> variables;
    for (Value argument : forward.getArguments())
      if (isa<RankedTensorType>(argument.getType()) &&
          getAdjointType(argument.getType()))
        variables.push_back(argument);
    return variables;
  }

  FunctionType getBackwardType() {
    SmallVector<Type> inputs(forward.getArgumentTypes());
    llvm::append_range(inputs, forward.getResultTypes());
    inputs.push_back(getAdjointType(forward.getResultTypes().front()));
    SmallVector<Type> results;
    for (Value variable : getVariables())
      results.push_back(getAdjointType(variable.getType()));
    return builder.getFunctionType(inputs, results);
  }

  /// Arguments stand for arguments, residuals for returned values.
  void mapArguments() {
    ArrayRef<BlockArgument> given = result.function.getArguments();
    for (auto [from, to] : llvm::zip(forward.getArguments(), given))
      mapping.map(Value(from), Value(to));
    given = given.drop_front(forward.getNumArguments());
    for (auto [from, to] : llvm::zip(terminator->getOperands(), given))
      if (!mapping.contains(from))
        mapping.map(from, Value(to));
  }

  /// All of it; what no rule reads is erased again.
  void cloneForward() {
    for (Operation &op : forward.front().without_terminator()) {
      IRMapping cloned = mapping;
      clones.insert(builder.clone(op, cloned));
      for (Value value : op.getResults())
        if (!mapping.contains(value))
          mapping.map(value, cloned.lookup(value));
    }
  }

  LogicalResult buildAdjoints() {
    SmallVector<Value> variables = getVariables();
    ReverseSweep sweep(forward.front(), variables, mapping);
    sweep.addAdjoint(builder, terminator->getOperand(0),
                     result.function.getArguments().back());
    if (failed(sweep.run(builder)))
      return failure();
    result.numRules = sweep.getNumRules();
    SmallVector<Value> adjoints;
    for (Value variable : variables) {
      Value adjoint = sweep.getAdjoint(variable);
      adjoints.push_back(adjoint ? adjoint
                                 : makeZeroAdjoint(builder, forward.getLoc(),
                                                   mapping.lookup(variable)));
    }
    func::ReturnOp::create(builder, terminator->getLoc(), adjoints);
    return success();
  }

  void eraseDead() {
    eraseDeadOps(result.function.front(),
                 [&](Operation *op) { clones.erase(op); });
    result.numRecomputed = clones.size();
  }

  func::FuncOp forward;
  Operation *terminator;
  OpBuilder builder;
  BackwardFunction result;
  /// Forward values to what stands for them in the backward function.
  IRMapping mapping;
  llvm::DenseSet<Operation *> clones;
};

} // namespace

FailureOr<BackwardFunction>
raytention::buildBackwardFunction(func::FuncOp forward, StringRef name) {
  return BackwardBuilder(forward, name).build();
}
