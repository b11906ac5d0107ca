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

/// With `s_ij = 2` for the squared distance and `s_ij = 1 / dist_ij` for its
/// root, 0 at 0,
///
///     dq_i = sum_j ddist_ij (s_ij (q_i - k_j))
///     dk_j = sum_i ddist_ij (s_ij (k_j - q_i))
///
/// by differences, which cancel no digits; a clamp at 0 does not cut. In this
/// order, as ddist_ij s_ij may leave the type's range where a distance is tiny.
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
    Value scales = buildScales(b, distance, results[0]);
    SmallVector<LoopOperand> inputs = {{adjoints[0], {0, 1, 2}},
                                       {scales, {0, 1, 2}},
                                       {in.getQueries(), {0, 1, 3}},
                                       {in.getKeys(), {0, 2, 3}}};
    Value dQueries =
        sumAdjoint(b, loc, 4, inputs, {in.getQueries(), {0, 1, 3}},
                   [](ElementBuilder &e, ValueRange v) {
                     return e.mul(v[0], e.mul(v[1], e.sub(v[2], v[3])));
                   });
    Value dKeys =
        sumAdjoint(b, loc, 4, inputs, {in.getKeys(), {0, 2, 3}},
                   [](ElementBuilder &e, ValueRange v) {
                     return e.mul(v[0], e.mul(v[1], e.sub(v[3], v[2])));
                   });
    return SmallVector<Value>{dQueries, dKeys};
  }

private:
  /// `s`.
  Value buildScales(OpBuilder &b, DistanceOp op, Value distances) const {
    bool isRoot = op.getMetric() == Metric::L2;
    return mapAdjoint(b, op.getLoc(), {{distances, {0, 1, 2}}}, distances,
                      [&](ElementBuilder &e, ValueRange v) {
                        if (!isRoot)
                          return e.constant(2);
                        Value zero = e.constant(0), one = e.constant(1);
                        Value isApart = e.greater(v[0], zero);
                        Value divisor = e.select(isApart, v[0], one);
                        return e.select(isApart, e.div(one, divisor), zero);
                      });
  }
};

} // namespace

void raytention::registerDistanceGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    DistanceOp::attachInterface<DistanceGradient>(*context);
  });
}
