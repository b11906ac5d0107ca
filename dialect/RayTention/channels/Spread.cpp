//===- Spread.cpp - the spread channel ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"

using namespace mlir;
using namespace raytention;

namespace {

/// `tau * sum_j w_ij dist_ij`, with the raw tau.
class SpreadAttr : public ChannelBase<SpreadAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpreadAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.spread";

  ChannelForm getForm() const { return ChannelForm::Scalar; }
  long double getLargestValue(long double distance, long double,
                              long double tau) const {
    return tau * distance;
  }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value terms = mapElements(c.builder, c.loc, {c.weights, c.distances, c.tau},
                              [](ElementBuilder &b, ValueRange v) {
                                return b.mul(b.mul(v[0], v[1]), v[2]);
                              });
    return {ReduceOp::create(c.builder, c.loc,
                             getTypeLike(c.weights, {0, 1}, {}, c.element),
                             terms, Value(), FloatAttr()),
            {}};
  }

  /// The sum, and the mean of z - m: distances counted from the mean.
  SmallVector<StateField> getReduceState() const {
    return {{"sum", 0, false}, {"mean", 0, false}};
  }

  SmallVector<Value> updateReduce(ElementBuilder &b, const PairValues &pair,
                                  const ParameterValues &,
                                  ValueRange state) const {
    Value relative = b.select(hasWeight(b, pair), pair.relative, b.constant(0));
    return {b.fma(pair.mass, pair.distance, state[0]),
            b.fma(pair.mass, relative, state[1])};
  }

  SmallVector<Value> mergeReduce(ElementBuilder &b, ValueRange first,
                                 ValueRange second) const {
    return {b.add(first[0], second[0]), b.add(first[1], second[1])};
  }

  Value finish(ElementBuilder &b, const RowValues &row,
               const ParameterValues &params) const {
    return b.mul(params.tau, row.reduce[0]);
  }

  bool isScaledByTau() const { return true; }

  SmallVector<StateField> getSavedState() const { return {{"mean", 0, false}}; }
  SmallVector<Value> finishSaved(ElementBuilder &, const RowValues &row,
                                 const ParameterValues &) const {
    return {row.reduce[1]};
  }

  /// dw = G tau dist. As dist = -z t, the distance less its mean is
  /// `-t (z - m - mean)`: no large distances that cancel, and nothing left for
  /// the softmax to subtract. tau (t ..) stays within the domain where G tau
  /// may not.
  PairGradient getPairGradient(ElementBuilder &b, const GradientPair &pair,
                               const ParameterValues &params) const {
    Value excess = b.select(hasWeight(b, pair),
                            b.sub(pair.relative, pair.saved[0]), b.constant(0));
    Value fromMean = b.mul(excess, b.sub(b.constant(0), params.temperature));
    Value scaled = b.mul(pair.gradient, params.tau);
    return {b.mul(pair.gradient, b.mul(params.tau, fromMean)),
            {},
            b.mul(scaled, pair.weight),
            {}};
  }

  SmallVector<StateField> getGradientState() const {
    return {{"sum", 0, false}};
  }

  SmallVector<Value> updateGradient(ElementBuilder &b, const GradientPair &pair,
                                    const ParameterValues &,
                                    ValueRange state) const {
    return {b.fma(pair.weight, pair.distance, state[0])};
  }

  /// The factor tau: dtau = G sum_j w dist.
  ParameterGradient finishGradient(ElementBuilder &b, const GradientRow &row,
                                   const ParameterValues &,
                                   ValueRange state) const {
    return {b.mul(row.gradient, state[0]), {}, -1};
  }

private:
  /// Whether log w is one of a number: else the pair is masked, or its weight
  /// is 0 after rounding.
  Value hasWeight(ElementBuilder &b, const PairValues &pair) const {
    return b.greater(pair.logWeight, b.constant(kLowestLogWeight));
  }
};

} // namespace

void raytention::registerSpreadChannel(RayTentionDialect &dialect) {
  dialect.addChannel<SpreadAttr>();
}
