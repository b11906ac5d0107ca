//===- HostLowering.cpp - what a gradient does between its loops ---*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/HostLowering.h"
#include "dialect/RayTention/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace raytention;

/// Columns of the table that one task adds up: a cache line of floats.
static constexpr int64_t kScatterColumns = 16;

/// The sum of `add(i, sum)` from `start` on, for i in order.
static Value sum(LoopBuilder &l, Value end, Value start,
                 llvm::function_ref<Value(Value, Value)> add) {
  auto step = [&](Value i, ValueRange sum) -> SmallVector<Value> {
    return {add(i, sum[0])};
  };
  return l.carry(l.index(0), end, 1, {start}, step)[0];
}

static Value size(LoopBuilder &l, Value memref, int64_t axis) {
  return memref::DimOp::create(l.b, l.loc, memref, axis);
}

/// The sum of one column of parts, as double.
static Value sumColumn(LoopBuilder &l, Value parts, Value column) {
  Type f64 = l.b.getF64Type();
  Value zero = arith::ConstantOp::create(l.b, l.loc, l.b.getF64FloatAttr(0));
  return sum(l, size(l, parts, 0), zero, [&](Value entry, Value total) {
    return sum(l, size(l, parts, 1), total, [&](Value row, Value acc) -> Value {
      Value part = l.load(parts, {entry, row, column});
      if (part.getType() != f64)
        part = arith::ExtFOp::create(l.b, l.loc, f64, part);
      return arith::AddFOp::create(l.b, l.loc, acc, part);
    });
  });
}

void raytention::sumParameters(OpBuilder &b, Location loc, Value parts,
                               Value tau, Value gammas) {
  LoopBuilder l(b, loc);
  Type element = cast<MemRefType>(tau.getType()).getElementType();
  auto narrow = [&](Value sum) -> Value {
    if (sum.getType() == element)
      return sum;
    return arith::TruncFOp::create(b, loc, element, sum);
  };
  l.store(narrow(sumColumn(l, parts, l.index(0))), tau, {});
  l.loop(l.index(0), size(l, gammas, 0), 1, [&](Value i) {
    Value column = arith::AddIOp::create(b, loc, i, l.index(1));
    l.store(narrow(sumColumn(l, parts, column)), gammas, {i});
  });
}

/// Zeros in the columns [begin, end) of the table.
static void clearColumns(LoopBuilder &l, Value table, Value begin, Value end) {
  Type element = cast<MemRefType>(table.getType()).getElementType();
  Value zero = arith::ConstantOp::create(
      l.b, l.loc, cast<TypedAttr>(l.b.getZeroAttr(element)));
  l.loop(l.index(0), size(l, table, 0), 1, [&](Value v) {
    l.loop(begin, end, 1, [&](Value d) { l.store(zero, table, {v, d}); });
  });
}

/// One task: the columns [begin, end) of the table.
static void scatterColumns(LoopBuilder &l, Value rows, Value ids, Value table,
                           Value begin, Value end) {
  l.loop(l.index(0), size(l, rows, 0), 1, [&](Value entry) {
    l.loop(l.index(0), size(l, rows, 1), 1, [&](Value j) {
      Value id = arith::IndexCastOp::create(l.b, l.loc, l.b.getIndexType(),
                                            l.load(ids, {entry, j}));
      l.loop(begin, end, 1, [&](Value d) {
        Value sum = arith::AddFOp::create(l.b, l.loc, l.load(table, {id, d}),
                                          l.load(rows, {entry, j, d}));
        l.store(sum, table, {id, d});
      });
    });
  });
}

void raytention::scatterRows(OpBuilder &b, Location loc, Value rows, Value ids,
                             Value table, bool fromZero) {
  LoopBuilder l(b, loc);
  int64_t width = cast<MemRefType>(table.getType()).getDimSize(1);
  SmallVector<OpFoldResult> begins = {b.getIndexAttr(0)};
  SmallVector<OpFoldResult> ends = {b.getIndexAttr(width)};
  SmallVector<OpFoldResult> steps = {b.getIndexAttr(kScatterColumns)};
  auto tasks = scf::ForallOp::create(b, loc, begins, ends, steps,
                                     /*outputs=*/ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(tasks.getTerminator());
  Value begin = tasks.getInductionVar(0);
  Value reach = arith::AddIOp::create(b, loc, begin, l.index(kScatterColumns));
  Value end = arith::MinSIOp::create(b, loc, reach, l.index(width));
  if (fromZero)
    clearColumns(l, table, begin, end);
  scatterColumns(l, rows, ids, table, begin, end);
}
