//===- SoftmaxGradient.cpp - the derivative of rt.softmax -------*- C++ -*-===//
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

#include <limits>

using namespace mlir;
using namespace raytention;

namespace {

/// With `dw` and `dz'` the adjoints of weights and scores,
///
///     dz_ij = dz'_ij + w_ij (dw_ij - sum_k w_ik dw_ik)    on visible pairs
///     ddist_ij = -dz_ij / t        dtau = sum_ij dz_ij dist_ij / t^2
///
/// with `t = max(tau, 0.01)` and no dtau under that floor. What is not visible,
/// where the score is minus infinity, gives exact zeros.
struct SoftmaxGradient
    : public DifferentiableOpInterface::ExternalModel<SoftmaxGradient,
                                                      SoftmaxOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    Location loc = op->getLoc();
    SoftmaxOp::Adaptor in(operands, cast<SoftmaxOp>(op));
    Value dScores = buildScoreAdjoint(b, loc, results[0], results[1], adjoints);
    SmallVector<Value> operandAdjoints(operands.size());
    operandAdjoints[0] =
        mapAdjoint(b, loc, {{dScores, {0, 1, 2}}, {in.getTau(), {}}},
                   in.getDistances(), [](ElementBuilder &e, ValueRange v) {
                     Value negated = e.sub(e.constant(0), v[0]);
                     return e.div(negated, getTemperature(e, v[1]));
                   });
    operandAdjoints[1] =
        sumAdjoint(b, loc, 3,
                   {{dScores, {0, 1, 2}},
                    {in.getDistances(), {0, 1, 2}},
                    {in.getTau(), {}}},
                   {in.getTau(), {}}, [](ElementBuilder &e, ValueRange v) {
                     Value temperature = getTemperature(e, v[2]);
                     Value square = e.mul(temperature, temperature);
                     Value term = e.div(e.mul(v[0], v[1]), square);
                     Value isFloored = e.less(v[2], e.constant(kTauFloor));
                     return e.select(isFloored, e.constant(0), term);
                   });
    return operandAdjoints;
  }

private:
  static Value getTemperature(ElementBuilder &e, Value tau) {
    return e.max(tau, e.constant(kTauFloor));
  }

  static Value isVisible(ElementBuilder &e, Value score) {
    return e.greater(score,
                     e.constant(-std::numeric_limits<double>::infinity()));
  }

  /// `dz`; either adjoint may be absent.
  Value buildScoreAdjoint(OpBuilder &b, Location loc, Value scores,
                          Value weights, ValueRange adjoints) const {
    Value dScores = adjoints[0], dWeights = adjoints[1];
    SmallVector<LoopOperand> inputs = {{scores, {0, 1, 2}}};
    if (dWeights) {
      Value sums = buildSums(b, loc, scores, weights, dWeights);
      inputs.append(
          {{weights, {0, 1, 2}}, {dWeights, {0, 1, 2}}, {sums, {0, 1}}});
    }
    if (dScores)
      inputs.push_back({dScores, {0, 1, 2}});
    return mapAdjoint(b, loc, inputs, scores,
                      [&](ElementBuilder &e, ValueRange v) {
                        Value total;
                        if (dWeights)
                          total = e.mul(v[1], e.sub(v[2], v[3]));
                        if (dScores)
                          total = total ? e.add(total, v.back()) : v.back();
                        Value visible = isVisible(e, v[0]);
                        return e.select(visible, total, e.constant(0));
                      });
  }

  /// `sum_k w_ik dw_ik`.
  Value buildSums(OpBuilder &b, Location loc, Value scores, Value weights,
                  Value dWeights) const {
    return sumRows(
        b, loc,
        {{scores, {0, 1, 2}}, {weights, {0, 1, 2}}, {dWeights, {0, 1, 2}}},
        [](ElementBuilder &e, ValueRange v) {
          Value term = e.mul(v[1], v[2]);
          Value visible = isVisible(e, v[0]);
          return e.select(visible, term, e.constant(0));
        });
  }
};

} // namespace

void raytention::registerSoftmaxGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    SoftmaxOp::attachInterface<SoftmaxGradient>(*context);
  });
}
