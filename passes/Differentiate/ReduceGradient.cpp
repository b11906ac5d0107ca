//===- ReduceGradient.cpp - the derivative of rt.reduce ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"
#include "passes/Differentiate/Gradients.h"

#include "dialect/RayTention/Differentiable.h"
#include "dialect/RayTention/RayTention.h"

using namespace mlir;
using namespace raytention;

namespace {

/// Without values `dw_ij = dr_i`. With them, `r = N / max(S, floor)` where
/// `N = sum_j w_ij v_j` and `S = sum_j w_ij` (no floor: r = N),
///
///     dN = dr / max(S, floor)      dS = -(dr . r) / S where S >= floor, else 0
///     dw_ij = dN_i . v_j + dS_i    dv_j = sum_i w_ij dN_i
struct ReduceGradient
    : public DifferentiableOpInterface::ExternalModel<ReduceGradient,
                                                      ReduceOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    Location loc = op->getLoc();
    ReduceOp::Adaptor in(operands, cast<ReduceOp>(op));
    Value weights = in.getWeights(), values = in.getValues();
    if (!values)
      return SmallVector<Value>{
          mapAdjoint(b, loc, {{adjoints[0], {0, 1}}}, weights,
                     [](ElementBuilder &, ValueRange v) { return v[0]; })};
    Value dSums = adjoints[0], dTotals;
    if (FloatAttr floor = cast<ReduceOp>(op).getFloorAttr())
      std::tie(dSums, dTotals) = differentiateQuotient(
          b, loc, weights, results[0], adjoints[0], floor.getValueAsDouble());
    Value dWeights = buildWeightAdjoint(b, loc, in, dSums, dTotals);
    Value dValues =
        sumAdjoint(b, loc, 4, {{weights, {0, 1, 2}}, {dSums, {0, 1, 3}}},
                   {values, {0, 2, 3}}, [](ElementBuilder &e, ValueRange v) {
                     return e.mul(v[0], v[1]);
                   });
    return SmallVector<Value>{dWeights, dValues};
  }

private:
  /// `dw`; `dTotals` (dS) is null without a floor.
  Value buildWeightAdjoint(OpBuilder &b, Location loc, ReduceOp::Adaptor in,
                           Value dSums, Value dTotals) const {
    Value products = sumAdjoint(
        b, loc, 4, {{dSums, {0, 1, 3}}, {in.getValues(), {0, 2, 3}}},
        {in.getWeights(), {0, 1, 2}},
        [](ElementBuilder &e, ValueRange v) { return e.mul(v[0], v[1]); });
    if (!dTotals)
      return products;
    return mapAdjoint(
        b, loc, {{products, {0, 1, 2}}, {dTotals, {0, 1}}}, in.getWeights(),
        [](ElementBuilder &e, ValueRange v) { return e.add(v[0], v[1]); });
  }

  /// `dN` and `dS` of a floored quotient.
  std::pair<Value, Value> differentiateQuotient(OpBuilder &b, Location loc,
                                                Value weights, Value quotient,
                                                Value adjoint,
                                                double floor) const {
    Value totals = sumRows(b, loc, {{weights, {0, 1, 2}}},
                           [](ElementBuilder &, ValueRange v) { return v[0]; });
    Value dSums =
        mapAdjoint(b, loc, {{adjoint, {0, 1, 2}}, {totals, {0, 1}}}, quotient,
                   [&](ElementBuilder &e, ValueRange v) {
                     return e.div(v[0], e.max(v[1], e.constant(floor)));
                   });
    Value dTotals = sumRows(
        b, loc, {{dSums, {0, 1, 2}}, {quotient, {0, 1, 2}}, {totals, {0, 1}}},
        [&](ElementBuilder &e, ValueRange v) {
          Value zero = e.constant(0);
          Value term = e.sub(zero, e.mul(v[0], v[1]));
          Value isUnder = e.less(v[2], e.constant(floor));
          return e.select(isUnder, zero, term);
        });
    return {dSums, dTotals};
  }
};

} // namespace

void raytention::registerReduceGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    ReduceOp::attachInterface<ReduceGradient>(*context);
  });
}
