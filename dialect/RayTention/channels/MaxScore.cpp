//===- MaxScore.cpp - the largest score of a row ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"
#include "dialect/RayTention/elements/KeyOrder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace raytention;

namespace {

/// `max_j z_ij`.
class MaxScoreAttr : public ChannelBase<MaxScoreAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaxScoreAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.max_score";

  ChannelForm getForm() const { return ChannelForm::Scalar; }
  long double getLargestValue(long double, long double score,
                              long double) const {
    return score;
  }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    RankedTensorType type = getTypeLike(c.scores, {0, 1}, {}, c.element);
    ElementBuilder e(c.builder, c.loc, c.element);
    Value lowest = e.constant(-std::numeric_limits<double>::infinity());
    Value empty = makeEmpty(c.builder, c.loc, type, c.scores, {0, 1});
    Value init =
        linalg::FillOp::create(c.builder, c.loc, lowest, empty).getResult(0);
    auto max = linalg::ReduceOp::create(
        c.builder, c.loc, c.scores, init, ArrayRef<int64_t>{2},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder element(b, loc, c.element);
          linalg::YieldOp::create(b, loc, element.max(args[0], args[1]));
        });
    return {max.getResult(0), {}};
  }

  SmallVector<StateField> getScoreState() const {
    return {{"z", -std::numeric_limits<double>::infinity(), false},
            {"j", -1, true}};
  }

  SmallVector<Value> updateScore(ElementBuilder &b, const PairValues &pair,
                                 const ParameterValues &,
                                 ValueRange state) const {
    return keepLarger(b, {state[0], state[1]}, {pair.score, pair.key});
  }

  SmallVector<Value> mergeScore(ElementBuilder &b, ValueRange first,
                                ValueRange second) const {
    return keepLarger(b, {first[0], first[1]}, {second[0], second[1]});
  }

  Value finish(ElementBuilder &, const RowValues &row,
               const ParameterValues &) const {
    return row.score[0];
  }

  /// The position of the largest z: its own derivative goes there.
  SmallVector<StateField> getSavedState() const { return {{"j", -1, false}}; }
  SmallVector<Value> finishSaved(ElementBuilder &b, const RowValues &row,
                                 const ParameterValues &) const {
    return {b.toFloat(row.score[1])};
  }

  PairGradient getPairGradient(ElementBuilder &b, const GradientPair &pair,
                               const ParameterValues &) const {
    Value isLargest = b.equal(b.toFloat(pair.key), pair.saved[0]);
    return {{}, b.select(isLargest, pair.gradient, b.constant(0)), {}, {}};
  }

private:
  SmallVector<Value> keepLarger(ElementBuilder &b, const ScoredKey &first,
                                const ScoredKey &second) const {
    ScoredKey larger = select(b, isLarger(b, second, first), second, first);
    return {larger.score, larger.position};
  }
};

} // namespace

void raytention::registerMaxScoreChannel(RayTentionDialect &dialect) {
  dialect.addChannel<MaxScoreAttr>();
}
