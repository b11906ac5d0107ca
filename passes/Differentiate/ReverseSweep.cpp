//===- ReverseSweep.cpp - adjoints of the values of a block -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/ReverseSweep.h"

#include "dialect/RayTention/Differentiable.h"
#include "dialect/RayTention/TensorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace raytention;

ReverseSweep::ReverseSweep(Block &block, ValueRange variables,
                           const IRMapping &mapping)
    : block(block), mapping(mapping) {
  findActive(block, variables);
}

/// Integers, indices and booleans end the dependence: they have no adjoint.
void ReverseSweep::findActive(Block &block, ValueRange variables) {
  for (Value variable : variables)
    if (getAdjointType(variable.getType()))
      active.insert(variable);
  for (Operation &op : block.without_terminator()) {
    if (!dependsOnVariables(op))
      continue;
    for (Value result : op.getResults())
      if (getAdjointType(result.getType()))
        active.insert(result);
  }
}

bool ReverseSweep::dependsOnVariables(Operation &op) const {
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  auto isActive = [&](Value value) { return active.contains(value); };
  return llvm::any_of(op.getOperands(), isActive) ||
         llvm::any_of(captured, isActive);
}

static Value sum(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!isa<RankedTensorType>(a.getType()))
    return arith::AddFOp::create(builder, loc, a, b);
  return mapElements(builder, loc, {a, b}, [](ElementBuilder &e, ValueRange v) {
    return e.add(v[0], v[1]);
  });
}

void ReverseSweep::addAdjoint(OpBuilder &builder, Value value, Value adjoint) {
  if (!active.contains(value))
    return;
  Location loc = adjoint.getLoc();
  // A rule may know more or fewer of the sizes.
  Type type = getAdjointType(value.getType());
  if (adjoint.getType() != type)
    adjoint = tensor::CastOp::create(builder, loc, type, adjoint);
  Value &total = adjoints[value];
  total = total ? sum(builder, loc, total, adjoint) : adjoint;
}

Value ReverseSweep::getAdjoint(Value value) const {
  return adjoints.lookup(value);
}

LogicalResult ReverseSweep::run(OpBuilder &builder) {
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    SmallVector<Value> resultAdjoints;
    for (Value result : op.getResults())
      resultAdjoints.push_back(getAdjoint(result));
    bool isReached = llvm::any_of(resultAdjoints, [](Value v) { return v; });
    if (isReached && failed(applyRule(builder, op, resultAdjoints)))
      return failure();
  }
  return success();
}

LogicalResult ReverseSweep::applyRule(OpBuilder &builder, Operation &op,
                                      ValueRange resultAdjoints) {
  auto rule = dyn_cast<DifferentiableOpInterface>(op);
  if (!rule)
    return op.emitOpError()
           << "expected a derivative rule, since a gradient flows through it, "
              "got none";
  auto map = [&](ValueRange values) {
    return llvm::map_to_vector(
        values, [&](Value value) { return mapping.lookupOrDefault(value); });
  };
  FailureOr<SmallVector<Value>> operandAdjoints = rule.buildAdjoints(
      builder, map(op.getOperands()), map(op.getResults()), resultAdjoints);
  if (failed(operandAdjoints))
    return failure();
  ++numRules;
  for (auto [operand, adjoint] :
       llvm::zip_equal(op.getOperands(), *operandAdjoints))
    if (adjoint)
      addAdjoint(builder, operand, adjoint);
  return success();
}
