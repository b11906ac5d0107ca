//===- PairGradientKernel.cpp - the pairs of a gradient ------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/GradientKernels.h"
#include "dialect/RayTention/MetricGradient.h"
#include "dialect/RayTention/SoftmaxGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

namespace {

/// One vector of items against all that passes by.
class PairLanes {
public:
  PairLanes(KernelBuilder &k, const GradientPairs &pairs, Value lane)
      : k(k), pairs(pairs), lane(lane), e(k.b, k.loc, k.layout.vectorType()),
        params(getParameterValues(k, pairs.params, /*inLanes=*/true)),
        isQuery(pairs.side == PairSide::Query) {
    Value base = isQuery ? pairs.row : pairs.key;
    Value first = k.splat(k.toI32(k.add(base, lane)));
    items = arith::AddIOp::create(k.b, k.loc, first, k.laneIndices());
    scale = k.splat(pairs.params.scoreScale);
  }

  void run() {
    int64_t numSums = isQuery ? pairs.layout.numStates : 1;
    Values sums;
    for (int64_t i = 0; i < numSums; ++i)
      sums.push_back(k.loadVector(pairs.sums.data, sumAt(i)));
    sums = k.carry(k.index(0), pairs.count, 1, sums,
                   [&](Value passing, ValueRange carried) {
                     return visit(passing, carried);
                   });
    for (int64_t i = 0; i < numSums; ++i)
      k.storeVector(sums[i], pairs.sums.data, sumAt(i));
  }

private:
  Values sumAt(int64_t field) {
    return {pairs.sums.part, k.index(field), lane};
  }

  /// A field of the pair's row, in every lane.
  Value field(int64_t number, Value passing) {
    Values at = {pairs.rows.part, k.index(number), isQuery ? lane : passing};
    if (isQuery)
      return k.loadVector(pairs.rows.data, at);
    return k.splat(k.load(pairs.rows.data, at));
  }
  /// `value - m - log l` of the saved pair at `number`.
  Value subtractLogSum(Value value, int64_t number, Value passing) {
    return e.sub(e.sub(value, field(number, passing)),
                 field(number + 1, passing));
  }

  GradientPair makePair(Value passing) {
    GradientPair pair;
    pair.distance = k.loadVector(pairs.distances.data,
                                 {k.add(pairs.distances.begin, passing), lane});
    Value other =
        k.splat(k.toI32(k.add(isQuery ? pairs.key : pairs.row, passing)));
    pair.row = isQuery ? items : other;
    pair.key = isQuery ? other : items;
    Value visible = pairs.mask.isVisible(e, pair.row, pair.key);
    pair.score = e.select(visible, e.mul(pair.distance, scale),
                          e.constant(-std::numeric_limits<double>::infinity()));
    pair.logWeight = subtractLogSum(pair.score, 0, passing);
    pair.weight = e.exp(pair.logWeight);
    return pair;
  }

  Values productAt(const GradientSlots &slots, Value passing) {
    if (isQuery)
      return {passing, k.add(lane, slots.weightSlot * k.layout.itemLanes())};
    return {k.add(passing, slots.weightSlot * pairs.bound), lane};
  }

  /// The derivatives of one pair, as far as channels know them.
  struct Derivatives {
    Value balanced;                ///< w dw of the weighted channels
    Value weight, score, distance; ///< of the scalar ones; null is 0
  };

  void addTo(Value &sum, Value value) {
    if (value)
      sum = sum ? e.add(sum, value) : value;
  }

  void visitWeighted(const GradientSlots &slots, Value passing,
                     GradientPair &pair, Derivatives &all) {
    ChannelInterface channel = slots.channel;
    Value value = channel.addLogFactor(e, pair, params, pair.score);
    Value own = e.exp(subtractLogSum(value, slots.logSum, passing));
    Value weight = e.mul(own, field(slots.fields, passing));
    Values at = productAt(slots, passing);
    Value product = k.loadVector(pairs.products, at);
    if (!isQuery)
      k.storeVector(weight, pairs.products, at);
    Value offset = field(slots.fields + 1, passing);
    pair.weightGradient = e.mul(weight, e.sub(product, offset));
    addTo(all.balanced, pair.weightGradient);
  }

