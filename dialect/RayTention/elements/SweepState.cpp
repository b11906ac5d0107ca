//===- SweepState.cpp - a row's state in the sweeps ---------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/SweepState.h"

using namespace mlir;
using namespace raytention;

using Values = SmallVector<Value>;

SmallVector<ChannelSlots> raytention::getOwnLogSums(const SweepLayout &sweep) {
  SmallVector<ChannelSlots> slots;
  for (const ChannelSlots &slot : sweep.slots)
    if (ChannelInterface channel = slot.channel; channel.hasOwnLogSum())
      slots.push_back(slot);
  return slots;
}

//===----------------------------------------------------------------------===//
// The channels' own fields
//===----------------------------------------------------------------------===//

SmallVector<StateField>
ChannelFields::getFields(const ChannelSlots &slot) const {
  ChannelInterface channel = slot.channel;
  return kind == SweepKind::Score ? channel.getScoreState()
                                  : channel.getReduceState();
}

/// The first float and the first position of a channel's fields.
static std::pair<int64_t, int64_t> getBegin(const ChannelSlots &slot,
                                            SweepKind kind) {
  if (kind == SweepKind::Score)
    return {slot.scoreFloats.begin, slot.scoreInts.begin};
  return {slot.reduceFloats.begin, slot.reduceInts.begin};
}

Values ChannelFields::load(const ChannelSlots &slot, RowState &state) const {
  auto [floats, positions] = getBegin(slot, kind);
  Values values;
  for (const StateField &field : getFields(slot))
    values.push_back(field.isPosition ? state.loadPosition(positions++)
                                      : state.loadFloat(floats++));
  return values;
}

void ChannelFields::store(const ChannelSlots &slot, ValueRange values,
                          RowState &state) const {
  auto [floats, positions] = getBegin(slot, kind);
  for (auto [field, value] : llvm::zip(getFields(slot), values))
    field.isPosition ? state.storePosition(value, positions++)
                     : state.storeFloat(value, floats++);
}

Values ChannelFields::makeInitial(ElementBuilder &b) const {
  Values values;
  for (const ChannelSlots &slot : sweep.slots)
    for (const StateField &field : getFields(slot))
      values.push_back(field.isPosition ? b.intConstant(field.initial)
                                        : b.constant(field.initial));
  return values;
}

Values ChannelFields::load(RowState &state) const {
  Values values;
  for (const ChannelSlots &slot : sweep.slots)
    llvm::append_range(values, load(slot, state));
  return values;
}

Values ChannelFields::update(ElementBuilder &b, const PairValues &pair,
                             const ParameterValues &params,
                             ValueRange fields) const {
  Values next;
  for (const ChannelSlots &slot : sweep.slots) {
    size_t size = getFields(slot).size();
    ValueRange own = fields.take_front(size);
    fields = fields.drop_front(size);
    ChannelInterface channel = slot.channel;
    llvm::append_range(next, kind == SweepKind::Score
                                 ? channel.updateScore(b, pair, params, own)
                                 : channel.updateReduce(b, pair, params, own));
  }
  return next;
}

void ChannelFields::merge(ElementBuilder &b, ValueRange fields,
                          RowState &state) const {
  for (const ChannelSlots &slot : sweep.slots) {
    size_t size = getFields(slot).size();
    ValueRange own = fields.take_front(size);
    fields = fields.drop_front(size);
    if (size == 0)
      continue;
    Values old = load(slot, state);
    ChannelInterface channel = slot.channel;
    store(slot,
          kind == SweepKind::Score ? channel.mergeScore(b, old, own)
                                   : channel.mergeReduce(b, old, own),
          state);
  }
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

static void mergeLogSums(ElementBuilder &b, const SweepLayout &sweep,
                         RowState &part, RowState &whole) {
  LogSum from = part.loadLogSum(0), to = whole.loadLogSum(0);
  Value max = mergeMax(b, to.max, from.max);
  auto add = [&](LogSum one, LogSum other, Value newMax) {
    LogSum moved = addLogSum(b, other, newMax, b.constant(0));
    return addLogSum(b, one, newMax, moved.sum);
  };
  whole.storeLogSum(add(to, from, max), 0);
  for (const ChannelSlots &slot : getOwnLogSums(sweep)) {
    LogSum own = whole.loadLogSum(slot.logSum);
    LogSum other = part.loadLogSum(slot.logSum);
    own.max = moveMax(b, own.max, to.max, max);
    other.max = moveMax(b, other.max, from.max, max);
    Value ownMax = mergeMax(b, own.max, other.max);
    whole.storeLogSum(add(own, other, ownMax), slot.logSum);
  }
}

void raytention::mergeStates(ElementBuilder &b, const SweepLayout &sweep,
                             SweepKind kind, RowState &part, RowState &whole) {
  if (kind == SweepKind::Score)
    mergeLogSums(b, sweep, part, whole);
  ChannelFields fields{sweep, kind};
  fields.merge(b, fields.load(part), whole);
}
