//===- Entropy.cpp - the entropy channel ------*- C++ -*-===//
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

/// `-sum_j w_ij log(max(w_ij, 1e-10))`.
class EntropyAttr : public ChannelBase<EntropyAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EntropyAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.entropy";

  ChannelForm getForm() const { return ChannelForm::Scalar; }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value terms = mapElements(
        c.builder, c.loc, {c.weights}, [](ElementBuilder &b, ValueRange v) {
          Value clamped = b.max(v[0], b.constant(kWeightThreshold));
          return b.sub(b.constant(0), b.mul(v[0], b.log(clamped)));
        });
    return {ReduceOp::create(c.builder, c.loc,
                             getTypeLike(c.weights, {0, 1}, {}, c.element),
                             terms, Value(), FloatAttr()),
            {}};
  }

  /// The sum, and the mean of what the derivative makes of log w.
  SmallVector<StateField> getReduceState() const {
    return {{"sum", 0, false}, {"mean", 0, false}};
  }

  SmallVector<Value> updateReduce(ElementBuilder &b, const PairValues &pair,
                                  const ParameterValues &,
                                  ValueRange state) const {
    Value threshold = b.constant(kLogWeightThreshold), zero = b.constant(0);
    Value clamped = b.max(pair.logWeight, threshold);
    return {b.fma(pair.mass, b.sub(zero, clamped), state[0]),
            b.fma(pair.mass, getSlope(b, pair), state[1])};
  }

  SmallVector<Value> mergeReduce(ElementBuilder &b, ValueRange first,
                                 ValueRange second) const {
    return {b.add(first[0], second[0]), b.add(first[1], second[1])};
  }

  Value finish(ElementBuilder &, const RowValues &row,
               const ParameterValues &) const {
    return row.reduce[0];
  }

  SmallVector<StateField> getSavedState() const { return {{"mean", 0, false}}; }
  SmallVector<Value> finishSaved(ElementBuilder &, const RowValues &row,
                                 const ParameterValues &) const {
    return {row.reduce[1]};
  }

  /// dw = -G (log max(w, 1e-10) + [w >= 1e-10]), plus a constant that the
  /// softmax takes out again: -G slope. What is subtracted is known.
  RowGradient prepareGradient(ElementBuilder &b, const GradientRow &row,
                              const ParameterValues &) const {
    Value negated = b.sub(b.constant(0), row.gradient);
    return {{}, {}, {}, b.mul(negated, row.saved[0])};
  }

  PairGradient getPairGradient(ElementBuilder &b, const GradientPair &pair,
                               const ParameterValues &) const {
    Value negated = b.sub(b.constant(0), pair.gradient);
    return {b.mul(negated, getSlope(b, pair)), {}, {}, {}};
  }

private:
  /// log max(w, 1e-10) + [w >= 1e-10] with log w counted from the largest:
  /// where all weights are nearly equal, log w itself would be rounded more
  /// than they differ.
  Value getSlope(ElementBuilder &b, const PairValues &pair) const {
    Value threshold = b.constant(kLogWeightThreshold);
    Value isClamped = b.less(pair.logWeight, threshold);
    Value clamped = b.add(pair.logSum, b.constant(kLogWeightThreshold - 1));
    return b.select(isClamped, clamped, pair.relative);
  }
};

} // namespace

void raytention::registerEntropyChannel(RayTentionDialect &dialect) {
  dialect.addChannel<EntropyAttr>();
}
