//===- SweepKernels.cpp - element-wise loops over a chunk ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"

#include "dialect/RayTention/elements/LogSum.h"
#include "dialect/RayTention/elements/Score.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

ParameterValues raytention::loadParameters(KernelBuilder &k, Value tau,
                                           Value gammas, int64_t numGammas) {
  ElementBuilder e(k.b, k.loc, k.layout.element);
  Values bases;
  for (int64_t i = 0; i < numGammas; ++i)
    bases.push_back(k.load(gammas, {k.index(i)}));
  return makeParameters(e, k.load(tau, {}), bases);
}

ParameterValues raytention::splatParameters(KernelBuilder &k,
                                            const ParameterValues &params) {
  ParameterValues values = params;
  for (Value *value : {&values.tau, &values.temperature, &values.scoreUnit,
                       &values.scoreScale})
    if (*value)
      *value = k.splat(*value);
  for (Value &gamma : values.gammas)
    gamma = k.splat(gamma);
  for (Value &logGamma : values.logGammas)
    logGamma = k.splat(logGamma);
  return values;
}

namespace {

/// The vector of queries at one lane: its states, and loops over the keys.
class LaneLoop {
public:
  LaneLoop(KernelBuilder &k, const ParameterValues &task, Value lane)
      : k(k), lane(lane), e(k.b, k.loc, k.layout.vectorType()),
        params(splatParameters(k, task)) {}

  /// Carries `init` over the keys; the body sees each pair's z and the key.
  Values
  run(const PairLoop &loop, ValueRange init,
      llvm::function_ref<Values(const PairValues &, Value, ValueRange)> body) {
    Value first = k.splat(k.toI32(k.add(loop.row, lane)));
    Value rows = arith::AddIOp::create(k.b, k.loc, first, k.laneIndices());
    return k.carry(k.index(0), loop.count, 1, init,
                   [&](Value key, ValueRange carried) {
                     return body(pair(loop, rows, key), key, carried);
                   });
  }

  Value load(const PartView &state, int64_t field) {
    return k.loadVector(state.data, {state.part, k.index(field), lane});
  }
  void store(Value value, const PartView &state, int64_t field) {
    k.storeVector(value, state.data, {state.part, k.index(field), lane});
  }

  LogSum loadLogSum(const PartView &state, int64_t field) {
    return {load(state, field), load(state, field + 1)};
  }
  void storeLogSum(const LogSum &logSum, const PartView &state, int64_t field) {
    store(logSum.max, state, field);
    store(logSum.sum, state, field + 1);
  }
  /// The maximum and 1 / l of the log-sum at `field`.
  LogSum loadInverse(const PartView &state, int64_t field) {
    LogSum logSum = loadLogSum(state, field);
    return {logSum.max, getInverse(e, logSum.sum)};
  }

  Values loadFields(ArrayRef<StateField> fields, int64_t floats, int64_t ints,
                    const StateView &state) {
    Values values;
    for (const StateField &field : fields)
      values.push_back(
          field.isPosition
              ? k.loadPositions(state.positions.data,
                                {state.positions.part, k.index(ints++), lane})
              : load(state.floats, floats++));
    return values;
  }
  void storeFields(ArrayRef<StateField> fields, int64_t floats, int64_t ints,
                   ValueRange values, const StateView &state) {
    for (auto [field, value] : llvm::zip(fields, values))
      field.isPosition ? store(value, state.positions, ints++)
                       : store(value, state.floats, floats++);
  }
  Values initialFields(ArrayRef<StateField> fields) {
    Values values;
    for (const StateField &field : fields)
      values.push_back(field.isPosition ? e.intConstant(field.initial)
                                        : e.constant(field.initial));
    return values;
  }

