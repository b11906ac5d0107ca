//===- FinalizeKernel.cpp - channels finished row by row ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/CpuKernels.h"
#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/elements/RowFinish.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

namespace {

/// A state as one row has it.
class ScalarState : public RowState {
public:
  ScalarState(KernelBuilder &k, const StateView &view, Value row)
      : k(k), view(view), row(row) {}

  Value loadFloat(int64_t field) override { return load(view.floats, field); }
  Value loadPosition(int64_t field) override {
    return load(view.positions, field);
  }
  void storeFloat(Value value, int64_t field) override {
    store(value, view.floats, field);
  }
  void storePosition(Value value, int64_t field) override {
    store(value, view.positions, field);
  }

private:
  Value load(const PartView &state, int64_t field) {
    return k.load(state.data, {state.part, k.index(field), row});
  }
  void store(Value value, const PartView &state, int64_t field) {
    k.store(value, state.data, {state.part, k.index(field), row});
  }

  KernelBuilder &k;
  StateView view;
  Value row;
};

/// Writes one row of signals and the sum of their squares.
class RowWriter {
public:
  RowWriter(KernelBuilder &k, const FinalLoop &loop, Value row)
      : k(k), loop(loop), row(row), e(k.b, k.loc, k.layout.element),
        v(k.b, k.loc, k.layout.vectorType()),
        saved(GradientLayout::get(loop.channels)) {
    params = loop.params;
    params.origin = loop.origin;
  }

  void write() {
    ScalarState score(k, loop.score, row), reduce(k, loop.reduce, row);
    RowFinish finish(e, loop.sweep, params, score, reduce,
                     k.toI32(k.add(loop.row, row)),
                     k.toI32(k.add(loop.length, -1)));
    Value squares = k.zero();
    int64_t begin = 0, copy = 0;
    for (Attribute attr : loop.channels) {
      const ChannelSlots &slots = *loop.sweep.find(attr);
      ChannelInterface channel = slots.channel;
      Value finished = finish.finish(slots);
      switch (channel.getForm()) {
      case ChannelForm::Weighted:
        squares = writeSum(slots, finished, begin, squares);
        break;
      case ChannelForm::Copy:
        squares = writeKey(finished, copy++, begin, squares);
        break;
      case ChannelForm::Scalar:
        storeSignal(finished, k.index(begin));
        squares = e.fma(finished, finished, squares);
        break;
      }
      begin += getChannelWidth(channel, k.layout.width);
    }
    normalize(squares, begin);
    if (loop.logSums)
      for (auto [field, value] : llvm::enumerate(finish.getSaved(saved)))
        storeLogSum(value, field);
  }

  /// A row beyond the sequence: zeros, and no key.
  void clear() {
    int64_t width = getSignalWidth(loop.channels, k.layout.width);
    k.loop(k.index(0), k.index(width), 1,
           [&](Value at) { storeSignal(k.zero(), at); });
    k.store(k.zero(), loop.norm.memref, rowOf(loop.norm));
    for (int64_t i = 0; i < getNumCopies(loop.channels); ++i)
      storeIndex(e.intConstant(-1), i);
    if (loop.logSums)
      for (int64_t i = 0; i < saved.numSaved; ++i)
        storeLogSum(k.zero(), i);
  }

private:
  Values rowOf(const ArgumentView &view) {
    return {view.offsets[0], k.add(view.offsets[1], row)};
  }
  void storeSignal(Value value, Value at) {
    Values indices = rowOf(loop.signals);
    indices.push_back(k.add(loop.signals.offsets[2], at));
    k.store(value, loop.signals.memref, indices);
  }
  void storeIndex(Value value, int64_t copy) {
    Values indices = rowOf(loop.indices);
    indices.push_back(k.add(loop.indices.offsets[2], copy));
    k.store(value, loop.indices.memref, indices);
  }
  void storeLogSum(Value value, int64_t field) {
    Values indices = rowOf(*loop.logSums);
    indices.push_back(k.add(loop.logSums->offsets[2], field));
    k.store(value, loop.logSums->memref, indices);
  }
  /// x[begin + d] = sum[d] * factor; adds the squares.
  Value writeSum(const ChannelSlots &slots, Value factor, int64_t begin,
                 Value squares) {
    int64_t panel = k.layout.panel;
    Value stackRow = k.add(row, slots.weightSlot * k.layout.itemLanes());
    auto at = [&](Value d) -> Values {
      Value p = arith::DivUIOp::create(k.b, k.loc, d, k.index(panel));
      Value in = arith::RemUIOp::create(k.b, k.loc, d, k.index(panel));
      return {loop.sums.part, p, stackRow, in};
    };
    Value factors = k.splat(factor);
    return writeVector(
        begin, squares,
        [&](Value d) {
          return v.mul(k.loadVector(loop.sums.data, at(d)), factors);
        },
        [&](Value d) { return e.mul(k.load(loop.sums.data, at(d)), factor); });
  }

