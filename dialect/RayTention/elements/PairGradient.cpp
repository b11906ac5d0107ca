//===- PairGradient.cpp - the derivative of one pair -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/PairGradient.h"
#include "dialect/RayTention/elements/Distance.h"
#include "dialect/RayTention/elements/Score.h"

using namespace mlir;
using namespace raytention;

using Values = SmallVector<Value>;

namespace {

class PairProgram {
public:
  PairProgram(ElementBuilder &b, const GradientLayout &layout,
              const PairSource &source, ValueRange sums, bool givesWeights)
      : b(b), layout(layout), givesWeights(givesWeights), source(source),
        params(source.params), sums(sums) {
    result.sums.assign(sums.begin(), sums.end());
  }

  PairDerivative run() {
    score();
    for (const GradientSlots &slots : layout.slots)
      visit(slots);
    finish();
    return std::move(result);
  }

private:
  void addTo(Value &sum, Value value) {
    if (value)
      sum = sum ? b.add(sum, value) : value;
  }

  void score() {
    plainScore = getScore(b, source.distance, params);
    Value visible = source.mask.isVisible(b, source.row, source.key);
    pair.distance = source.distance;
    pair.row = source.row;
    pair.key = pair.last = source.key;
    pair.score = maskScore(b, visible, plainScore);
    pair.relative = b.sub(pair.score, source.field(0));
    pair.logSum = source.field(1);
    pair.logWeight = b.sub(pair.relative, pair.logSum);
    pair.weight = b.exp(pair.logWeight);
  }

  void visit(const GradientSlots &slots) {
    ChannelInterface channel = slots.channel;
    if (channel.getForm() == ChannelForm::Copy)
      return;
    Values saved;
    for (int64_t i = 0; i < slots.saved.size; ++i)
      saved.push_back(source.field(slots.saved.begin + i));
    pair.saved = saved;
    if (channel.getForm() == ChannelForm::Weighted)
      visitWeighted(slots);
    else
      visitScalar(slots);
    if (!sums.empty() && slots.state.size > 0)
      llvm::copy(
          channel.updateGradient(
              b, pair, params, sums.slice(slots.state.begin, slots.state.size)),
          result.sums.begin() + slots.state.begin);
  }

  void visitWeighted(const GradientSlots &slots) {
    weigh(slots);
    pair.difference =
        b.sub(source.product(slots.weightSlot), source.field(slots.fields + 2));
    pair.rest = source.field(slots.fields + 3);
    addTo(balanced, b.mul(pair.ownWeight, pair.difference));
    if (givesWeights)
      result.weights.push_back(b.mul(pair.ownWeight, scale()));
  }

  /// a, and for the gamma's gradient a / g: where g is tiny, a is flushed long
  /// before a / g is.
  void weigh(const GradientSlots &slots) {
    ChannelInterface channel = slots.channel;
    pair.ownWeight = pair.weight;
    if (!channel.hasOwnLogSum())
      return;
    Value value = channel.addLogFactor(b, pair, params, pair.relative);
    value = b.sub(value, source.field(slots.logSum));
    int64_t base = channel.getBase();
    if (sums.empty() || base < 0) {
      pair.ownWeight = b.exp(b.sub(value, source.field(slots.fields)));
      return;
    }
    pair.perBase = b.exp(b.sub(value, source.field(slots.fields + 1)));
    pair.ownWeight = b.mul(pair.perBase, params.gammas[base]);
  }

  void visitScalar(const GradientSlots &slots) {
    pair.gradient = source.field(slots.fields);
    ChannelInterface channel = slots.channel;
    PairGradient own = channel.getPairGradient(b, pair, params);
    addTo(weightGradient, own.weight);
    addTo(softmaxGradient, own.softmax);
    addTo(scoreGradient, own.score);
    addTo(distanceGradient, own.distance);
  }

  /// dz = w (dw - sum_k w_k dw_k): of the weighted channels, w dw comes with
  /// its share of the sum subtracted, and scalar ones may do so too; `rest` is
  /// what is left of the others'.
  Value buildSoftmax() {
    Value rest = source.field(layout.weightSum());
    Value other = weightGradient ? b.sub(weightGradient, rest)
                                 : b.sub(b.constant(0), rest);
    Value own = balanced ? b.mul(balanced, scale()) : Value();
    addTo(own, softmaxGradient);
    return b.fma(pair.weight, other, own ? own : b.constant(0));
  }

  void finish() {
    Value softmax = buildSoftmax();
    Value whole = scoreGradient ? b.add(softmax, scoreGradient) : softmax;
    result.coefficient = getCoefficient(whole, distanceGradient);
    if (!sums.empty())
      addTemperature(softmax);
  }

  /// The temperature's sum of dz z. As the softmax's dz sums to 0, its z counts
  /// from the largest: of one key, or of equal ones, nothing is left.
  void addTemperature(Value softmax) {
    Value &sum = result.sums[GradientLayout::kTemperature];
    Value attended = b.greater(pair.logWeight, b.constant(kLowestLogWeight));
    sum = b.fma(softmax, b.select(attended, pair.relative, b.constant(0)), sum);
    if (scoreGradient)
      sum = b.fma(scoreGradient, plainScore, sum);
  }

  /// c of dz and of what is added to ddist: `-2 ddist` for sq_l2,
  /// `-ddist / dist` for l2, 0 where a distance is 0, `-ddist` where it is
  /// tiny.
  Value getCoefficient(Value score, Value distance) {
    Value sum = score ? getScore(b, score, params) : Value();
    addTo(sum, distance);
    if (source.metric == Metric::SqL2)
      return b.mul(sum, b.constant(-2));
    Value zero = b.constant(0), isApart = b.greater(source.distance, zero);
    Value tiny = b.constant(getTinyDistance(b.isDouble()));
    Value divisor = b.select(b.less(source.distance, tiny), b.constant(-1),
                             b.sub(zero, source.distance));
    return b.select(isApart, b.div(sum, divisor), zero);
  }

  Value scale() { return source.field(layout.scale()); }

  ElementBuilder &b;
  const GradientLayout &layout;
  bool givesWeights;
  const PairSource &source;
  const ParameterValues &params;
  ValueRange sums;
  GradientPair pair;
  Value plainScore;
  Value balanced; ///< sum of a (U . k - ..)
  /// Scalar channels'.
  Value weightGradient, softmaxGradient, scoreGradient, distanceGradient;
  PairDerivative result;
};

} // namespace

PairDerivative raytention::derivePair(ElementBuilder &b,
                                      const GradientLayout &layout,
                                      const PairSource &source, ValueRange sums,
                                      bool givesWeights) {
  return PairProgram(b, layout, source, sums, givesWeights).run();
}