  KernelBuilder &k;
  Value lane;
  ElementBuilder e;
  ParameterValues params;

private:
  PairValues pair(const PairLoop &loop, Value rows, Value key) {
    PairValues values;
    values.distance = k.loadVector(loop.distances.data,
                                   {k.add(loop.distances.begin, key), lane});
    values.row = rows;
    values.key = k.splat(k.toI32(k.add(loop.key, key)));
    Value visible = loop.mask.isVisible(e, values.row, values.key);
    values.score = maskScore(e, visible, getScore(e, values.distance, params));
    return values;
  }
};

} // namespace

static void forEachLane(KernelBuilder &k,
                        llvm::function_ref<void(Value)> body) {
  k.loop(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes, body);
}

/// The channels with a log-sum of their own.
static SmallVector<ChannelSlots> getOwnLogSums(const SweepLayout &sweep) {
  SmallVector<ChannelSlots> slots;
  for (const ChannelSlots &slot : sweep.slots)
    if (ChannelInterface channel = slot.channel; channel.hasOwnLogSum())
      slots.push_back(slot);
  return slots;
}

/// A channel's log weight of a pair, counted from the row's maximum.
static Value logWeight(LaneLoop &lane, const ChannelSlots &slot,
                       const PairValues &pair, Value max) {
  ChannelInterface channel = slot.channel;
  return channel.addLogFactor(lane.e, pair, lane.params,
                              lane.e.sub(pair.score, max));
}

/// The channels' own fields of one sweep: where they stand, how they grow.
static SmallVector<StateField> getFields(const ChannelSlots &slot,
                                         SweepKind kind) {
  ChannelInterface channel = slot.channel;
  return kind == SweepKind::Score ? channel.getScoreState()
                                  : channel.getReduceState();
}
static std::pair<int64_t, int64_t> getFieldBegin(const ChannelSlots &slot,
                                                 SweepKind kind) {
  if (kind == SweepKind::Score)
    return {slot.scoreFloats.begin, slot.scoreInts.begin};
  return {slot.reduceFloats.begin, slot.reduceInts.begin};
}

static Values initialFields(LaneLoop &lane, const SweepLayout &sweep,
                            SweepKind kind) {
  Values values;
  for (const ChannelSlots &slot : sweep.slots)
    llvm::append_range(values, lane.initialFields(getFields(slot, kind)));
  return values;
}

static void updateFields(LaneLoop &lane, const SweepLayout &sweep,
                         SweepKind kind, const PairValues &pair,
                         ValueRange carried, Values &next) {
  for (const ChannelSlots &slot : sweep.slots) {
    size_t size = getFields(slot, kind).size();
    ValueRange own = carried.take_front(size);
    carried = carried.drop_front(size);
    ChannelInterface channel = slot.channel;
    llvm::append_range(
        next, kind == SweepKind::Score
                  ? channel.updateScore(lane.e, pair, lane.params, own)
                  : channel.updateReduce(lane.e, pair, lane.params, own));
  }
}

/// state <- merge(state, values). A chunk starts from the initial state and is
/// merged as a whole, which keeps the rounding of long sums small.
static void mergeFields(LaneLoop &lane, const SweepLayout &sweep,
                        SweepKind kind, ValueRange values,
                        const StateView &state) {
  for (const ChannelSlots &slot : sweep.slots) {
    SmallVector<StateField> fields = getFields(slot, kind);
    auto [floats, ints] = getFieldBegin(slot, kind);
    ValueRange own = values.take_front(fields.size());
    values = values.drop_front(fields.size());
    if (fields.empty())
      continue;
    Values old = lane.loadFields(fields, floats, ints, state);
    ChannelInterface channel = slot.channel;
    Values merged = kind == SweepKind::Score
                        ? channel.mergeScore(lane.e, old, own)
                        : channel.mergeReduce(lane.e, old, own);
    lane.storeFields(fields, floats, ints, merged, state);
  }
}

