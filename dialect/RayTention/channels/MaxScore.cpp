//===- MaxScore.cpp - the largest score of a row ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/channels/Channels.h"

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
    return {{"z", -std::numeric_limits<double>::infinity(), false}};
  }

  SmallVector<Value> updateScore(ElementBuilder &b, const PairValues &pair,
                                 const ParameterValues &,
                                 ValueRange state) const {
    return {b.max(pair.score, state[0])};
  }

  SmallVector<Value> mergeScore(ElementBuilder &b, ValueRange first,
                                ValueRange second) const {
    return {b.max(first[0], second[0])};
  }

  Value finish(ElementBuilder &, const RowValues &row,
               const ParameterValues &) const {
    return row.score[0];
  }
};

} // namespace

void raytention::registerMaxScoreChannel(RayTentionDialect &dialect) {
  dialect.addChannel<MaxScoreAttr>();
}
