//===- SweepKernels.cpp - element-wise loops over a chunk ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

ParameterValues raytention::getParameterValues(KernelBuilder &k,
                                               const TaskParameters &params,
                                               bool inLanes) {
  auto shape = [&](Value value) { return inLanes ? k.splat(value) : value; };
  ParameterValues values;
  if (!params.tau)
    return values;
  values.tau = shape(params.tau);
  values.temperature = shape(params.temperature);
  for (Value gamma : params.logGammas)
    values.logGammas.push_back(shape(gamma));
  return values;
}

TaskParameters raytention::loadParameters(KernelBuilder &k, Value tau,
                                          Value gammas, int64_t numGammas) {
  ElementBuilder e(k.b, k.loc, k.layout.element);
  TaskParameters params;
  params.tau = k.load(tau, {});
  params.temperature = e.max(params.tau, e.constant(kTauFloor));
  params.scoreScale = e.div(e.constant(-1), params.temperature);
  for (int64_t i = 0; i < numGammas; ++i)
    params.logGammas.push_back(e.log(k.load(gammas, {k.index(i)})));
  return params;
}

namespace {

/// The vector of queries at one lane: its states, and loops over the keys.
class LaneLoop {
public:
  LaneLoop(KernelBuilder &k, const TaskParameters &task, Value lane)
      : k(k), lane(lane), e(k.b, k.loc, k.layout.vectorType()),
        params(getParameterValues(k, task, /*inLanes=*/true)) {}

  /// Carries `init` over the keys; the body sees each pair's z and the key.
  Values
  run(const PairLoop &loop, ValueRange init,
      llvm::function_ref<Values(const PairValues &, Value, ValueRange)> body) {
    Value scale = k.splat(loop.params.scoreScale);
    Value first = k.splat(k.toI32(k.add(loop.row, lane)));
    Value rows = arith::AddIOp::create(k.b, k.loc, first, k.laneIndices());
    return k.carry(k.index(0), loop.count, 1, init,
                   [&](Value key, ValueRange carried) {
                     return body(pair(loop, rows, scale, key), key, carried);
                   });
  }

  Value load(const PartView &state, int64_t field) {
    return k.loadVector(state.data, {state.part, k.index(field), lane});
  }
  void store(Value value, const PartView &state, int64_t field) {
    k.storeVector(value, state.data, {state.part, k.index(field), lane});
  }