/// The chunk's largest z, merged with the row's, and what the channels keep.
static Value sweepMaxima(LaneLoop &lane, const PairLoop &loop,
                         const StateView &state) {
  ElementBuilder &e = lane.e;
  Values init = {e.constant(-std::numeric_limits<double>::infinity())};
  llvm::append_range(init, initialFields(lane, loop.sweep, SweepKind::Score));
  Values found = lane.run(
      loop, init, [&](const PairValues &pair, Value, ValueRange carried) {
        Values next = {e.max(pair.score, carried[0])};
        updateFields(lane, loop.sweep, SweepKind::Score, pair,
                     carried.drop_front(), next);
        return next;
      });
  mergeFields(lane, loop.sweep, SweepKind::Score,
              ValueRange(found).drop_front(), state);
  return mergeMax(e, lane.load(state.floats, 0), found[0]);
}

/// Adds the chunk to the softmax's log-sum, whose new maximum is `max`; the
/// chunk's maxima of the channels' own, merged with the row's.
static Values sweepSoftmax(LaneLoop &lane, const PairLoop &loop, Value max,
                           ArrayRef<ChannelSlots> own, const StateView &state) {
  ElementBuilder &e = lane.e;
  Values init(1 + own.size(),
              e.constant(-std::numeric_limits<double>::infinity()));
  init[0] = e.constant(0);
  Values found = lane.run(
      loop, init, [&](const PairValues &pair, Value, ValueRange carried) {
        Values next = {e.add(carried[0], e.exp(e.sub(pair.score, max)))};
        for (auto [i, slot] : llvm::enumerate(own))
          next.push_back(
              e.max(logWeight(lane, slot, pair, max), carried[1 + i]));
        return next;
      });
  LogSum old = lane.loadLogSum(state.floats, 0);
  lane.storeLogSum(addLogSum(e, old, max, found[0]), state.floats, 0);
  Values maxima;
  for (auto [i, slot] : llvm::enumerate(own)) {
    Value before =
        moveMax(e, lane.load(state.floats, slot.logSum), old.max, max);
    lane.store(before, state.floats, slot.logSum);
    maxima.push_back(mergeMax(e, before, found[1 + i]));
  }
  return maxima;
}

/// Adds the chunk to the channels' own log-sums.
static void sweepOwnLogSums(LaneLoop &lane, const PairLoop &loop, Value max,
                            ArrayRef<ChannelSlots> own, ValueRange maxima,
                            const StateView &state) {
  ElementBuilder &e = lane.e;
  Values init(own.size(), e.constant(0));
  Values sums = lane.run(
      loop, init, [&](const PairValues &pair, Value, ValueRange carried) {
        Values next;
        for (auto [i, slot] : llvm::enumerate(own)) {
          Value value = logWeight(lane, slot, pair, max);
          next.push_back(e.add(carried[i], e.exp(e.sub(value, maxima[i]))));
        }
        return next;
      });
  for (auto [i, slot] : llvm::enumerate(own)) {
    LogSum old = lane.loadLogSum(state.floats, slot.logSum);
    lane.storeLogSum(addLogSum(e, old, maxima[i], sums[i]), state.floats,
                     slot.logSum);
  }
}

static void scoreSweepLane(LaneLoop &lane, const PairLoop &loop,
                           const StateView &state) {
  SmallVector<ChannelSlots> own = getOwnLogSums(loop.sweep);
  Value max = sweepMaxima(lane, loop, state);
  Values maxima = sweepSoftmax(lane, loop, max, own, state);
  if (!own.empty())
    sweepOwnLogSums(lane, loop, max, own, maxima, state);
}

void raytention::scoreSweep(KernelBuilder &k, const PairLoop &loop,
                            const StateView &state) {
  forEachLane(k, [&](Value at) {
    LaneLoop lane(k, loop.params, at);
    scoreSweepLane(lane, loop, state);
  });
}

