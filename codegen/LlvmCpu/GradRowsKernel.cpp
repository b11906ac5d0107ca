//===- GradRowsKernel.cpp - rows before they meet keys -------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/GradientKernels.h"
#include "dialect/RayTention/elements/RowGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

SmallVector<int64_t> raytention::getColumns(const GradientLayout &layout,
                                            int64_t width) {
  SmallVector<int64_t> columns;
  int64_t next = 0;
  for (const GradientSlots &slots : layout.slots) {
    columns.push_back(next);
    next += getChannelWidth(slots.channel, width);
  }
  columns.push_back(next);
  return columns;
}

namespace {

/// Prepares one row. dx = scale (dy - along y).
class RowPreparer {
public:
  RowPreparer(KernelBuilder &k, const GradRowsLoop &loop, Value row)
      : k(k), loop(loop), row(row), e(k.b, k.loc, k.layout.element),
        v(k.b, k.loc, k.layout.vectorType()),
        columns(getColumns(loop.layout, k.layout.width)), params(loop.params) {
    params.origin = loop.origin;
  }

  void prepare() {
    Values saved;
    for (int64_t i = 0; i < loop.layout.numSaved; ++i) {
      Values at = rowOf(loop.logSums);
      at.push_back(k.add(loop.logSums.offsets[2], i));
      saved.push_back(k.load(loop.logSums.memref, at));
      store(saved.back(), i);
    }
    RowPreparation row(e, loop.layout, params, saved, multiplySignals(),
                       k.load(loop.norm.memref, rowOf(loop.norm)),
                       k.toI32(k.add(loop.row, this->row)),
                       k.toI32(k.add(loop.length, -1)));
    along = row.along;
    store(row.scale, loop.layout.scale());
    store(along, loop.layout.along());
    for (auto [slots, column] : llvm::zip(loop.layout.slots, columns))
      prepareChannel(row, slots, column);
    store(row.weightSum, loop.layout.weightSum());
  }

  void clear() {
    for (int64_t i = 0; i < loop.layout.numFields; ++i)
      store(k.zero(), i);
    for (const GradientSlots &slots : loop.layout.slots)
      if (slots.weightSlot >= 0)
        k.loop(k.index(0), k.index(k.layout.paddedWidth()), 1,
               [&](Value d) { storeStack(slots.weightSlot, d, k.zero()); });
  }

private:
  Values rowOf(const ArgumentView &view) {
    return {view.offsets[0], k.add(view.offsets[1], row)};
  }
  Values elementOf(const ArgumentView &view, Value column) {
    Values at = rowOf(view);
    at.push_back(k.add(view.offsets[2], column));
    return at;
  }
  void store(Value value, int64_t field) {
    k.store(value, loop.fields.data, {loop.fields.part, k.index(field), row});
  }

  /// The sum over columns [begin, end) of what `whole` and `rest` add.
  Value sum(int64_t begin, int64_t end,
            llvm::function_ref<Value(Value, Value)> whole,
            llvm::function_ref<Value(Value, Value)> rest) {
    int64_t lanes = k.layout.lanes;
    int64_t middle = begin + (end - begin) / lanes * lanes;
    Value total =
        k.carry(k.index(begin), k.index(middle), lanes, {k.zeroVector()},
                [&](Value column, ValueRange acc) -> Values {
                  return {whole(column, acc[0])};
                })[0];
    total = k.sumLanes(total);
    return k.carry(k.index(middle), k.index(end), 1, {total},
                   [&](Value column, ValueRange acc) -> Values {
                     return {rest(column, acc[0])};
                   })[0];
  }

  /// y . dy
  Value multiplySignals() {
    auto vectors = [&](Value column, Value acc) {
      return v.fma(loadVector(loop.signals, column),
                   loadVector(loop.gradient, column), acc);
    };
    auto scalars = [&](Value column, Value acc) {
      return e.fma(load(loop.signals, column), load(loop.gradient, column),
                   acc);
    };
    return sum(0, columns.back(), vectors, scalars);
  }

