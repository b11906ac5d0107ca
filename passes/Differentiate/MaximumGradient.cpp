//===- MaximumGradient.cpp - the derivative of a maximum over an axis --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/Gradients.h"

#include "dialect/RayTention/Differentiable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <limits>

using namespace mlir;
using namespace raytention;

namespace {

/// Whether the op is `max` of one input over one axis, from a constant on.
bool isMaximumOfAxis(linalg::ReduceOp op) {
  if (op.getInputs().size() != 1 || op.getDimensions().size() != 1)
    return false;
  auto fill = op.getInits().front().getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs().front(), m_Constant()))
    return false;
  Operation *yielded = op.getCombiner().front().getTerminator();
  auto select = yielded->getOperand(0).getDefiningOp<arith::SelectOp>();
  return select && isMaximum(select);
}

/// The gradient goes to the lowest position that attains the maximum:
///
///     p_i = min { j : x_ij = m_i }        dx_ij = [j = p_i] dm_i
struct MaximumGradient
    : public DifferentiableOpInterface::ExternalModel<MaximumGradient,
                                                      linalg::ReduceOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    auto reduce = cast<linalg::ReduceOp>(op);
    if (!isMaximumOfAxis(reduce)) {
      op->emitOpError() << "expected a derivative rule, got one only for a "
                           "maximum over one axis that starts at a constant";
      return failure();
    }
    unsigned axis = reduce.getDimensions().front();
    unsigned rank = cast<RankedTensorType>(operands[0].getType()).getRank();
    auto loops = llvm::to_vector(llvm::seq<unsigned>(0, rank));
    SmallVector<unsigned> outer = loops;
    outer.erase(outer.begin() + axis);
    Location loc = op->getLoc();
    Value positions =
        findPositions(b, loc, {operands[0], loops}, {results[0], outer}, axis);
    Value adjoint = buildGeneric(
        b, loc, rank, {{positions, outer}, {adjoints[0], outer}},
        {makeEmptyAdjoint(b, loc, operands[0]), loops},
        [&](OpBuilder &b, Location loc, ValueRange v) {
          ElementBuilder e(b, loc, v[2].getType());
          Value isHere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                               v[0], getPosition(b, loc, axis));
          return e.select(isHere, v[1], e.constant(0));
        });
    return SmallVector<Value>{adjoint, {}};
  }

private:
  static Value getPosition(OpBuilder &b, Location loc, unsigned axis) {
    Value index = linalg::IndexOp::create(b, loc, axis);
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }

  /// `p`, i64 of the shape of `maxima`.
  Value findPositions(OpBuilder &b, Location loc, const LoopOperand &input,
                      const LoopOperand &maxima, unsigned axis) const {
    auto type = cast<RankedTensorType>(maxima.value.getType());
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Value none = arith::ConstantIntOp::create(
        b, loc, std::numeric_limits<int64_t>::max(), 64);
    Value empty = makeEmpty(b, loc, type.clone(b.getI64Type()),
                            getSizes(b, loc, maxima.value, axes));
    Value init = linalg::FillOp::create(b, loc, none, empty).getResult(0);
    return buildGeneric(b, loc, input.loops.size(), {input, maxima},
                        {init, maxima.loops},
                        [&](OpBuilder &b, Location loc, ValueRange v) -> Value {
                          Value attains = arith::CmpFOp::create(
                              b, loc, arith::CmpFPredicate::OEQ, v[0], v[1]);
                          Value position = arith::SelectOp::create(
                              b, loc, attains, getPosition(b, loc, axis), none);
                          return arith::MinSIOp::create(b, loc, v[2], position);
                        });
  }
};

} // namespace

void raytention::registerMaximumGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    linalg::ReduceOp::attachInterface<MaximumGradient>(*context);
  });
}
