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
///     ds_ij = w_ij (dw_ij - sum_k w_ik dw_ik)             on visible pairs
///     dz_ij = dz'_ij + ds_ij         ddist_ij = -dz_ij / t
///     dtau = sum_ij (dz'_ij dist_ij + ds_ij (dist_ij - min_j dist_ij)) / t^2
///
/// with `t = max(tau, 0.01)` and no dtau under that floor. What is not visible,
/// where the score is minus infinity, gives exact zeros. Since the ds of a row
/// sum to 0, their distances may count from the nearest: large ones do not
/// cancel. With `dist = -z t` no power of t leaves the type.
struct SoftmaxGradient
    : public DifferentiableOpInterface::ExternalModel<SoftmaxGradient,
                                                      SoftmaxOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    Location loc = op->getLoc();
    SoftmaxOp::Adaptor in(operands, cast<SoftmaxOp>(op));
    Value scores = results[0], weights = results[1];
    Value direct = adjoints[0], softmax;
    if (adjoints[1])
      softmax = buildSoftmaxAdjoint(b, loc, scores, weights, adjoints[1]);
    SmallVector<Value> operandAdjoints(operands.size());
    operandAdjoints[0] =
        buildDistanceAdjoint(b, loc, in, scores, softmax, direct);
    operandAdjoints[1] = buildTauAdjoint(b, loc, in, scores, softmax, direct);
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

  /// The given of `softmax` and `direct`, behind `inputs`.
  static SmallVector<LoopOperand> appendAdjoints(ArrayRef<LoopOperand> inputs,
                                                 Value softmax, Value direct) {
    SmallVector<LoopOperand> all(inputs);
    for (Value adjoint : {softmax, direct})
      if (adjoint)
        all.push_back({adjoint, {0, 1, 2}});
    return all;
  }

  Value buildDistanceAdjoint(OpBuilder &b, Location loc, SoftmaxOp::Adaptor in,
                             Value scores, Value softmax, Value direct) const {
    auto inputs = appendAdjoints({{scores, {0, 1, 2}}, {in.getTau(), {}}},
                                 softmax, direct);
    return mapAdjoint(
        b, loc, inputs, in.getDistances(), [](ElementBuilder &e, ValueRange v) {
          Value total = v[2];
          if (v.size() > 3)
            total = e.add(total, v[3]);
          Value negated = e.sub(e.constant(0), total);
          Value adjoint = e.div(negated, getTemperature(e, v[1]));
          return e.select(isVisible(e, v[0]), adjoint, e.constant(0));
        });
  }

  Value buildTauAdjoint(OpBuilder &b, Location loc, SoftmaxOp::Adaptor in,
                        Value scores, Value softmax, Value direct) const {
    auto inputs = appendAdjoints({{scores, {0, 1, 2}},
                                  {maxRows(b, loc, scores), {0, 1}},
                                  {in.getTau(), {}}},
                                 softmax, direct);
    return sumAdjoint(b, loc, 3, inputs, {in.getTau(), {}},
                      [&](ElementBuilder &e, ValueRange v) {
                        Value term;
                        if (softmax)
                          term = e.mul(v[3], e.sub(v[1], v[0]));
                        if (direct) {
                          Value own =
                              e.mul(v.back(), e.sub(e.constant(0), v[0]));
                          term = term ? e.add(term, own) : own;
                        }
                        term = e.div(term, getTemperature(e, v[2]));
                        Value isFloored = e.less(v[2], e.constant(kTauFloor));
                        Value counts =
                            e.select(isVisible(e, v[0]), term, e.constant(0));
                        return e.select(isFloored, e.constant(0), counts);
                      });
  }

  /// `w (dw - sum_k w_k dw_k)`.
  Value buildSoftmaxAdjoint(OpBuilder &b, Location loc, Value scores,
                            Value weights, Value dWeights) const {
    Value sums = buildSums(b, loc, scores, weights, dWeights);
    return mapAdjoint(b, loc,
                      {{scores, {0, 1, 2}},
                       {weights, {0, 1, 2}},
                       {dWeights, {0, 1, 2}},
                       {sums, {0, 1}}},
                      scores, [](ElementBuilder &e, ValueRange v) {
                        Value own = e.mul(v[1], e.sub(v[2], v[3]));
                        return e.select(isVisible(e, v[0]), own, e.constant(0));
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
