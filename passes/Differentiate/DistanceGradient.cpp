//===- DistanceGradient.cpp - the derivative of rt.distance -----*- C++ -*-===//
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

/// With `c_ij = 2 ddist_ij` for the squared distance and `c_ij = ddist_ij /
/// dist_ij` for its root, 0 at 0,
///
///     dq_i = sum_j c_ij (q_i - k_j)        dk_j = sum_i c_ij (k_j - q_i)
///
/// by differences, which cancel no digits; a clamp at 0 does not cut.
struct DistanceGradient
    : public DifferentiableOpInterface::ExternalModel<DistanceGradient,
                                                      DistanceOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    Location loc = op->getLoc();
    auto distance = cast<DistanceOp>(op);
    DistanceOp::Adaptor in(operands, distance);
    Value factors = buildFactors(b, distance, results[0], adjoints[0]);
    SmallVector<LoopOperand> inputs = {{factors, {0, 1, 2}},
                                       {in.getQueries(), {0, 1, 3}},
                                       {in.getKeys(), {0, 2, 3}}};
    Value dQueries = sumAdjoint(b, loc, 4, inputs, {in.getQueries(), {0, 1, 3}},
                                [](ElementBuilder &e, ValueRange v) {
                                  return e.mul(v[0], e.sub(v[1], v[2]));
                                });
    Value dKeys = sumAdjoint(b, loc, 4, inputs, {in.getKeys(), {0, 2, 3}},
                             [](ElementBuilder &e, ValueRange v) {
                               return e.mul(v[0], e.sub(v[2], v[1]));
                             });
    return SmallVector<Value>{dQueries, dKeys};
  }

private:
  /// `c`.
  Value buildFactors(OpBuilder &b, DistanceOp op, Value distances,
                     Value adjoint) const {
    bool isRoot = op.getMetric() == Metric::L2;
    return mapAdjoint(b, op.getLoc(),
                      {{adjoint, {0, 1, 2}}, {distances, {0, 1, 2}}}, distances,
                      [&](ElementBuilder &e, ValueRange v) {
                        if (!isRoot)
                          return e.mul(e.constant(2), v[0]);
                        Value zero = e.constant(0);
                        Value isApart = e.greater(v[1], zero);
                        return e.select(isApart, e.div(v[0], v[1]), zero);
                      });
  }
};

} // namespace

void raytention::registerDistanceGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    DistanceOp::attachInterface<DistanceGradient>(*context);
  });
}