  /// m and log l from the (m, l) at `field`. They stay apart: a weight is
  /// exp((z - m) - log l), since m + log l would lose digits where |z| is
  /// large.
  std::pair<Value, Value> logSum(const PartView &state, int64_t field) {
    Value sum = e.max(load(state, field + 1), e.constant(kTinySum));
    return {load(state, field), e.log(sum)};
  }
  Value subtract(Value value, const std::pair<Value, Value> &logSum) {
    return e.sub(e.sub(value, logSum.first), logSum.second);
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
  PairValues pair(const PairLoop &loop, Value rows, Value scale, Value key) {
    PairValues values;
    values.distance = k.loadVector(loop.distances.data,
                                   {k.add(loop.distances.begin, key), lane});
    values.row = rows;
    values.key = k.splat(k.toI32(k.add(loop.key, key)));
    Value visible = loop.mask.isVisible(e, values.row, values.key);
    values.score =
        e.select(visible, e.mul(values.distance, scale),
                 e.constant(-std::numeric_limits<double>::infinity()));
    return values;
  }
};

/// A running (m, l): the softmax's, or a channel's own.
struct LogSumSlot {
  int64_t field;
  ChannelInterface channel; ///< null for the softmax
};

} // namespace

static void forEachLane(KernelBuilder &k,
                        llvm::function_ref<void(Value)> body) {
  k.loop(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes, body);
}

static SmallVector<LogSumSlot> getLogSums(const SweepLayout &sweep) {
  SmallVector<LogSumSlot> slots = {{0, {}}};
  for (const ChannelSlots &slot : sweep.slots)
    if (slot.channel.hasOwnLogSum())
      slots.push_back({slot.logSum, slot.channel});
  return slots;
}

static Value logWeight(LaneLoop &lane, ChannelInterface channel,
                       const PairValues &pair, Value value) {
  if (!channel)
    return value;
  return channel.addLogFactor(lane.e, pair, lane.params, value);
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

/// Adds a set of keys to (m, l) at `field`: its `sum` of exp(z - newMax), with
/// newMax the larger of both maxima.
static void mergeLogSum(LaneLoop &lane, int64_t field, Value newMax, Value sum,
                        const PartView &state) {
  ElementBuilder &e = lane.e;
  Value rescale = e.exp(e.sub(lane.load(state, field), newMax));
  lane.store(e.fma(lane.load(state, field + 1), rescale, sum), state,
             field + 1);
  lane.store(newMax, state, field);
}

static void scoreSweepLane(LaneLoop &lane, const PairLoop &loop,
                           const StateView &state) {
  ElementBuilder &e = lane.e;
  SmallVector<LogSumSlot> logSums = getLogSums(loop.sweep);
  Values init(logSums.size(), e.constant(kLowestMax));
  llvm::append_range(init, initialFields(lane, loop.sweep, SweepKind::Score));
  Values found = lane.run(
      loop, init, [&](const PairValues &pair, Value, ValueRange carried) {
        Values next;
        for (auto [i, slot] : llvm::enumerate(logSums))
          next.push_back(e.max(logWeight(lane, slot.channel, pair, pair.score),
                               carried[i]));
        updateFields(lane, loop.sweep, SweepKind::Score, pair,
                     carried.drop_front(logSums.size()), next);
        return next;
      });
  Values maxima;
  for (auto [i, slot] : llvm::enumerate(logSums))
    maxima.push_back(e.max(lane.load(state.floats, slot.field), found[i]));
  Values zeros(logSums.size(), e.constant(0));
  Values sums = lane.run(
      loop, zeros, [&](const PairValues &pair, Value, ValueRange carried) {
        Values next;
        for (auto [i, slot] : llvm::enumerate(logSums)) {
          Value value = logWeight(lane, slot.channel, pair, pair.score);
          next.push_back(e.add(carried[i], e.exp(e.sub(value, maxima[i]))));
        }
        return next;
      });
  for (auto [i, slot] : llvm::enumerate(logSums))
    mergeLogSum(lane, slot.field, maxima[i], sums[i], state.floats);
  mergeFields(lane, loop.sweep, SweepKind::Score,
              ValueRange(found).drop_front(logSums.size()), state);
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
    std::pair<Value, Value> logSum = lane.logSum(scoreState, 0);
    Values init = initialFields(lane, loop.sweep, SweepKind::Reduce);
    if (init.empty())
      return;
    Values values =
        lane.run(loop, init, [&](PairValues pair, Value, ValueRange carried) {
          pair.logWeight = lane.subtract(pair.score, logSum);
          pair.weight = lane.e.exp(pair.logWeight);
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
    SmallVector<std::pair<Value, Value>> logSums;
    for (const ChannelSlots &slot : loop.sweep.slots)
      if (slot.weightSlot >= 0)
        logSums.push_back(lane.logSum(scoreState, slot.logSum));
    lane.run(loop, {}, [&](const PairValues &pair, Value key, ValueRange) {
      for (const ChannelSlots &slot : loop.sweep.slots) {
        if (slot.weightSlot < 0)
          continue;
        Value value = logWeight(lane, slot.channel, pair, pair.score);
        Value weight =
            lane.e.exp(lane.subtract(value, logSums[slot.weightSlot]));
        Value column = k.add(lane.lane, slot.weightSlot * k.layout.itemLanes());
        k.storeVector(weight, weights, {key, column});
      }
      return Values();
    });
  });
}

void raytention::mergeStates(KernelBuilder &k, const SweepLayout &sweep,
                             SweepKind kind, const StateView &parts,
                             int64_t numParts, const StateView &merged) {
  auto mergePart = [&](LaneLoop &lane, Value part) {
    StateView from = {{parts.floats.data, part}, {parts.positions.data, part}};
    ElementBuilder &e = lane.e;
    if (kind == SweepKind::Score)
      for (const LogSumSlot &slot : getLogSums(sweep)) {
        Value max = lane.load(from.floats, slot.field);
        Value newMax = e.max(lane.load(merged.floats, slot.field), max);
        Value sum = e.mul(lane.load(from.floats, slot.field + 1),
                          e.exp(e.sub(max, newMax)));
        mergeLogSum(lane, slot.field, newMax, sum, merged.floats);
      }
    Values values;
    for (const ChannelSlots &slot : sweep.slots) {
      auto [floats, ints] = getFieldBegin(slot, kind);
      llvm::append_range(
          values, lane.loadFields(getFields(slot, kind), floats, ints, from));
    }
    mergeFields(lane, sweep, kind, values, merged);
  };
  TaskParameters none;
  forEachLane(k, [&](Value at) {
    k.loop(k.index(0), k.index(numParts), 1, [&](Value part) {
      LaneLoop lane(k, none, at);
      mergePart(lane, part);
    });
  });
}