void raytention::reduceSweep(KernelBuilder &k, const PairLoop &loop,
                             const PartView &scoreState,
                             const StateView &state) {
  forEachLane(k, [&](Value at) {
    LaneLoop lane(k, loop.params, at);
    LogSum softmax = lane.loadLogSum(scoreState, 0);
    Value logSum = getLog(lane.e, softmax.sum);
    Value inverse = getInverse(lane.e, softmax.sum);
    Values init = initialFields(lane, loop.sweep, SweepKind::Reduce);
    if (init.empty())
      return;
    Values values =
        lane.run(loop, init, [&](PairValues pair, Value, ValueRange carried) {
          pair.relative = lane.e.sub(pair.score, softmax.max);
          pair.logSum = logSum;
          pair.logWeight = lane.e.sub(pair.relative, pair.logSum);
          pair.weight = lane.e.mul(lane.e.exp(pair.relative), inverse);
          Values next;
          updateFields(lane, loop.sweep, SweepKind::Reduce, pair, carried,
                       next);
          return next;
        });
    mergeFields(lane, loop.sweep, SweepKind::Reduce, values, state);
  });
}

void raytention::weigh(KernelBuilder &k, const PairLoop &loop,
                       const PartView &scoreState, Value weights) {
  forEachLane(k, [&](Value at) {
    LaneLoop lane(k, loop.params, at);
    LogSum softmax = lane.loadInverse(scoreState, 0);
    SmallVector<LogSum> logSums;
    for (const ChannelSlots &slot : loop.sweep.slots)
      if (slot.weightSlot >= 0)
        logSums.push_back(lane.loadInverse(scoreState, slot.logSum));
    lane.run(loop, {}, [&](const PairValues &pair, Value key, ValueRange) {
      for (const ChannelSlots &slot : loop.sweep.slots) {
        if (slot.weightSlot < 0)
          continue;
        const LogSum &own = logSums[slot.weightSlot];
        Value value = logWeight(lane, slot, pair, softmax.max);
        if (slot.logSum != 0)
          value = lane.e.sub(value, own.max);
        Value weight = lane.e.mul(lane.e.exp(value), own.sum);
        Value column = k.add(lane.lane, slot.weightSlot * k.layout.itemLanes());
        k.storeVector(weight, weights, {key, column});
      }
      return Values();
    });
  });
}

/// Merges the log-sums of a part.
static void mergeLogSums(LaneLoop &lane, const SweepLayout &sweep,
                         const PartView &from, const PartView &merged) {
  ElementBuilder &e = lane.e;
  LogSum part = lane.loadLogSum(from, 0), whole = lane.loadLogSum(merged, 0);
  Value max = mergeMax(e, whole.max, part.max);
  auto add = [&](LogSum one, LogSum other, Value newMax) {
    LogSum moved = addLogSum(e, other, newMax, e.constant(0));
    return addLogSum(e, one, newMax, moved.sum);
  };
  lane.storeLogSum(add(whole, part, max), merged, 0);
  for (const ChannelSlots &slot : getOwnLogSums(sweep)) {
    LogSum own = lane.loadLogSum(merged, slot.logSum);
    LogSum other = lane.loadLogSum(from, slot.logSum);
    own.max = moveMax(e, own.max, whole.max, max);
    other.max = moveMax(e, other.max, part.max, max);
    Value ownMax = mergeMax(e, own.max, other.max);
    lane.storeLogSum(add(own, other, ownMax), merged, slot.logSum);
  }
}

void raytention::mergeStates(KernelBuilder &k, const SweepLayout &sweep,
                             SweepKind kind, const StateView &parts,
                             int64_t numParts, const StateView &merged) {
  auto mergePart = [&](LaneLoop &lane, Value part) {
    StateView from = {{parts.floats.data, part}, {parts.positions.data, part}};
    if (kind == SweepKind::Score)
      mergeLogSums(lane, sweep, from.floats, merged.floats);
    Values values;
    for (const ChannelSlots &slot : sweep.slots) {
      auto [floats, ints] = getFieldBegin(slot, kind);
      llvm::append_range(
          values, lane.loadFields(getFields(slot, kind), floats, ints, from));
    }
    mergeFields(lane, sweep, kind, values, merged);
  };
  ParameterValues none;
  forEachLane(k, [&](Value at) {
    k.loop(k.index(0), k.index(numParts), 1, [&](Value part) {
      LaneLoop lane(k, none, at);
      mergePart(lane, part);
    });
  });
}
