//===- Antitop.cpp - the antitop channel ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"
#include "dialect/RayTention/elements/KeyOrder.h"

using namespace mlir;
using namespace raytention;

namespace {

/// The key of the smallest z among those with w > 1e-10, ties to the lowest
/// position. The threshold is applied to z - lse, which never underflows.
class AntitopAttr : public ChannelBase<AntitopAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AntitopAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.antitop";

  ChannelForm getForm() const { return ChannelForm::Copy; }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value positions = ArgSelectOp::create(
        c.builder, c.loc,
        getTypeLike(c.scores, {0, 1}, {}, c.builder.getI32Type()), c.scores,
        c.weights, Order::Smallest, 1);
    return {copyKeys(c, positions), positions};
  }

  SmallVector<StateField> getReduceState() const {
    return {{"z", std::numeric_limits<double>::infinity(), false},
            {"j", -1, true}};
  }

  SmallVector<Value> updateReduce(ElementBuilder &b, const PairValues &pair,
                                  const ParameterValues &,
                                  ValueRange state) const {
    Value attended = b.greater(pair.logWeight, b.constant(kLogWeightThreshold));
    return keepSmaller(b, state, {pair.score, pair.key}, attended);
  }

  SmallVector<Value> mergeReduce(ElementBuilder &b, ValueRange first,
                                 ValueRange second) const {
    return keepSmaller(b, first, {second[0], second[1]}, Value());
  }

  Value finish(ElementBuilder &, const RowValues &row,
               const ParameterValues &) const {
    return row.reduce[1];
  }

private:
  /// `key` where it is smaller and, unless null, `counts` holds.
  SmallVector<Value> keepSmaller(ElementBuilder &b, ValueRange state,
                                 const ScoredKey &key, Value counts) const {
    ScoredKey kept{state[0], state[1]};
    Value better = isSmaller(b, key, kept);
    if (counts)
      better = b.logicalAnd(counts, better);
    kept = select(b, better, key, kept);
    return {kept.score, kept.position};
  }
};

} // namespace

void raytention::registerAntitopChannel(RayTentionDialect &dialect) {
  dialect.addChannel<AntitopAttr>();
}
