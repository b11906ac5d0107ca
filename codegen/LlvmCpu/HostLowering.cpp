//===- HostLowering.cpp - what a gradient does between its loops ---*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/HostLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace raytention;

/// Columns of the table that one task adds up: a cache line of floats.
static constexpr int64_t kScatterColumns = 16;

namespace {

/// Emits loops over buffers.
class LoopBuilder {
public:
  LoopBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value size(Value memref, int64_t axis) {
    return memref::DimOp::create(b, loc, memref, axis);
  }
  Value load(Value memref, ValueRange at) {
    return memref::LoadOp::create(b, loc, memref, at);
  }
  void store(Value value, Value memref, ValueRange at) {
    memref::StoreOp::create(b, loc, value, memref, at);
  }
  void loop(Value begin, Value end, llvm::function_ref<void(Value)> body) {
    auto op = scf::ForOp::create(b, loc, begin, end, index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    body(op.getInductionVar());
  }
  /// The sum of `element(i)` onto `start`, for i in order.
  Value sum(Value end, Value start,
            llvm::function_ref<Value(Value, Value)> add) {
    auto op =
        scf::ForOp::create(b, loc, index(0), end, index(1), ValueRange{start});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    scf::YieldOp::create(b, loc,
                         add(op.getInductionVar(), op.getRegionIterArg(0)));
    return op.getResult(0);
  }

  OpBuilder &b;
  Location loc;
};

} // namespace

/// The sum of one column of parts, as double.
static Value sumColumn(LoopBuilder &l, Value parts, Value column) {
  Type f64 = l.b.getF64Type();
  Value zero = arith::ConstantOp::create(l.b, l.loc, l.b.getF64FloatAttr(0));
  return l.sum(l.size(parts, 0), zero, [&](Value entry, Value total) {
    return l.sum(l.size(parts, 1), total, [&](Value row, Value acc) -> Value {
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
  l.loop(l.index(0), l.size(gammas, 0), [&](Value i) {
    Value column = arith::AddIOp::create(b, loc, i, l.index(1));
    l.store(narrow(sumColumn(l, parts, column)), gammas, {i});
  });
}

/// One task: the columns [begin, end) of the table.
static void scatterColumns(LoopBuilder &l, Value rows, Value ids, Value table,
                           Value begin, Value end) {
  Type element = cast<MemRefType>(table.getType()).getElementType();
  Value zero = arith::ConstantOp::create(
      l.b, l.loc, cast<TypedAttr>(l.b.getZeroAttr(element)));
  l.loop(l.index(0), l.size(table, 0), [&](Value v) {
    l.loop(begin, end, [&](Value d) { l.store(zero, table, {v, d}); });
  });
  l.loop(l.index(0), l.size(rows, 0), [&](Value entry) {
    l.loop(l.index(0), l.size(rows, 1), [&](Value j) {
      Value id = arith::IndexCastOp::create(l.b, l.loc, l.b.getIndexType(),
                                            l.load(ids, {entry, j}));
      l.loop(begin, end, [&](Value d) {
        Value sum = arith::AddFOp::create(l.b, l.loc, l.load(table, {id, d}),
                                          l.load(rows, {entry, j, d}));
        l.store(sum, table, {id, d});
      });
    });
  });
}

void raytention::scatterRows(OpBuilder &b, Location loc, Value rows, Value ids,
                             Value table) {
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
  scatterColumns(l, rows, ids, table, begin, end);
}