  /// x[begin + d] = k[position][d]; adds the squares.
  Value writeKey(Value found, int64_t copy, int64_t begin, Value squares) {
    storeIndex(found, copy);
    Value none = e.intLess(found, e.intConstant(0));
    Value safe = k.toIndex(e.select(none, e.intConstant(0), found));
    Value id =
        k.toIndex(k.load(loop.ids.memref, {loop.ids.offsets[0],
                                           k.add(loop.ids.offsets[1], safe)}));
    RowPointer row{loop.table.memref,
                   {k.add(loop.table.offsets[0], id), loop.table.offsets[1]}};
    return writeVector(
        begin, squares,
        [&](Value d) { return k.loadVector(loop.table.memref, row.at(k, d)); },
        [&](Value d) {
          return k.widen(k.load(loop.table.memref, row.at(k, d)));
        });
  }

  /// Writes D elements: whole vectors, then the rest one by one.
  Value writeVector(int64_t begin, Value squares,
                    llvm::function_ref<Value(Value)> vectorAt,
                    llvm::function_ref<Value(Value)> scalarAt) {
    int64_t lanes = k.layout.lanes, width = k.layout.width;
    int64_t whole = width / lanes * lanes;
    Values sums = k.carry(
        k.index(0), k.index(whole), lanes, {k.zeroVector()},
        [&](Value d, ValueRange acc) -> Values {
          Value value = vectorAt(d);
          Values indices = rowOf(loop.signals);
          indices.push_back(k.add(loop.signals.offsets[2], k.add(d, begin)));
          k.storeVector(value, loop.signals.memref, indices);
          return {v.fma(value, value, acc[0])};
        });
    Value sum = e.add(squares, k.sumLanes(sums[0]));
    return k.carry(k.index(whole), k.index(width), 1, {sum},
                   [&](Value d, ValueRange acc) -> Values {
                     Value value = scalarAt(d);
                     storeSignal(value, k.add(d, begin));
                     return {e.fma(value, value, acc[0])};
                   })[0];
  }

  void normalize(Value squares, int64_t width) {
    Value norm = e.sqrt(squares);
    k.store(norm, loop.norm.memref, rowOf(loop.norm));
    Value scale = e.div(e.constant(1), e.max(norm, e.constant(kNormFloor)));
    Values at = rowOf(loop.signals);
    at.push_back({});
    int64_t lanes = k.layout.lanes, whole = width / lanes * lanes;
    Value scales = k.splat(scale);
    k.loop(k.index(0), k.index(whole), lanes, [&](Value d) {
      at[2] = k.add(loop.signals.offsets[2], d);
      Value x = k.loadVector(loop.signals.memref, at);
      k.storeVector(v.mul(x, scales), loop.signals.memref, at);
    });
    k.loop(k.index(whole), k.index(width), 1, [&](Value d) {
      at[2] = k.add(loop.signals.offsets[2], d);
      k.store(e.mul(k.load(loop.signals.memref, at), scale),
              loop.signals.memref, at);
    });
  }

  KernelBuilder &k;
  const FinalLoop &loop;
  Value row;
  ElementBuilder e, v;
  ParameterValues params;
  GradientLayout saved;
};

} // namespace

void raytention::finalizeRows(KernelBuilder &k, const FinalLoop &loop) {
  k.loop(k.index(0), loop.rows, 1, [&](Value row) {
    RowWriter writer(k, loop, row);
    Value position = k.add(loop.row, row);
    Value present = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt,
                                          position, loop.length);
    k.ifElse(
        present, [&] { writer.write(); }, [&] { writer.clear(); });
  });
}
