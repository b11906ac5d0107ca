//===- RowFinish.cpp - channels of a finished row --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/RowFinish.h"

using namespace mlir;
using namespace raytention;

using Values = SmallVector<Value>;

Value RowFinish::getLogOfSum(int64_t field) {
  return getLog(b, score.loadFloat(field + 1));
}

/// An own log-sum less the softmax's, from whose maximum its own counts.
Value RowFinish::getRelativeLogSum(const ChannelSlots &slot) {
  ChannelInterface channel = slot.channel;
  if (!channel.hasOwnLogSum())
    return b.constant(0);
  return b.add(score.loadFloat(slot.logSum),
               b.sub(getLogOfSum(slot.logSum), getLogOfSum(0)));
}

void RowFinish::visit(const ChannelSlots &slot,
                      llvm::function_ref<void(const RowValues &)> body) {
  Values ownScore = ChannelFields{sweep, SweepKind::Score}.load(slot, score);
  Values ownReduce = ChannelFields{sweep, SweepKind::Reduce}.load(slot, reduce);
  body({getRelativeLogSum(slot), row, last, ownScore, ownReduce});
}

Value RowFinish::finish(const ChannelSlots &slot) {
  Value value;
  ChannelInterface channel = slot.channel;
  visit(slot, [&](const RowValues &values) {
    value = channel.finish(b, values, params);
  });
  return value;
}

Values RowFinish::getSaved(const GradientLayout &saved) {
  Values values(saved.numSaved);
  auto savePair = [&](int64_t field, int64_t savedField) {
    values[savedField] = score.loadFloat(field);
    values[savedField + 1] = getLogOfSum(field);
  };
  savePair(0, 0);
  for (const GradientSlots &slots : saved.slots) {
    const ChannelSlots &state = *sweep.find(slots.channel);
    ChannelInterface channel = slots.channel;
    if (channel.hasOwnLogSum())
      savePair(state.logSum, slots.logSum);
    if (slots.saved.size > 0)
      visit(state, [&](const RowValues &row) {
        llvm::copy(channel.finishSaved(b, row, params),
                   values.begin() + slots.saved.begin);
      });
  }
  return values;
}
