//===- Moment.cpp - the moment channel ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"

#include <cmath>

using namespace mlir;
using namespace raytention;

namespace {

/// `sum_j w_ij dist_ij^K`.
class MomentAttr : public ChannelBase<MomentAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MomentAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.moment";
  static StringRef getSpelling() { return "moment:K"; }

  static Attribute parseParameters(AsmParser &parser) {
    int64_t power;
    if (parser.parseLess() || parser.parseInteger(power) ||
        parser.parseGreater())
      return {};
    return Base::get(parser.getContext(), std::make_pair(power, 0));
  }
  void printParameters(AsmPrinter &printer) const {
    printer << "<" << power() << ">";
  }

  LogicalResult
  verifyChannel(llvm::function_ref<InFlightDiagnostic()> emitError,
                int64_t) const {
    if (power() < 1 || power() > kLargestPower)
      return emitError() << "expected a power of moment from 1 to "
                         << kLargestPower << ", got " << power();
    return success();
  }

  ChannelForm getForm() const { return ChannelForm::Scalar; }
  long double getLargestValue(long double distance, long double,
                              long double) const {
    return std::pow(distance, static_cast<long double>(power()));
  }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value terms = mapElements(c.builder, c.loc, {c.weights, c.distances},
                              [this](ElementBuilder &b, ValueRange v) {
                                // The power of a distance that no weight asks
                                // for may be infinite.
                                Value zero = b.constant(0);
                                Value distance =
                                    b.select(b.greater(v[0], zero), v[1], zero);
                                return b.mul(v[0], raise(b, distance, power()));
                              });
    return {ReduceOp::create(c.builder, c.loc,
                             getTypeLike(c.weights, {0, 1}, {}, c.element),
                             terms, Value(), FloatAttr()),
            {}};
  }

  /// The sum, and the mean of what powers are above that of the nearest key.
  SmallVector<StateField> getReduceState() const {
    return {{"sum", 0, false}, {"excess", 0, false}};
  }

  SmallVector<Value> updateReduce(ElementBuilder &b, const PairValues &pair,
                                  const ParameterValues &params,
                                  ValueRange state) const {
    Distance distance = getDistance(b, pair, params);
    return {b.fma(pair.mass, raise(b, distance.own, power()), state[0]),
            b.fma(pair.mass, getExcess(b, distance), state[1])};
  }

  SmallVector<Value> mergeReduce(ElementBuilder &b, ValueRange first,
                                 ValueRange second) const {
    return {b.add(first[0], second[0]), b.add(first[1], second[1])};
  }

  Value finish(ElementBuilder &, const RowValues &row,
               const ParameterValues &) const {
    return row.reduce[0];
  }

  SmallVector<StateField> getSavedState() const {
    return {{"excess", 0, false}};
  }
  SmallVector<Value> finishSaved(ElementBuilder &, const RowValues &row,
                                 const ParameterValues &) const {
    return {row.reduce[1]};
  }

  /// w (dw - sum_k w_k dw_k) = G w (dist^K - sum_k w_k dist_k^K), and
  /// ddist = G w K dist^(K-1).
  PairGradient getPairGradient(ElementBuilder &b, const GradientPair &pair,
                               const ParameterValues &params) const {
    Distance distance = getDistance(b, pair, params);
    Value fromMean = b.sub(getExcess(b, distance), pair.saved[0]);
    Value slope = b.constant(power());
    if (power() > 1)
      slope = b.mul(slope, raise(b, distance.own, power() - 1));
    PairGradient gradient;
    gradient.softmax = weigh(b, pair, fromMean);
    gradient.distance = weigh(b, pair, slope);
    return gradient;
  }

private:
  static constexpr int64_t kLargestPower = 4;

  int64_t power() const { return parameters().first; }

  /// Of a pair, 0 where its weight is: masked, or after rounding.
  struct Distance {
    Value own;
    Value beyond; ///< what it is above that of the nearest key
  };

  Distance getDistance(ElementBuilder &b, const PairValues &pair,
                       const ParameterValues &params) const {
    Value zero = b.constant(0);
    Value hasWeight = b.greater(pair.logWeight, b.constant(kLowestLogWeight));
    Value relative = b.select(hasWeight, pair.relative, zero);
    // As dist = -z t.
    return {b.select(hasWeight, pair.distance, zero),
            b.mul(relative, b.sub(zero, params.temperature))};
  }

  /// distance^exponent, from 1 on.
  static Value raise(ElementBuilder &b, Value distance, int64_t exponent) {
    Value result = distance;
    for (int64_t i = 1; i < exponent; ++i)
      result = b.mul(result, distance);
    return result;
  }

  /// dist^K - m^K, m the smallest distance, as (dist - m) sum_i dist^i
  /// m^(K-1-i): no large powers that cancel, and 0 where distances are equal.
  Value getExcess(ElementBuilder &b, const Distance &distance) const {
    Value smallest = b.sub(distance.own, distance.beyond);
    Value sum = b.constant(1), own = distance.own;
    for (int64_t i = 1; i < power(); ++i) {
      sum = b.fma(sum, smallest, own);
      own = b.mul(own, distance.own);
    }
    return b.mul(distance.beyond, sum);
  }

  /// G w value, which may be in the type's range where G value is not, or the
  /// other way round.
  static Value weigh(ElementBuilder &b, const GradientPair &pair, Value value) {
    Value isLarge = b.greater(b.mul(value, value), b.constant(1));
    Value first = b.select(isLarge, pair.weight, pair.gradient);
    Value second = b.select(isLarge, pair.gradient, pair.weight);
    return b.mul(b.mul(first, value), second);
  }
};

} // namespace

void raytention::registerMomentChannel(RayTentionDialect &dialect) {
  dialect.addChannel<MomentAttr>();
}
