//===- NormalizeGradient.cpp - the derivative of rt.normalize ---*- C++ -*-===//
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

/// With `dy` and `dn` the adjoints of rows and norms,
///
///     dx = (dy - y (y . dy)) / norm + dn x / norm      where norm > 1e-10
///     dx = dy / 1e-10 + dn x / norm                    elsewhere, 0 / 0 = 0
///
/// and zeros in rows at or beyond their sequence's length.
struct NormalizeGradient
    : public DifferentiableOpInterface::ExternalModel<NormalizeGradient,
                                                      NormalizeOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands,
                                              ValueRange results,
                                              ValueRange adjoints) const {
    Location loc = op->getLoc();
    NormalizeOp::Adaptor in(operands, cast<NormalizeOp>(op));
    Value y = results[0], dRows = adjoints[0], dNorms = adjoints[1];
    SmallVector<LoopOperand> inputs = {{results[1], {0, 1}}};
    if (dRows) {
      Value dots = sumRows(
          b, loc, {{y, {0, 1, 2}}, {dRows, {0, 1, 2}}},
          [](ElementBuilder &e, ValueRange v) { return e.mul(v[0], v[1]); });
      inputs.append({{y, {0, 1, 2}}, {dRows, {0, 1, 2}}, {dots, {0, 1}}});
    }
    if (dNorms)
      inputs.append({{in.getX(), {0, 1, 2}}, {dNorms, {0, 1}}});
    Positions positions(in.getQueryOffset(), in.getLengths());
    SmallVector<Value> operandAdjoints(operands.size());
    operandAdjoints[0] = buildGeneric(
        b, loc, 3, inputs, {makeEmptyAdjoint(b, loc, y), {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange v) {
          ElementBuilder e(b, loc, v.back().getType());
          Value total =
              addTerms(e, v.drop_back(), dRows != nullptr, dNorms != nullptr);
          Value inside = positions.isInside(b, loc, positions.getRow(b, loc));
          return e.select(inside, total, e.constant(0));
        });
    return operandAdjoints;
  }

private:
  /// `v` is the norm; with `hasRows` y, dy and y . dy; with `hasNorms` x, dn.
  static Value addTerms(ElementBuilder &e, ValueRange v, bool hasRows,
                        bool hasNorms) {
    Value zero = e.constant(0), floor = e.constant(kNormFloor), total;
    if (hasRows) {
      Value isNormal = e.greater(v[0], floor);
      Value along = e.select(isNormal, e.mul(v[1], v[3]), zero);
      Value across = e.sub(v[2], along);
      total = e.div(across, e.max(v[0], floor));
    }
    if (!hasNorms)
      return total;
    ValueRange last = v.take_back(2);
    Value slope = e.div(e.mul(last[1], last[0]), v[0]);
    Value isPositive = e.greater(v[0], zero);
    Value term = e.select(isPositive, slope, zero);
    return total ? e.add(total, term) : term;
  }
};

} // namespace

void raytention::registerNormalizeGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    NormalizeOp::attachInterface<NormalizeGradient>(*context);
  });
}
