//===- SweepPairs.cpp - what pairs add in the sweeps --------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/SweepPairs.h"
#include "dialect/RayTention/elements/Score.h"

#include <limits>

using namespace mlir;
using namespace raytention;

using Values = SmallVector<Value>;

KeyValues raytention::makeKey(Value position) {
  KeyValues key;
  key.key = key.last = position;
  return key;
}

KeyValues raytention::makeListedKey(ValueRange positions, ValueRange masses) {
  KeyValues key = makeKey(positions.front());
  key.last = positions.back();
  key.isListed = true;
  key.masses.assign(masses.begin(), masses.end());
  if (!masses.empty())
    llvm::append_range(key.others, positions.drop_front().drop_back());
  return key;
}

PairValues raytention::scorePair(ElementBuilder &b, Value distance, Value row,
                                 const KeyValues &key, MaskInterface mask,
                                 const ParameterValues &params) {
  PairValues pair;
  static_cast<KeyValues &>(pair) = key;
  pair.distance = distance;
  pair.row = row;
  Value visible = mask.isVisible(b, row, key.key);
  if (key.isListed)
    visible = b.logicalAnd(visible, b.intLess(b.intConstant(-1), key.key));
  pair.score = maskScore(b, visible, getScore(b, distance, params));
  return pair;
}

/// `weight` of one position times one of the masses of a listed key.
static Value addMass(ElementBuilder &b, const PairValues &pair, int64_t slot,
                     Value weight) {
  return pair.masses.empty() ? weight : b.mul(weight, pair.masses[slot]);
}

/// A channel's log weight of a pair, counted from the row's maximum.
static Value logWeight(ElementBuilder &b, const ChannelSlots &slot,
                       const PairValues &pair, const ParameterValues &params,
                       Value max) {
  ChannelInterface channel = slot.channel;
  return channel.addLogFactor(b, pair, params, b.sub(pair.score, max));
}

//===----------------------------------------------------------------------===//
// The score sweep
//===----------------------------------------------------------------------===//

namespace {
enum Round { Maxima, Softmax, OwnSums };
} // namespace

Value ScoreSweepProgram::getLogWeight(const ChannelSlots &slot,
                                      const PairValues &pair) {
  return logWeight(b, slot, pair, params, max);
}

Values ScoreSweepProgram::begin(int round) {
  Value none = b.constant(-std::numeric_limits<double>::infinity());
  if (round == Maxima) {
    Values init = {none};
    llvm::append_range(init, fields.makeInitial(b));
    return init;
  }
  if (round == OwnSums)
    return Values(own.size(), b.constant(0));
  Values init(1 + own.size(), none);
  init[0] = b.constant(0);
  return init;
}

Values ScoreSweepProgram::step(int round, const PairValues &pair,
                               ValueRange carried) {
  Values next;
  if (round == Maxima) {
    next.push_back(b.max(pair.score, carried[0]));
    llvm::append_range(next,
                       fields.update(b, pair, params, carried.drop_front()));
    return next;
  }
  if (round == Softmax) {
    Value weight = b.exp(b.sub(pair.score, max));
    next.push_back(b.add(carried[0], addMass(b, pair, 0, weight)));
    for (auto [slot, old] : llvm::zip(own, carried.drop_front()))
      next.push_back(b.max(getLogWeight(slot, pair), old));
    return next;
  }
  for (auto [slot, old, ownMax] : llvm::zip(own, carried, maxima)) {
    Value weight = b.exp(b.sub(getLogWeight(slot, pair), ownMax));
    next.push_back(b.add(old, addMass(b, pair, slot.massSlot, weight)));
  }
  return next;
}

void ScoreSweepProgram::finish(int round, ValueRange carried) {
  if (round == Maxima)
    return finishMaxima(carried);
  round == Softmax ? finishSoftmax(carried) : finishOwnSums(carried);
}

void ScoreSweepProgram::finishMaxima(ValueRange carried) {
  fields.merge(b, carried.drop_front(), state);
  max = mergeMax(b, state.loadFloat(0), carried[0]);
}

void ScoreSweepProgram::finishSoftmax(ValueRange carried) {
  LogSum old = state.loadLogSum(0);
  state.storeLogSum(addLogSum(b, old, max, carried[0]), 0);
  for (auto [slot, found] : llvm::zip(own, carried.drop_front())) {
    Value before = moveMax(b, state.loadFloat(slot.logSum), old.max, max);
    state.storeFloat(before, slot.logSum);
    maxima.push_back(mergeMax(b, before, found));
  }
}

void ScoreSweepProgram::finishOwnSums(ValueRange carried) {
  for (auto [slot, ownMax, sum] : llvm::zip(own, maxima, carried)) {
    LogSum old = state.loadLogSum(slot.logSum);
    state.storeLogSum(addLogSum(b, old, ownMax, sum), slot.logSum);
  }
}

//===----------------------------------------------------------------------===//
// The reduce sweep and the weights
//===----------------------------------------------------------------------===//

ReduceSweepProgram::ReduceSweepProgram(ElementBuilder &b,
                                       const SweepLayout &sweep,
                                       const ParameterValues &params,
                                       RowState &score, RowState &state)
    : b(b), fields{sweep, SweepKind::Reduce}, params(params), state(state) {
  LogSum softmax = score.loadLogSum(0);
  max = softmax.max;
  logSum = getLog(b, softmax.sum);
  inverse = getInverse(b, softmax.sum);
}

Values ReduceSweepProgram::step(PairValues pair, ValueRange carried) {
  pair.relative = b.sub(pair.score, max);
  pair.logSum = logSum;
  pair.logWeight = b.sub(pair.relative, pair.logSum);
  pair.weight = b.mul(b.exp(pair.relative), inverse);
  pair.mass = addMass(b, pair, 0, pair.weight);
  return fields.update(b, pair, params, carried);
}

WeighProgram::WeighProgram(ElementBuilder &b, const SweepLayout &sweep,
                           const ParameterValues &params, RowState &score)
    : b(b), params(params) {
  auto loadInverse = [&](int64_t field) -> LogSum {
    LogSum logSum = score.loadLogSum(field);
    return {logSum.max, getInverse(b, logSum.sum)};
  };
  max = loadInverse(0).max;
  for (const ChannelSlots &slot : sweep.slots)
    if (slot.weightSlot >= 0) {
      weighted.push_back(slot);
      inverses.push_back(loadInverse(slot.logSum));
    }
}

Values WeighProgram::weigh(const PairValues &pair) {
  Values weights;
  for (auto [slot, own] : llvm::zip(weighted, inverses)) {
    Value value = logWeight(b, slot, pair, params, max);
    if (slot.logSum != 0)
      value = b.sub(value, own.max);
    Value weight = b.mul(b.exp(value), own.sum);
    weights.push_back(addMass(b, pair, slot.massSlot, weight));
  }
  return weights;
}