  void visitScalar(const GradientSlots &slots, Value passing,
                   GradientPair &pair, Derivatives &all) {
    pair.gradient = field(slots.fields, passing);
    ChannelInterface channel = slots.channel;
    PairGradient own = channel.getPairGradient(e, pair, params);
    addTo(all.weight, own.weight);
    addTo(all.score, own.score);
    addTo(all.distance, own.distance);
  }

  Values visit(Value passing, ValueRange carried) {
    GradientPair pair = makePair(passing);
    Derivatives all;
    Values next(carried);
    for (const GradientSlots &slots : pairs.layout.slots) {
      ChannelInterface channel = slots.channel;
      if (channel.getForm() == ChannelForm::Copy)
        continue;
      Values saved;
      for (int64_t i = 0; i < slots.saved.size; ++i)
        saved.push_back(field(slots.saved.begin + i, passing));
      pair.saved = saved;
      if (slots.weightSlot >= 0)
        visitWeighted(slots, passing, pair, all);
      else
        visitScalar(slots, passing, pair, all);
      if (isQuery && slots.state.size > 0)
        llvm::copy(channel.updateGradient(
                       e, pair, params,
                       carried.slice(slots.state.begin, slots.state.size)),
                   next.begin() + slots.state.begin);
    }
    finishPair(passing, pair, all, carried, next);
    return next;
  }

  /// Softmax, score and metric: the coefficient, and the sums it enters.
  void finishPair(Value passing, const GradientPair &pair,
                  const Derivatives &all, ValueRange carried, Values &next) {
    Value balanced = all.balanced ? all.balanced : e.constant(0);
    Value rest = field(pairs.layout.weightSum(), passing);
    Value softmax =
        getScoreGradient(e, balanced, pair.weight, all.weight, rest);
    Value coefficient =
        toCoefficient(all.score ? e.add(softmax, all.score) : softmax,
                      all.distance, pair.distance);
    k.storeVector(coefficient, pairs.coefficients, {passing, lane});
    if (!isQuery) {
      next[0] = e.add(carried[0], coefficient);
      return;
    }
    // The row's nearest distance, from its largest score.
    Value nearest =
        e.mul(e.sub(e.constant(0), field(0, passing)), params.temperature);
    next[GradientLayout::kTemperature] =
        addTemperature(e, softmax, all.score, pair.distance, nearest,
                       carried[GradientLayout::kTemperature]);
    Value summed = coefficient;
    if (keepsBalance(pairs.metric))
      summed = all.score || all.distance
                   ? toCoefficient(all.score, all.distance, pair.distance)
                   : Value();
    if (summed)
      next[GradientLayout::kCoefficient] =
          e.add(carried[GradientLayout::kCoefficient], summed);
  }

  Value toCoefficient(Value score, Value distance, Value at) {
    Value sum = score ? getDistanceGradient(e, score, scale) : Value();
    addTo(sum, distance);
    return getDistanceCoefficient(e, pairs.metric, sum, at);
  }

  KernelBuilder &k;
  const GradientPairs &pairs;
  Value lane, items, scale;
  ElementBuilder e;
  ParameterValues params;
  bool isQuery;
};

} // namespace

/// The key side's products read whole stacks: weights and coefficients of rows
/// that are not there must be zero.
static void clearMissing(KernelBuilder &k, const GradientPairs &pairs,
                         Value lane) {
  k.loop(pairs.count, k.index(pairs.bound), 1, [&](Value row) {
    for (int64_t slot = 0; slot < pairs.layout.numWeighted; ++slot)
      k.storeVector(k.zeroVector(), pairs.products,
                    {k.add(row, slot * pairs.bound), lane});
  });
}

void raytention::weighGradients(KernelBuilder &k, const GradientPairs &pairs) {
  k.loop(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes,
         [&](Value lane) {
           PairLanes(k, pairs, lane).run();
           if (pairs.side == PairSide::Key)
             clearMissing(k, pairs, lane);
         });
}
