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

  /// The sum, and the mass of the weights that the clamp replaces.
  SmallVector<StateField> getReduceState() const {
    return {{"sum", 0, false}, {"clamped", 0, false}};
  }

  SmallVector<Value> updateReduce(ElementBuilder &b, const PairValues &pair,
                                  const ParameterValues &,
                                  ValueRange state) const {
    Value threshold = b.constant(kLogWeightThreshold), zero = b.constant(0);
    Value clamped = b.max(pair.logWeight, threshold);
    Value mass = b.select(b.less(pair.logWeight, threshold), pair.weight, zero);
    return {b.fma(pair.weight, b.sub(zero, clamped), state[0]),
            b.add(state[1], mass)};
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
    return {{"clamped", 0, false}};
  }
  SmallVector<Value> finishSaved(ElementBuilder &, const RowValues &row,
                                 const ParameterValues &) const {
    return {row.reduce[1]};
  }

  /// dw = -G (log max(w, 1e-10) + [w >= 1e-10]). One more G, which the softmax
  /// takes out again, leaves `G (value + clamped mass)` as the mean under w
  /// instead of a sum that cancels.
  RowGradient prepareGradient(ElementBuilder &b, const GradientRow &row,
                              const ParameterValues &) const {
    return {{}, {}, {}, b.fma(row.gradient, row.saved[0], row.along)};
  }

  PairGradient getPairGradient(ElementBuilder &b, const GradientPair &pair,
                               const ParameterValues &) const {
    Value threshold = b.constant(kLogWeightThreshold);
    Value isClamped = b.less(pair.logWeight, threshold);
    Value one = b.select(isClamped, b.constant(1), b.constant(0));
    Value sum = b.sub(one, b.max(pair.logWeight, threshold));
    return {b.mul(pair.gradient, sum), {}, {}};
  }
};

} // namespace

void raytention::registerEntropyChannel(RayTentionDialect &dialect) {
  dialect.addChannel<EntropyAttr>();
}
