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
/// order, and with a quotient: ddist_ij s_ij, or 1 / dist_ij alone, may leave
/// the type's range where a distance is tiny.
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
    bool isRoot = distance.getMetric() == Metric::L2;
    auto scale = [isRoot](ElementBuilder &e, Value divisor, Value difference) {
      return isRoot ? e.div(difference, divisor)
                    : e.mul(e.constant(2), difference);
    };
    Value divisors = isRoot ? buildDivisors(b, loc, results[0]) : results[0];
    SmallVector<LoopOperand> inputs = {{adjoints[0], {0, 1, 2}},
                                       {divisors, {0, 1, 2}},
                                       {in.getQueries(), {0, 1, 3}},
                                       {in.getKeys(), {0, 2, 3}}};
    Value dQueries =
        sumAdjoint(b, loc, 4, inputs, {in.getQueries(), {0, 1, 3}},
                   [&](ElementBuilder &e, ValueRange v) {
                     return e.mul(v[0], scale(e, v[1], e.sub(v[2], v[3])));
                   });
    Value dKeys =
        sumAdjoint(b, loc, 4, inputs, {in.getKeys(), {0, 2, 3}},
                   [&](ElementBuilder &e, ValueRange v) {
                     return e.mul(v[0], scale(e, v[1], e.sub(v[3], v[2])));
                   });
    return SmallVector<Value>{dQueries, dKeys};
  }

private:
  /// Distances, 1 where they are 0: the differences are 0 there, too.
  Value buildDivisors(OpBuilder &b, Location loc, Value distances) const {
    return mapAdjoint(b, loc, {{distances, {0, 1, 2}}}, distances,
                      [](ElementBuilder &e, ValueRange v) {
                        return e.select(e.greater(v[0], e.constant(0)), v[0],
                                        e.constant(1));
                      });
  }
};

} // namespace

void raytention::registerDistanceGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    DistanceOp::attachInterface<DistanceGradient>(*context);
  });
}
