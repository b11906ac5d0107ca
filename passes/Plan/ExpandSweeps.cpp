//===- ExpandSweeps.cpp - sweeps and weights as element code -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/SweepPairs.h"
#include "passes/Plan/ExpandOps.h"
#include "passes/Plan/ThreadLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace raytention;

using Values = SmallVector<Value>;

namespace {

/// What the sweeps and rt.weigh have in common: pairs of a tile.
template <typename Op> class Pairs {
public:
  Pairs(OpBuilder &b, tile::ComputeOp compute, Op op)
      : op(op), compute(compute),
        distances(compute.getBuffer(op.getDistances())),
        k(b, op.getLoc(), getElementTypeOrSelf(distances.getType())),
        params(k.loadParameters(compute.getBuffer(op.getTau()),
                                compute.getBuffer(op.getGammas()))),
        mask(getMaskOrCausal(op.getContext(), op.getMaskAttr())) {
    lengths = buffer(op.getLengths());
    positions = buffer(op.getKeyPositions());
    masses = buffer(op.getKeyMasses());
  }

  Value buffer(Value operand) {
    return operand ? compute.getBuffer(operand) : Value();
  }

  /// Keys of the tile up to the last one that a row sees: what follows may be
  /// anything, and need not even be a number.
  Value countKeys(Value entry, Value row) {
    Value keys = k.size(distances, 2);
    if (positions)
      return keys;
    Value length =
        lengths ? k.loadIndex(lengths, {entry}) : k.add(op.getKey(), keys);
    Value end = mask.getVisibleEnd(k.b, k.loc, k.add(op.getRow(), row),
                                   k.index(1), length);
    Value left = arith::SubIOp::create(k.b, k.loc, end, op.getKey());
    Value some = arith::MaxSIOp::create(k.b, k.loc, left, k.index(0));
    return k.min(keys, some);
  }

  PairValues pair(Value entry, Value row, Value key) {
    return scorePair(k.e, k.load(distances, {entry, row, key}),
                     k.toI32(k.add(op.getRow(), row)), loadKey(entry, key),
                     mask, params);
  }

  KeyValues loadKey(Value entry, Value key) {
    if (!positions)
      return makeKey(k.toI32(k.add(op.getKey(), key)));
    auto load = [&](Value buffer) {
      Values values;
      for (int64_t i = 0; i < cast<MemRefType>(buffer.getType()).getDimSize(1);
           ++i)
        values.push_back(k.load(buffer, {entry, k.index(i), key}));
      return values;
    };
    return makeListedKey(load(positions), masses ? load(masses) : Values());
  }

  /// Carries `init` over the keys of a row.
  Values
  carryKeys(Value entry, Value row, ValueRange init,
            llvm::function_ref<Values(const PairValues &, ValueRange)> body) {
    return k.carry(k.index(0), countKeys(entry, row), 1, init,
                   [&](Value key, ValueRange carried) {
                     return body(pair(entry, row, key), carried);
                   });
  }

  Op op;
  tile::ComputeOp compute;
  Value distances, lengths, positions, masses;
  ThreadLoops k;
  ParameterValues params;
  MaskInterface mask;
};

} // namespace

LogicalResult raytention::expandInit(OpBuilder &b, tile::ComputeOp compute,
                                     InitOp op) {
  Value floats = compute.getResultBuffer(0);
  Value positions = compute.getResultBuffer(1);
  ThreadLoops k(b, op.getLoc(), getElementTypeOrSelf(floats.getType()));
  SweepLayout layout = SweepLayout::get(op.getChannels());
  int rank = cast<MemRefType>(floats.getType()).getRank();
  k.forEach(k.sizesOf(floats, rank - 1), [&](ValueRange row) {
    auto store = [&](Value value, Value buffer, int64_t field) {
      Values at(row);
      at.push_back(k.index(field));
      k.store(value, buffer, at);
    };
    for (auto [field, value] : llvm::enumerate(layout.floatInit(op.getSweep())))
      store(k.e.constant(value), floats, field);
    for (auto [field, value] : llvm::enumerate(layout.intInit(op.getSweep())))
      store(k.e.intConstant(value), positions, field);
  });
  return success();
}

LogicalResult raytention::expandScoreSweep(OpBuilder &b,
                                           tile::ComputeOp compute,
                                           ScoreSweepOp op) {
  Pairs<ScoreSweepOp> pairs(b, compute, op);
  ThreadLoops &k = pairs.k;
  Value floats = compute.getResultBuffer(0);
  SweepLayout layout = SweepLayout::get(op.getChannels());
  k.forEach(k.sizesOf(floats, 2), [&](ValueRange row) {
    BufferState state(k, floats, compute.getResultBuffer(1), row);
    ScoreSweepProgram program(k.e, layout, pairs.params, state);
    for (int round = 0; round < program.getNumRounds(); ++round)
      program.finish(
          round,
          pairs.carryKeys(row[0], row[1], program.begin(round),
                          [&](const PairValues &pair, ValueRange carried) {
                            return program.step(round, pair, carried);
                          }));
  });
  return success();
}

LogicalResult raytention::expandReduceSweep(OpBuilder &b,
                                            tile::ComputeOp compute,
                                            ReduceSweepOp op) {
  if (op.getSums())
    return op.emitOpError() << "expected a sweep without weighted sums in a "
                               "kernel (run --rt-fuse-channels)";
  Pairs<ReduceSweepOp> pairs(b, compute, op);
  ThreadLoops &k = pairs.k;
  Value floats = compute.getResultBuffer(0);
  SweepLayout layout = SweepLayout::get(op.getChannels())
                           .with(SweepKind::Score, op.getScoreChannelsAttr());
  k.forEach(k.sizesOf(floats, 2), [&](ValueRange row) {
    BufferState score(k, pairs.buffer(op.getScoreState()), Value(), row);
    BufferState state(k, floats, compute.getResultBuffer(1), row);
    ReduceSweepProgram program(k.e, layout, pairs.params, score, state);
    program.finish(
        pairs.carryKeys(row[0], row[1], program.begin(),
                        [&](const PairValues &pair, ValueRange carried) {
                          return program.step(pair, carried);
                        }));
  });
  return success();
}

/// Weights of keys that a row does not see are 0.
LogicalResult raytention::expandWeigh(OpBuilder &b, tile::ComputeOp compute,
                                      WeighOp op) {
  Pairs<WeighOp> pairs(b, compute, op);
  ThreadLoops &k = pairs.k;
  Value weights = compute.getResultBuffer(0);
  SweepLayout layout = SweepLayout::get(op.getChannels())
                           .with(SweepKind::Score, op.getScoreChannelsAttr());
  k.forEach(k.sizesOf(pairs.distances), [&](ValueRange at) {
    BufferState score(k, pairs.buffer(op.getScoreState()), Value(),
                      at.take_front(2));
    WeighProgram program(k.e, layout, pairs.params, score);
    Value inside = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt,
                                         at[2], pairs.countKeys(at[0], at[1]));
    Values values = program.weigh(pairs.pair(at[0], at[1], at[2]));
    for (auto [slot, weight] : llvm::enumerate(values))
      k.store(k.e.select(inside, weight, k.e.constant(0)), weights,
              {at[0], k.index(slot), at[1], at[2]});
  });
  return success();
}
