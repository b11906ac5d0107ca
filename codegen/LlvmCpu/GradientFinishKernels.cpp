//===- GradientFinishKernels.cpp - gradients of tiles and chunks ---*- C++
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

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

/// Calls body(d) for the width, where `d` also has a place in panels.
static void forEachColumn(KernelBuilder &k,
                          llvm::function_ref<void(Value, Value, Value)> body) {
  k.loop(k.index(0), k.index(k.layout.width), 1, [&](Value d) {
    body(d, k.div(d, k.layout.panel), k.rem(d, k.layout.panel));
  });
}

/// An element of finished sums, of a local item. Without a factor the item has
/// no say: it may be one that nothing reads.
static Value loadSum(KernelBuilder &k, const PartView &sums,
                     const std::optional<ItemTerms> &terms, Value panel,
                     Value item, Value in) {
  Value sum = k.load(sums.data, {sums.part, panel, item, in});
  if (!terms)
    return sum;
  ElementBuilder e(k.b, k.loc, k.layout.element);
  Value zero = k.index(0);
  Value factor = k.load(terms->factors, {zero, zero, item});
  Value none = e.constant(0);
  Value own = arith::SelectOp::create(
      k.b, k.loc,
      arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::UNE, factor,
                            none),
      k.load(terms->items.data, {panel, item, in}), none);
  return e.fma(own, factor, sum);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// sums[at] += scale (dy - along y), cut to the channel at `column`.
static void addCopy(KernelBuilder &k, const CopyGradLoop &loop, Value row,
                    int64_t column, Value at) {
  ElementBuilder e(k.b, k.loc, k.layout.element);
  auto field = [&](int64_t number) {
    return k.load(loop.fields.data, {loop.fields.part, k.index(number), row});
  };
  Value scale = field(loop.layout.scale()), along = field(loop.layout.along());
  auto load = [&](const ArgumentView &view, Value d) {
    return k.load(view.memref, {view.offsets[0], k.add(view.offsets[1], row),
                                k.add(view.offsets[2], k.add(d, column))});
  };
  forEachColumn(k, [&](Value d, Value panel, Value in) {
    Value plain =
        e.sub(load(loop.gradient, d), e.mul(along, load(loop.signals, d)));
    Values place = {loop.sums.part, panel, at, in};
    Value old = k.load(loop.sums.data, place);
    k.store(e.fma(plain, scale, old), loop.sums.data, place);
  });
}

void raytention::addCopies(KernelBuilder &k, const CopyGradLoop &loop) {
  SmallVector<int64_t> columns = getColumns(loop.layout, k.layout.width);
  k.loop(k.index(0), loop.rows, 1, [&](Value row) {
    for (auto [slots, column] : llvm::zip(loop.layout.slots, columns)) {
      if (slots.copySlot < 0)
        continue;
      Value index =
          k.load(loop.indices.memref,
                 {loop.indices.offsets[0], k.add(loop.indices.offsets[1], row),
                  k.add(loop.indices.offsets[2], slots.copySlot)});
      Value local =
          arith::SubIOp::create(k.b, k.loc, k.toIndex(index), loop.key);
      // Unsigned: a position before the chunk, or none, is large.
      Value isHere = arith::CmpIOp::create(
          k.b, k.loc, arith::CmpIPredicate::ult, local, loop.count);
      k.ifThen(isHere,
               [&, column = column] { addCopy(k, loop, row, column, local); });
    }
  });
}

//===----------------------------------------------------------------------===//
// Queries and parameters
//===----------------------------------------------------------------------===//

namespace {

/// Finishes one row.
class RowFinisher {
public:
  RowFinisher(KernelBuilder &k, const QueryGradLoop &loop, Value row)
      : k(k), loop(loop), row(row), e(k.b, k.loc, k.layout.element),
        params(loop.params),
        unit(getGradientUnit(e, loop.layout, params).unit) {
    params.origin = loop.origin;
  }

  void finishQuery() {
    forEachColumn(k, [&](Value d, Value panel, Value in) {
      Value sum = loadSum(k, loop.sums, loop.itemTerms, panel, row, in);
      k.store(e.mul(sum, unit), loop.gradients.memref,
              elementOf(loop.gradients, d));
    });
  }

  /// A row beyond its sequence: no gradient, whatever stands in it.
  void clear() {
    forEachColumn(k, [&](Value d, Value, Value) {
      k.store(k.zero(), loop.gradients.memref, elementOf(loop.gradients, d));
    });
    int64_t numParts = 1 + params.logGammas.size();
    for (int64_t i = 0; i < numParts; ++i)
      k.store(k.zero(), loop.parts.memref, elementOf(loop.parts, k.index(i)));
  }

  void storeParameters() {
    auto field = [&](int64_t number) { return load(loop.fields, number); };
    auto sum = [&](int64_t number) { return load(loop.accumulators, number); };
    ParameterSource source = {field, sum, k.toI32(k.add(loop.row, row)),
                              k.toI32(k.add(loop.length, -1))};
    Values parts = finishParameters(e, loop.layout, params, source);
    for (auto [i, part] : llvm::enumerate(parts))
      k.store(part, loop.parts.memref, elementOf(loop.parts, k.index(i)));
  }

private:
  Values elementOf(const ArgumentView &view, Value column) {
    return {view.offsets[0], k.add(view.offsets[1], row),
            k.add(view.offsets[2], column)};
  }
  Value load(const PartView &state, int64_t field) {
    return k.load(state.data, {state.part, k.index(field), row});
  }

  KernelBuilder &k;
  const QueryGradLoop &loop;
  Value row;
  ElementBuilder e;
  ParameterValues params;
  Value unit;
};

} // namespace

/// Whether the item at `local` of those from `first` on lies in the sequence.
static Value isInside(KernelBuilder &k, Value first, Value local,
                      Value length) {
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt,
                               k.add(first, local), length);
}

void raytention::finishQueries(KernelBuilder &k, const QueryGradLoop &loop) {
  k.loop(k.index(0), loop.rows, 1, [&](Value row) {
    RowFinisher finisher(k, loop, row);
    k.ifElse(
        isInside(k, loop.row, row, loop.length),
        [&] {
          finisher.finishQuery();
          finisher.storeParameters();
        },
        [&] { finisher.clear(); });
  });
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

void raytention::finishKeys(KernelBuilder &k, const KeyGradLoop &loop) {
  ElementBuilder e(k.b, k.loc, k.layout.element);
  Value unit = getGradientUnit(e, loop.layout, loop.params).unit;
  k.loop(k.index(0), loop.count, 1, [&](Value key) {
    auto write = [&](llvm::function_ref<Value(Value, Value)> at) {
      forEachColumn(k, [&](Value d, Value panel, Value in) {
        k.store(at(panel, in), loop.gradients.memref,
                {loop.gradients.offsets[0],
                 k.add(loop.gradients.offsets[1], key),
                 k.add(loop.gradients.offsets[2], d)});
      });
    };
    k.ifElse(
        isInside(k, loop.key, key, loop.length),
        [&] {
          write([&](Value panel, Value in) {
            return e.mul(loadSum(k, loop.sums, loop.itemTerms, panel, key, in),
                         unit);
          });
        },
        [&] { write([&](Value, Value) { return k.zero(); }); });
  });
}
