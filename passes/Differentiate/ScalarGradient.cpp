//===- ScalarGradient.cpp - the derivatives of arith and math ops --*- C++
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
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace raytention;

namespace {

using Adjoints = SmallVector<Value>;

Value negate(ElementBuilder &e, Value x) { return e.sub(e.constant(0), x); }

// The rules: x are the operands, y is the result and g its adjoint.

Adjoints apply(arith::AddFOp, ElementBuilder &, ValueRange, Value, Value g) {
  return {g, g};
}
Adjoints apply(arith::SubFOp, ElementBuilder &e, ValueRange, Value, Value g) {
  return {g, negate(e, g)};
}
Adjoints apply(arith::NegFOp, ElementBuilder &e, ValueRange, Value, Value g) {
  return {negate(e, g)};
}
Adjoints apply(arith::MulFOp, ElementBuilder &e, ValueRange x, Value, Value g) {
  return {e.mul(g, x[1]), e.mul(g, x[0])};
}
Adjoints apply(arith::DivFOp, ElementBuilder &e, ValueRange x, Value y,
               Value g) {
  Value quotient = e.div(g, x[1]);
  return {quotient, negate(e, e.mul(quotient, y))};
}
Adjoints apply(math::FmaOp, ElementBuilder &e, ValueRange x, Value, Value g) {
  return {e.mul(g, x[1]), e.mul(g, x[0]), g};
}
Adjoints apply(math::ExpOp, ElementBuilder &e, ValueRange, Value y, Value g) {
  return {e.mul(g, y)};
}
Adjoints apply(math::LogOp, ElementBuilder &e, ValueRange x, Value, Value g) {
  return {e.div(g, x[0])};
}
/// 0 at 0, as for distances.
Adjoints apply(math::SqrtOp, ElementBuilder &e, ValueRange, Value y, Value g) {
  Value zero = e.constant(0);
  Value slope = e.div(g, e.mul(e.constant(2), y));
  Value isPositive = e.greater(y, zero);
  return {e.select(isPositive, slope, zero)};
}
/// The chosen value gets the gradient. A select of the larger of two is their
/// maximum: where they are equal, the first gets it.
Adjoints apply(arith::SelectOp op, ElementBuilder &e, ValueRange x, Value,
               Value g) {
  Value zero = e.constant(0);
  if (!isMaximum(op))
    return {Value(), e.select(x[0], g, zero), e.select(x[0], zero, g)};
  Value isLess = e.less(x[1], x[2]);
  return {Value(), e.select(isLess, zero, g), e.select(isLess, g, zero)};
}

template <typename OpT>
struct ScalarGradient
    : public DifferentiableOpInterface::ExternalModel<ScalarGradient<OpT>,
                                                      OpT> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    Type type = op->getResult(0).getType();
    if (type != adjoints[0].getType() || !isa<FloatType>(type)) {
      op->emitOpError() << "expected a derivative rule for " << type
                        << ", got one for f32 and f64 only";
      return failure();
    }
    ElementBuilder e(b, op->getLoc(), type);
    return apply(cast<OpT>(op), e, operands, results[0], adjoints[0]);
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<ScalarGradient<Ops>>(*context), ...);
}

} // namespace

void raytention::registerScalarGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, arith::ArithDialect *) {
    attach<arith::AddFOp, arith::SubFOp, arith::NegFOp, arith::MulFOp,
           arith::DivFOp, arith::SelectOp>(context);
  });
  registry.addExtension(+[](MLIRContext *context, math::MathDialect *) {
    attach<math::FmaOp, math::ExpOp, math::LogOp, math::SqrtOp>(context);
  });
}
