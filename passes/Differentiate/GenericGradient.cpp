//===- GenericGradient.cpp - the derivative of an element-wise generic --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/Gradients.h"
#include "passes/Differentiate/ReverseSweep.h"

#include "dialect/RayTention/Differentiable.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace raytention;

namespace {

/// Null if the rule below differentiates `op`, else what is in the way.
const char *findObstacle(linalg::GenericOp op) {
  if (op.getNumResults() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return "one result and parallel loops only";
  AffineMap output = op.getIndexingMapsArray().back();
  if (!output.isIdentity() || !op.getRegionOutputArgs().front().use_empty())
    return "an output that is written in the order of the loops, not read";
  for (AffineMap map : op.getIndexingMapsArray())
    if (!map.isProjectedPermutation())
      return "inputs indexed by loops, each at most once";
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (!llvm::all_of(captured, [](Value value) {
        return matchPattern(value, m_Constant());
      }))
    return "a body that reads its inputs and constants only";
  return nullptr;
}

/// The scalar body backwards, summed over the loops that an input is broadcast
/// along:
///
///     dx[loops of x] = sum over the others of (dbody/dx)(inputs) dy
class ElementWiseRule {
public:
  ElementWiseRule(OpBuilder &builder, linalg::GenericOp op, ValueRange operands,
                  Value adjoint)
      : builder(builder), op(op) {
    for (auto [value, map] :
         llvm::zip(operands.drop_back(), op.getIndexingMapsArray()))
      inputs.push_back({value, getLoops(map)});
    inputs.push_back({adjoint, getLoops(op.getIndexingMapsArray().back())});
  }

  /// The adjoint of input `index`; null after an error.
  Value build(unsigned index) {
    const LoopOperand &input = inputs[index];
    Location loc = op.getLoc();
    bool sums = input.loops.size() < op.getNumLoops();
    LoopOperand output = {sums ? makeZeroAdjoint(builder, loc, input.value)
                               : makeEmptyAdjoint(builder, loc, input.value),
                          input.loops};
    bool failed = false;
    Value adjoint = buildGeneric(
        builder, loc, op.getNumLoops(), inputs, output,
        [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
          Value term = differentiateBody(b, index, v.drop_back());
          failed = !term;
          if (failed)
            return v.back();
          return sums ? arith::AddFOp::create(b, loc, v.back(), term) : term;
        });
    if (failed)
      return {};
    eraseDeadOps(*adjoint.getDefiningOp<linalg::GenericOp>().getBody());
    return adjoint;
  }

private:
  static SmallVector<unsigned> getLoops(AffineMap map) {
    return llvm::map_to_vector(map.getResults(), [](AffineExpr expr) {
      return cast<AffineDimExpr>(expr).getPosition();
    });
  }

  /// `v` are the elements of the inputs, then of the result's adjoint.
  Value differentiateBody(OpBuilder &b, unsigned index, ValueRange v) {
    Block &body = *op.getBody();
    IRMapping mapping;
    for (auto [argument, value] : llvm::zip(body.getArguments(), v.drop_back()))
      mapping.map(Value(argument), value);
    cloneConstants(b, mapping);
    for (Operation &inner : body.without_terminator())
      b.clone(inner, mapping);
    ReverseSweep sweep(body, Value(body.getArgument(index)), mapping);
    sweep.addAdjoint(b, body.getTerminator()->getOperand(0), v.back());
    if (failed(sweep.run(b)))
      return {};
    if (Value adjoint = sweep.getAdjoint(body.getArgument(index)))
      return adjoint;
    return ElementBuilder(b, op.getLoc(), v.back().getType()).constant(0);
  }

  void cloneConstants(OpBuilder &b, IRMapping &mapping) {
    SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    for (Value constant : captured)
      b.clone(*constant.getDefiningOp(), mapping);
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  SmallVector<LoopOperand> inputs;
};

struct GenericGradient
    : public DifferentiableOpInterface::ExternalModel<GenericGradient,
                                                      linalg::GenericOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    auto generic = cast<linalg::GenericOp>(op);
    if (const char *wanted = findObstacle(generic)) {
      op->emitOpError() << "expected a derivative rule, got one only for "
                        << wanted;
      return failure();
    }
    ElementWiseRule rule(b, generic, operands, adjoints[0]);
    SmallVector<Value> operandAdjoints(operands.size());
    for (unsigned index = 0; index < generic.getNumDpsInputs(); ++index) {
      if (!getAdjointType(generic.getInputs()[index].getType()))
        continue;
      operandAdjoints[index] = rule.build(index);
      if (!operandAdjoints[index])
        return failure();
    }
    return operandAdjoints;
  }
};

} // namespace

void raytention::registerGenericGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::GenericOp::attachInterface<GenericGradient>(*context);
  });
}
