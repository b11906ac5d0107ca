//===- DecayGradient.cpp - the derivative of rt.decay -----------*- C++ -*-===//
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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace raytention;

namespace {

/// One pair inside a generic: `power` is p, `sum` the output so far.
struct Pair {
  Value weight, adjoint, power, sum;
};

/// With `a_ij = w_ij g^p`,
///
///     dw_ij = g^p da_ij        dg = sum_ij w_ij da_ij p g^(p-1)
///
/// where `0 log g = 0`. A weight of 0 stays 0 whatever the power, so a pair of
/// weight 0 with a negative exponent, which no row sees, gives 0 and never the
/// product of 0 and an overflowed power.
class DecayRule {
public:
  DecayRule(OpBuilder &b, DecayOp op, DecayOp::Adaptor in, Value adjoint)
      : b(b), loc(op.getLoc()), op(op), in(in), adjoint(adjoint),
        index(arith::ConstantIndexOp::create(b, loc, op.getIndex())),
        numKeys(tensor::DimOp::create(b, loc, in.getWeights(), 2)) {
    Value gamma = tensor::ExtractOp::create(b, loc, in.getGammas(), index);
    logGamma = math::LogOp::create(b, loc, gamma);
  }

  Value buildWeightAdjoint() {
    Value empty = makeEmptyAdjoint(b, loc, in.getWeights());
    return build({empty, {0, 1, 2}}, [&](ElementBuilder &e, const Pair &pair) {
      Value zero = e.constant(0);
      Value hasNone = isEqual(pair.weight, zero);
      Value isHidden = e.logicalAnd(hasNone, e.less(pair.power, zero));
      Value product = e.mul(pair.adjoint, raise(e, pair.power));
      return e.select(isHidden, zero, product);
    });
  }

  /// [n], zero but at the op's own index.
  Value buildGammaAdjoint() {
    auto scalar =
        RankedTensorType::get({}, getElementTypeOrSelf(adjoint.getType()));
    Value sum = build({makeFilled(b, loc, scalar, {}, 0), {}},
                      [&](ElementBuilder &e, const Pair &pair) {
                        Value zero = e.constant(0);
                        Value slope =
                            raise(e, e.sub(pair.power, e.constant(1)));
                        Value product = e.mul(pair.weight, pair.adjoint);
                        Value term = e.mul(product, e.mul(pair.power, slope));
                        term = e.select(isEqual(pair.weight, zero), zero, term);
                        term = e.select(isEqual(pair.power, zero), zero, term);
                        return e.add(pair.sum, term);
                      });
    Value value = tensor::ExtractOp::create(b, loc, sum, ValueRange());
    Value zeros = makeZeroAdjoint(b, loc, in.getGammas());
    return tensor::InsertOp::create(b, loc, value, zeros, index);
  }

private:
  Value build(const LoopOperand &output,
              llvm::function_ref<Value(ElementBuilder &, const Pair &)> body) {
    return buildGeneric(
        b, loc, 3, {{in.getWeights(), {0, 1, 2}}, {adjoint, {0, 1, 2}}}, output,
        [&](OpBuilder &inner, Location, ValueRange v) {
          OpBuilder::InsertionGuard guard(b);
          b.restoreInsertionPoint(inner.saveInsertionPoint());
          ElementBuilder e(b, loc, v[2].getType());
          Positions positions(in.getQueryOffset(), in.getLengths());
          Value exponent = positions.getDecayExponent(b, loc, op.getDirection(),
                                                      op.getOrigin(), numKeys);
          exponent =
              arith::IndexCastOp::create(b, loc, b.getI64Type(), exponent);
          return body(e, {v[0], v[1], e.toFloat(exponent), v[2]});
        });
  }

  /// `gamma^power`.
  Value raise(ElementBuilder &e, Value power) {
    Value zero = e.constant(0);
    Value isZero = isEqual(power, zero);
    return e.exp(e.select(isZero, zero, e.mul(power, logGamma)));
  }

  Value isEqual(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
  }

  OpBuilder &b;
  Location loc;
  DecayOp op;
  DecayOp::Adaptor in;
  Value adjoint, index, numKeys, logGamma;
};

struct DecayGradient
    : public DifferentiableOpInterface::ExternalModel<DecayGradient, DecayOp> {
  FailureOr<SmallVector<Value>> buildAdjoints(Operation *op, OpBuilder &b,
                                              ValueRange operands, ValueRange,
                                              ValueRange adjoints) const {
    auto decay = cast<DecayOp>(op);
    DecayRule rule(b, decay, DecayOp::Adaptor(operands, decay), adjoints[0]);
    SmallVector<Value> operandAdjoints(operands.size());
    operandAdjoints[0] = rule.buildWeightAdjoint();
    operandAdjoints[1] = rule.buildGammaAdjoint();
    return operandAdjoints;
  }
};

} // namespace

void raytention::registerDecayGradient(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RayTentionDialect *) {
    DecayOp::attachInterface<DecayGradient>(*context);
  });
}
