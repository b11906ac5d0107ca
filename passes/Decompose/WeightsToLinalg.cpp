//===- WeightsToLinalg.cpp - rt.softmax and rt.decay in linalg --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Decompose/GenericBuilder.h"
#include "passes/Decompose/Passes.h"
#include "passes/Decompose/ToLinalgPatterns.h"

#include "dialect/RayTention/TensorBuilder.h"

#include "mlir/IR/PatternMatch.h"

#include <limits>

using namespace mlir;
using namespace raytention;

namespace {

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

Value toI32(OpBuilder &b, Location loc, Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}

/// Max-subtracted: scores, their row maxima, the sums of `exp(z - m)`, and the
/// quotients. `exp(z - m) / sum` keeps digits that `exp(z - lse)` would lose to
/// the rounding of a large lse.
struct LowerSoftmax : public OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    MaskInterface mask = getMaskOrCausal(op.getContext(), op.getMaskAttr());
    Value scores = buildScores(op, rewriter, mask);
    Value maxima = reduceRows(
        op, rewriter, {{scores, {0, 1, 2}}},
        ElementBuilder::getLowest(elementOf(scores)),
        [](ElementBuilder &e, ValueRange v) { return e.max(v[1], v[0]); });
    Value sums =
        reduceRows(op, rewriter, {{scores, {0, 1, 2}}, {maxima, {0, 1}}}, 0,
                   [](ElementBuilder &e, ValueRange v) {
                     return e.add(v[2], e.exp(e.sub(v[0], v[1])));
                   });
    rewriter.replaceOp(
        op, {scores, buildWeights(op, rewriter, scores, maxima, sums)});
    return success();
  }

private:
  /// `-dist / max(tau, 0.01)`, minus infinity where masked. A row beyond its
  /// sequence sees nothing.
  Value buildScores(SoftmaxOp op, OpBuilder &builder,
                    MaskInterface mask) const {
    Location loc = op.getLoc();
    Type element = elementOf(op.getScores());
    Positions positions(op.getQueryOffset(), op.getLengths());
    return mapPairs(
        op, builder, {{op.getDistances(), {0, 1, 2}}, {op.getTau(), {}}},
        [&](OpBuilder &b, ValueRange v) {
          ElementBuilder e(b, loc, element);
          Value key = linalg::IndexOp::create(b, loc, 2);
          Value row = positions.getRow(b, loc);
          Value row32 = toI32(b, loc, row), key32 = toI32(b, loc, key);
          Value visible = mask.isVisible(e, row32, key32);
          visible = e.logicalAnd(visible, positions.isInside(b, loc, key));
          visible = e.logicalAnd(visible, positions.isInside(b, loc, row));
          Value temperature = e.max(v[1], e.constant(kTauFloor));
          Value z = e.div(e.sub(e.constant(0), v[0]), temperature);
          return e.select(visible, z,
                          e.constant(-std::numeric_limits<double>::infinity()));
        });
  }

  /// `exp(z - m) / sum`; 0 in a row that sees nothing, where the sum is 0.
  Value buildWeights(SoftmaxOp op, OpBuilder &builder, Value scores,
                     Value maxima, Value sums) const {
    Type element = elementOf(op.getScores());
    return mapPairs(op, builder,
                    {{scores, {0, 1, 2}}, {maxima, {0, 1}}, {sums, {0, 1}}},
                    [&](OpBuilder &b, ValueRange v) {
                      ElementBuilder e(b, op.getLoc(), element);
                      Value zero = e.constant(0);
                      Value weight = e.div(e.exp(e.sub(v[0], v[1])), v[2]);
                      return e.select(e.greater(v[2], zero), weight, zero);
                    });
  }

  template <typename Body>
  Value mapPairs(SoftmaxOp op, OpBuilder &builder, ArrayRef<LoopOperand> inputs,
                 Body body) const {
    Location loc = op.getLoc();
    Value like = op.getDistances();
    Value empty = makeEmpty(builder, loc, like.getType(),
                            getSizes(builder, loc, like, {0, 1, 2}));
    return buildGeneric(
        builder, loc, 3, inputs, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location, ValueRange args) { return body(b, args); });
  }

  template <typename Body>
  Value reduceRows(SoftmaxOp op, OpBuilder &builder,
                   ArrayRef<LoopOperand> inputs, double start,
                   Body body) const {
    Location loc = op.getLoc();
    Value like = op.getDistances();
    Type element = elementOf(like);
    Value init =
        makeFilled(builder, loc, getTypeLike(like, {0, 1}, {}, element),
                   getSizes(builder, loc, like, {0, 1}), start);
    return buildGeneric(builder, loc, 3, inputs, {init, {0, 1}},
                        [&](OpBuilder &b, Location loc, ValueRange args) {
                          ElementBuilder e(b, loc, element);
                          return body(e, args);
                        });
  }
};

/// `w * exp(p log g)`; a weight of 0 stays 0 whatever the power, since masked
/// keys have exponents below 0.
struct LowerDecay : public OpRewritePattern<DecayOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DecayOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value weights = op.getWeights();
    Value logGamma = buildLogGamma(op, rewriter);
    Value numKeys = tensor::DimOp::create(rewriter, loc, weights, 2);
    Value empty = makeEmpty(rewriter, loc, weights.getType(),
                            getSizes(rewriter, loc, weights, {0, 1, 2}));
    Value decayed = buildGeneric(
        rewriter, loc, 3, {{weights, {0, 1, 2}}}, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          Positions positions(op.getQueryOffset(), op.getLengths());
          Value exponent = positions.getDecayExponent(b, loc, op.getDirection(),
                                                      op.getOrigin(), numKeys);
          return decay(b, loc, args[0], exponent, logGamma);
        });
    rewriter.replaceOp(op, decayed);
    return success();
  }

private:
  Value buildLogGamma(DecayOp op, OpBuilder &b) const {
    Location loc = op.getLoc();
    Value index = arith::ConstantIndexOp::create(b, loc, op.getIndex());
    Value gamma = tensor::ExtractOp::create(b, loc, op.getGammas(), index);
    return math::LogOp::create(b, loc, gamma);
  }

  Value decay(OpBuilder &b, Location loc, Value weight, Value exponent,
              Value logGamma) const {
    ElementBuilder e(b, loc, weight.getType());
    Value zero = e.constant(0);
    auto isZero = [&](Value value) -> Value {
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value,
                                   zero);
    };
    Value power =
        e.toFloat(arith::IndexCastOp::create(b, loc, b.getI64Type(), exponent));
    // 0 log g is 0, also where g is 0.
    Value logFactor = e.select(isZero(power), zero, e.mul(power, logGamma));
    Value decayed = e.mul(weight, e.exp(logFactor));
    return e.select(isZero(weight), zero, decayed);
  }
};

} // namespace

void raytention::populateWeightsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerSoftmax, LowerDecay>(patterns.getContext());
}
