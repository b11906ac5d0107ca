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

  SmallVector<StateField> getReduceState() const { return {{"sum", 0, false}}; }

  SmallVector<Value> updateReduce(ElementBuilder &b, const PairValues &pair,
                                  const ParameterValues &,
                                  ValueRange state) const {
    Value clamped = b.max(pair.logWeight, b.constant(kLogWeightThreshold));
    return {b.fma(pair.weight, b.sub(b.constant(0), clamped), state[0])};
  }

  SmallVector<Value> mergeReduce(ElementBuilder &b, ValueRange first,
                                 ValueRange second) const {
    return {b.add(first[0], second[0])};
  }

  Value finish(ElementBuilder &, const RowValues &row,
               const ParameterValues &) const {
    return row.reduce[0];
  }
};

} // namespace

void raytention::registerEntropyChannel(RayTentionDialect &dialect) {
  dialect.addChannel<EntropyAttr>();
}
