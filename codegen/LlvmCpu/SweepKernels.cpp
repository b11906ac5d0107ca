//===- SweepKernels.cpp - element-wise loops over a chunk ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"

#include "dialect/RayTention/elements/Score.h"
#include "dialect/RayTention/elements/SweepPairs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

ParameterValues raytention::loadParameters(KernelBuilder &k, Value tau,
                                           const ArgumentView &gammas,
                                           int64_t numGammas) {
  ElementBuilder e(k.b, k.loc, k.layout.element);
  Values bases;
  for (int64_t i = 0; i < numGammas; ++i)
    bases.push_back(k.load(gammas.memref, {k.add(gammas.offsets[0], i)}));
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

/// A state as the queries of one vector have it.
class LaneState : public RowState {
public:
  LaneState(KernelBuilder &k, const StateView &view, Value lane)
      : k(k), view(view), lane(lane) {}

  Value loadFloat(int64_t field) override {
    return k.loadVector(view.floats.data, at(view.floats, field));
  }
  Value loadPosition(int64_t field) override {
    return k.loadPositions(view.positions.data, at(view.positions, field));
  }
  void storeFloat(Value value, int64_t field) override {
    k.storeVector(value, view.floats.data, at(view.floats, field));
  }
  void storePosition(Value value, int64_t field) override {
    k.storeVector(value, view.positions.data, at(view.positions, field));
  }

private:
  Values at(const PartView &state, int64_t field) {
    return {state.part, k.index(field), lane};
  }

  KernelBuilder &k;
  StateView view;
  Value lane;
};

/// The vector of queries at one lane, and loops over the keys.
class LaneLoop {
public:
  LaneLoop(KernelBuilder &k, const PairLoop &loop, Value lane)
      : k(k), loop(loop), lane(lane), e(k.b, k.loc, k.layout.vectorType()),
        params(splatParameters(k, loop.params)) {}

  /// Carries `init` over the keys; the body sees each pair and the key.
  Values
  run(ValueRange init,
      llvm::function_ref<Values(const PairValues &, Value, ValueRange)> body) {
    Value first = k.splat(k.toI32(k.add(loop.row, lane)));
    Value rows = arith::AddIOp::create(k.b, k.loc, first, k.laneIndices());
    return k.carry(k.index(0), loop.count, 1, init,
                   [&](Value key, ValueRange carried) {
                     return body(pair(rows, key), key, carried);
                   });
  }

  KernelBuilder &k;
  const PairLoop &loop;
  Value lane;
  ElementBuilder e;
  ParameterValues params;

private:
  PairValues pair(Value rows, Value key) {
    Value distance = k.loadVector(loop.distances.data,
                                  {k.add(loop.distances.begin, key), lane});
    return scorePair(e, distance, rows, loadKey(key), loop.mask, params);
  }

  KeyValues loadKey(Value key) {
    if (!loop.list)
      return makeKey(k.splat(k.toI32(k.add(loop.key, key))));
    Values masses;
    if (loop.list->masses)
      masses = loadAll(*loop.list->masses, key);
    return makeListedKey(loadAll(loop.list->positions, key), masses);
  }

  /// What stands at a key in each row of a list, in all lanes.
  Values loadAll(const ArgumentView &view, Value key) {
    Values values;
    for (int64_t i = 0;
         i < cast<MemRefType>(view.memref.getType()).getDimSize(1); ++i)
      values.push_back(k.splat(
          k.load(view.memref, {view.offsets[0], k.add(view.offsets[1], i),
                               k.add(view.offsets[2], key)})));
    return values;
  }
};

} // namespace

static void forEachLane(KernelBuilder &k,
                        llvm::function_ref<void(Value)> body) {
  k.loop(k.index(0), k.index(k.layout.itemLanes()), k.layout.lanes, body);
}

void raytention::scoreSweep(KernelBuilder &k, const PairLoop &loop,
                            const StateView &state) {
  forEachLane(k, [&](Value at) {
    LaneLoop lane(k, loop, at);
    LaneState rows(k, state, at);
    ScoreSweepProgram program(lane.e, loop.sweep, lane.params, rows);
    for (int round = 0; round < program.getNumRounds(); ++round)
      program.finish(
          round, lane.run(program.begin(round), [&](const PairValues &pair,
                                                    Value, ValueRange carried) {
            return program.step(round, pair, carried);
          }));
  });
}

void raytention::reduceSweep(KernelBuilder &k, const PairLoop &loop,
                             const PartView &scoreState,
                             const StateView &state) {
  forEachLane(k, [&](Value at) {
    LaneLoop lane(k, loop, at);
    LaneState score(k, {scoreState, {}}, at), rows(k, state, at);
    ReduceSweepProgram program(lane.e, loop.sweep, lane.params, score, rows);
    Values init = program.begin();
    if (init.empty())
      return;
    program.finish(
        lane.run(init, [&](const PairValues &pair, Value, ValueRange carried) {
          return program.step(pair, carried);
        }));
  });
}

void raytention::weigh(KernelBuilder &k, const PairLoop &loop,
                       const PartView &scoreState, Value weights) {
  forEachLane(k, [&](Value at) {
    LaneLoop lane(k, loop, at);
    LaneState score(k, {scoreState, {}}, at);
    WeighProgram program(lane.e, loop.sweep, lane.params, score);
    lane.run({}, [&](const PairValues &pair, Value key, ValueRange) {
      for (auto [slot, weight] : llvm::enumerate(program.weigh(pair)))
        k.storeVector(weight, weights,
                      {key, k.add(at, slot * k.layout.itemLanes())});
      return Values();
    });
  });
}

void raytention::mergeStates(KernelBuilder &k, const SweepLayout &sweep,
                             SweepKind kind, const StateView &parts,
                             int64_t numParts, const StateView &merged) {
  ElementBuilder e(k.b, k.loc, k.layout.vectorType());
  forEachLane(k, [&](Value at) {
    LaneState whole(k, merged, at);
    k.loop(k.index(0), k.index(numParts), 1, [&](Value part) {
      LaneState from(
          k, {{parts.floats.data, part}, {parts.positions.data, part}}, at);
      mergeStates(e, sweep, kind, from, whole);
    });
  });
}
