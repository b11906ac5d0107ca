//===- FoldLowering.cpp - lists of tokens, on the host ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/HostLowering.h"
#include "dialect/RayTention/LoopBuilder.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/elements/KeyFold.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace raytention;

using Values = LoopBuilder::Values;

static Type getElementType(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

//===----------------------------------------------------------------------===//
// rt.distinct
//===----------------------------------------------------------------------===//

namespace {

class DistinctBuilder {
public:
  DistinctBuilder(OpBuilder &b, Location loc, Value ids,
                  const DistinctBuffers &results)
      : l(b, loc), ids(ids), results(results),
        none(arith::ConstantIntOp::create(b, loc, -1, 32)) {}

  void run(Value vocab) {
    auto type = MemRefType::get({ShapedType::kDynamic}, l.b.getI32Type());
    Value places = memref::AllocOp::create(l.b, l.loc, type, vocab);
    Value length = sizeOf(ids, 1);
    Value zero = arith::ConstantIntOp::create(l.b, l.loc, 0, 32);
    l.loop(l.index(0), length, 1,
           [&](Value j) { l.store(zero, results.seen, {j}); });
    l.loop(l.index(0), sizeOf(ids, 0), 1, [&](Value entry) {
      l.loop(l.index(0), vocab, 1,
             [&](Value id) { l.store(none, places, {id}); });
      auto step = [&](Value j, ValueRange count) -> Values {
        return {visit(entry, j, places, count[0])};
      };
      Value count = l.carry(l.index(0), length, 1, {l.index(0)}, step)[0];
      l.loop(count, length, 1, [&](Value u) {
        l.store(l.load(ids, {entry, l.index(0)}), results.tokens, {entry, u});
      });
    });
    memref::DeallocOp::create(l.b, l.loc, places);
  }

private:
  Value sizeOf(Value memref, int64_t axis) {
    return memref::DimOp::create(l.b, l.loc, memref, axis);
  }

  /// The number of distinct tokens with position j counted.
  Value visit(Value entry, Value j, Value places, Value count) {
    Value token = l.load(ids, {entry, j}), id = l.toIndex(token);
    Value known = l.load(places, {id});
    Value isNew = arith::CmpIOp::create(l.b, l.loc, arith::CmpIPredicate::eq,
                                        known, none);
    Value slot =
        arith::SelectOp::create(l.b, l.loc, isNew, l.toI32(count), known);
    l.store(slot, places, {id});
    l.store(slot, results.slots, {entry, j});
    l.store(token, results.tokens, {entry, l.toIndex(slot)});
    Value next =
        arith::SelectOp::create(l.b, l.loc, isNew, l.add(count, 1), count);
    Value most = arith::MaxSIOp::create(l.b, l.loc, l.toI32(next),
                                        l.load(results.seen, {j}));
    l.store(most, results.seen, {j});
    return next;
  }

  LoopBuilder l;
  Value ids;
  DistinctBuffers results;
  Value none;
};

} // namespace

void raytention::findDistinct(OpBuilder &b, Location loc, Value ids,
                              Value vocab, const DistinctBuffers &results) {
  DistinctBuilder(b, loc, ids, results).run(vocab);
}

//===----------------------------------------------------------------------===//
// rt.fold_keys
//===----------------------------------------------------------------------===//

/// The rows of a list at a key.
static Values loadColumn(LoopBuilder &l, Value rows, Value entry, Value key) {
  Values values;
  int64_t count = cast<MemRefType>(rows.getType()).getDimSize(1);
  for (int64_t i = 0; i < count; ++i)
    values.push_back(l.load(rows, {entry, l.index(i), key}));
  return values;
}

static void storeColumn(LoopBuilder &l, ValueRange values, Value rows,
                        Value entry, Value key) {
  for (auto [i, value] : llvm::enumerate(values))
    l.store(value, rows, {entry, l.index(i), key});
}

void raytention::foldKeys(OpBuilder &b, Location loc, const SweepLayout &layout,
                          const KeySpan &span, Value gammas,
                          const KeyListBuffers &list) {
  LoopBuilder l(b, loc);
  ElementBuilder e(b, loc, getElementType(list.masses));
  ParameterValues params;
  int64_t numGammas = cast<MemRefType>(gammas.getType()).getDimSize(0);
  for (int64_t i = 0; i < numGammas; ++i)
    params.logGammas.push_back(e.log(l.load(gammas, {l.index(i)})));
  Value batch = memref::DimOp::create(b, loc, span.slots, 0);
  l.loop(l.index(0), batch, 1, [&](Value entry) {
    Value end = span.end;
    if (span.lengths)
      end = l.min(end, l.toIndex(l.load(span.lengths, {entry})));
    l.loop(span.begin, end, 1, [&](Value position) {
      Value key = l.toIndex(l.load(span.slots, {entry, position}));
      KeyColumn column{loadColumn(l, list.positions, entry, key),
                       loadColumn(l, list.masses, entry, key)};
      column = addPosition(e, layout, params, column, l.toI32(position));
      storeColumn(l, column.positions, list.positions, entry, key);
      storeColumn(l, column.masses, list.masses, entry, key);
    });
  });
}
