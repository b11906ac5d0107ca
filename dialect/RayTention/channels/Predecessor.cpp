//===- Predecessor.cpp - the predecessor channel ------*- C++ -*-===//
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

/// `k_i`: the key at the row's own position.
class PredecessorAttr : public ChannelBase<PredecessorAttr> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PredecessorAttr)
  using ChannelBase::ChannelBase;
  static constexpr StringLiteral name = "rt.predecessor";

  ChannelForm getForm() const { return ChannelForm::Copy; }

  DecomposedChannel decompose(const DecomposeContext &c) const {
    Value positions = ArgSelectOp::create(
        c.builder, c.loc,
        getTypeLike(c.scores, {0, 1}, {}, c.builder.getI32Type()), c.scores,
        Value(), Order::Last, 1);
    return {copyKeys(c, positions), positions};
  }

  Value finish(ElementBuilder &b, const RowValues &row,
               const ParameterValues &) const {
    return b.select(b.intLess(row.last, row.row), row.last, row.row);
  }
};

} // namespace

void raytention::registerPredecessorChannel(RayTentionDialect &dialect) {
  dialect.addChannel<PredecessorAttr>();
}