  Value loadVector(const ArgumentView &view, Value column) {
    return k.loadVector(view.memref, elementOf(view, column));
  }
  /// The memory that the next row begins with is read while this one is still
  /// worked on.
  void prefetchNext(const ArgumentView &view, Value column) {
    Values at = elementOf(view, column);
    at[1] = k.add(at[1], 1);
    k.prefetch(view.memref, at);
  }
  Value load(const ArgumentView &view, Value column) {
    return k.load(view.memref, elementOf(view, column));
  }
  /// dx / scale, of one column or of a vector of them.
  Value across(Value column) {
    return e.sub(load(loop.gradient, column),
                 e.mul(along, load(loop.signals, column)));
  }
  Value acrossVector(Value column) {
    return v.sub(loadVector(loop.gradient, column),
                 v.mul(k.splat(along), loadVector(loop.signals, column)));
  }

  void prepareChannel(RowPreparation &row, const GradientSlots &slots,
                      int64_t column) {
    ChannelInterface channel = slots.channel;
    if (channel.getForm() == ChannelForm::Copy)
      return;
    Value at = k.index(column);
    Values fields =
        channel.getForm() == ChannelForm::Scalar
            ? row.prepareScalar(slots, across(at), load(loop.signals, at))
            : row.prepareWeighted(slots,
                                  stackChannel(slots.weightSlot, column));
    for (auto [i, value] : llvm::enumerate(fields))
      store(value, slots.fields + i);
  }

  /// Stacks G / scale of a weighted channel; the sum of G times its value.
  Value stackChannel(int64_t slot, int64_t column) {
    Value begin = k.index(column);
    auto local = [&](Value at) -> Value {
      return arith::SubIOp::create(k.b, k.loc, at, begin);
    };
    auto vectors = [&](Value at, Value acc) {
      prefetchNext(loop.signals, at);
      prefetchNext(loop.gradient, at);
      Value plain = acrossVector(at);
      storeStackVector(slot, local(at), plain);
      return v.fma(plain, loadVector(loop.signals, at), acc);
    };
    auto scalars = [&](Value at, Value acc) {
      Value plain = across(at);
      storeStack(slot, local(at), plain);
      return e.fma(plain, load(loop.signals, at), acc);
    };
    Value total = sum(column, column + k.layout.width, vectors, scalars);
    k.loop(k.index(k.layout.width), k.index(k.layout.paddedWidth()), 1,
           [&](Value d) { storeStack(slot, d, k.zero()); });
    return total;
  }

  Values rowStackAt(int64_t slot, Value d) {
    Value at = k.add(row, slot * loop.bound);
    return {k.div(d, k.layout.panel), at, k.rem(d, k.layout.panel)};
  }
  Values laneStackAt(int64_t slot, Value d) {
    Value panel = k.add(k.div(row, k.layout.panel),
                        slot * k.layout.itemLanes() / k.layout.panel);
    return {panel, d, k.rem(row, k.layout.panel)};
  }
  void storeStack(int64_t slot, Value d, Value value) {
    if (loop.rowStack)
      k.store(value, loop.rowStack, rowStackAt(slot, d));
    else
      k.store(value, loop.laneStack, laneStackAt(slot, d));
  }
  void storeStackVector(int64_t slot, Value d, Value value) {
    // Lanes are a power of two, panels a multiple of them: a vector that starts
    // at a multiple of the lanes stays in its panel.
    if (loop.rowStack) {
      k.storeVector(value, loop.rowStack, rowStackAt(slot, d));
      return;
    }
    for (int64_t i = 0; i < k.layout.lanes; ++i) {
      Value element = vector::ExtractOp::create(k.b, k.loc, value, i);
      k.store(element, loop.laneStack, laneStackAt(slot, k.add(d, i)));
    }
  }

  KernelBuilder &k;
  const GradRowsLoop &loop;
  Value row, along;
  ElementBuilder e, v;
  SmallVector<int64_t> columns;
  ParameterValues params;
};

} // namespace

void raytention::prepareRows(KernelBuilder &k, const GradRowsLoop &loop) {
  k.loop(k.index(0), k.index(loop.bound), 1, [&](Value row) {
    RowPreparer preparer(k, loop, row);
    auto less = [&](Value a, Value c) -> Value {
      return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, a, c);
    };
    Value isThere =
        arith::AndIOp::create(k.b, k.loc, less(row, loop.rows),
                              less(k.add(loop.row, row), loop.length));
    k.ifElse(
        isThere, [&] { preparer.prepare(); }, [&] { preparer.clear(); });
  });
}
