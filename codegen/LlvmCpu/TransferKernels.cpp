//===- TransferKernels.cpp - plain memory to a task's forms and back -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TransferKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

Values PlainMatrix::at(KernelBuilder &k, Value row, Value column) const {
  Values indices = begin;
  Value &ownRow = indices[indices.size() - 2], &ownColumn = indices.back();
  ownRow = k.add(ownRow, row);
  ownColumn = k.add(ownColumn, column);
  return indices;
}

RowPointer PlainMatrix::pointTo(KernelBuilder &k, Value row) const {
  return {memref, at(k, row, k.index(0))};
}

static Value less(KernelBuilder &k, Value a, Value c) {
  return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, a, c);
}

static Type getElementType(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

static Value makeZero(KernelBuilder &k, Type type) {
  return arith::ConstantOp::create(k.b, k.loc,
                                   cast<TypedAttr>(k.b.getZeroAttr(type)));
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Rows become columns: bits of the row's number change places with those of
/// the lane's, one per round.
static void transposeBlock(KernelBuilder &k, Values &rows) {
  int64_t lanes = rows.size();
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      bool isUpper = lane & bit;
      low.push_back(isUpper ? lanes + lane - bit : lane);
      high.push_back(isUpper ? lanes + lane : lane + bit);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if (row & bit)
        continue;
      Value a = rows[row], c = rows[row + bit];
      rows[row] = vector::ShuffleOp::create(k.b, k.loc, a, c, low);
      rows[row + bit] = vector::ShuffleOp::create(k.b, k.loc, a, c, high);
    }
  }
}

/// Covers [0, count) by runs of a vector's length, the last of which may repeat
/// a part of the one before; or, where there are fewer, one by one.
static void forEachRun(KernelBuilder &k, Value count,
                       llvm::function_ref<void(Value)> whole,
                       llvm::function_ref<void(Value)> single) {
  int64_t lanes = k.layout.lanes;
  k.ifElse(
      less(k, count, k.index(lanes)),
      [&] { k.loop(k.index(0), count, 1, single); },
      [&] {
        Value last = k.add(count, -lanes);
        k.loop(k.index(0), count, lanes,
               [&](Value at) { whole(k.min(at, last)); });
      });
}

/// The item at `index`, or what stands for one beyond the last.
static Value loadItem(KernelBuilder &k, Value index, Value count,
                      Padding padding, llvm::function_ref<Value(Value)> load) {
  Value value = load(k.min(index, k.add(count, -1)));
  if (padding == Padding::Repeat)
    return value;
  return arith::SelectOp::create(k.b, k.loc, less(k, index, count), value,
                                 makeZero(k, value.getType()));
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

void raytention::importRowsToLanes(KernelBuilder &k, const PlainMatrix &from,
                                   Padding padding, Value to, LanePlace place) {
  int64_t lanes = k.layout.lanes;
  k.loop(k.index(0), k.index(k.layout.itemLanes()), lanes, [&](Value lane) {
    auto whole = [&](Value column) {
      Values block;
      for (int64_t i = 0; i < lanes; ++i)
        block.push_back(
            loadItem(k, k.add(lane, i), from.rows, padding, [&](Value row) {
              return k.loadVector(from.memref, from.at(k, row, column));
            }));
      transposeBlock(k, block);
      for (int64_t i = 0; i < lanes; ++i)
        k.storeVector(block[i], to, place(k.add(column, i), lane));
    };
    auto single = [&](Value column) {
      k.loop(lane, k.add(lane, lanes), 1, [&](Value item) {
        Value value = loadItem(k, item, from.rows, padding, [&](Value row) {
          return k.load(from.memref, from.at(k, row, column));
        });
        k.store(value, to, place(column, item));
      });
    };
    forEachRun(k, from.columns, whole, single);
  });
}

void raytention::exportLanesToRows(KernelBuilder &k, Value from,
                                   LanePlace place, const PlainMatrix &to) {
  int64_t lanes = k.layout.lanes;
  auto copy = [&](Value item, Value column) {
    k.store(k.load(from, place(column, item)), to.memref,
            to.at(k, item, column));
  };
  k.loop(k.index(0), to.rows, lanes, [&](Value lane) {
    auto whole = [&](Value column) {
      Values block;
      for (int64_t i = 0; i < lanes; ++i)
        block.push_back(k.loadVector(from, place(k.add(column, i), lane)));
      transposeBlock(k, block);
      for (int64_t i = 0; i < lanes; ++i)
        k.storeVector(block[i], to.memref, to.at(k, k.add(lane, i), column));
    };
    auto single = [&](Value column) {
      k.loop(lane, k.add(lane, lanes), 1,
             [&](Value item) { copy(item, column); });
    };
    k.ifElse(
        less(k, to.rows, k.add(lane, lanes)),
        [&] {
          k.loop(lane, to.rows, 1, [&](Value item) {
            k.loop(k.index(0), to.columns, 1,
                   [&](Value column) { copy(item, column); });
          });
        },
        [&] { forEachRun(k, to.columns, whole, single); });
  });
}

void raytention::importColumnsToLanes(KernelBuilder &k, const PlainMatrix &from,
                                      Padding padding, Value to,
                                      LanePlace place) {
  int64_t lanes = k.layout.lanes;
  Value whole = k.mul(k.div(from.columns, lanes), lanes);
  Value rest = k.mul(k.ceilDiv(from.columns, lanes), lanes);
  k.loop(k.index(0), from.rows, 1, [&](Value row) {
    auto load = [&](Value column) {
      return k.load(from.memref, from.at(k, row, column));
    };
    k.loop(k.index(0), whole, lanes, [&](Value lane) {
      k.storeVector(k.loadVector(from.memref, from.at(k, row, lane)), to,
                    place(row, lane));
    });
    k.loop(whole, rest, 1, [&](Value lane) {
      k.store(loadItem(k, lane, from.columns, padding, load), to,
              place(row, lane));
    });
    Value beyond = padding == Padding::Zero
                       ? k.zeroVector()
                       : k.splat(load(k.add(from.columns, -1)));
    k.loop(rest, k.index(k.layout.itemLanes()), lanes,
           [&](Value lane) { k.storeVector(beyond, to, place(row, lane)); });
  });
}

void raytention::exportLanesToColumns(KernelBuilder &k, Value from,
                                      LanePlace place, const PlainMatrix &to) {
  k.loop(k.index(0), to.rows, 1, [&](Value row) {
    auto whole = [&](Value lane) {
      k.storeVector(k.loadVector(from, place(row, lane)), to.memref,
                    to.at(k, row, lane));
    };
    auto single = [&](Value lane) {
      k.store(k.load(from, place(row, lane)), to.memref, to.at(k, row, lane));
    };
    forEachRun(k, to.columns, whole, single);
  });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static int64_t getNumFields(const PartView &state) {
  return cast<MemRefType>(state.data.getType()).getDimSize(1);
}

void raytention::importState(KernelBuilder &k, const PlainMatrix &from,
                             Padding padding, int64_t lanes,
                             const PartView &to) {
  k.loop(k.index(0), k.index(lanes), 1, [&](Value lane) {
    for (int64_t i = 0; i < getNumFields(to); ++i) {
      Value field = k.index(i);
      Value value = loadItem(k, lane, from.rows, padding, [&](Value row) {
        return k.load(from.memref, from.at(k, row, field));
      });
      k.store(value, to.data, {to.part, field, lane});
    }
  });
}

void raytention::exportState(KernelBuilder &k, const PartView &from,
                             const PlainMatrix &to) {
  k.loop(k.index(0), to.rows, 1, [&](Value row) {
    for (int64_t i = 0; i < getNumFields(from); ++i) {
      Value field = k.index(i);
      k.store(k.load(from.data, {from.part, field, row}), to.memref,
              to.at(k, row, field));
    }
  });
}

//===----------------------------------------------------------------------===//
// Rows of width D
//===----------------------------------------------------------------------===//

/// Calls whole(d, panel, in) for vectors and rest for the elements behind them.
static void forEachPlace(KernelBuilder &k,
                         llvm::function_ref<void(Value, Value, Value)> whole,
                         llvm::function_ref<void(Value, Value, Value)> rest) {
  const TileLayout &layout = k.layout;
  int64_t end = layout.width / layout.lanes * layout.lanes;
  k.loop(k.index(0), k.index(end), layout.lanes, [&](Value d) {
    whole(d, k.div(d, layout.panel), k.rem(d, layout.panel));
  });
  for (int64_t d = end; d < layout.width; ++d)
    rest(k.index(d), k.index(d / layout.panel), k.index(d % layout.panel));
}

void raytention::importRow(KernelBuilder &k, const RowPointer &from, Value to,
                           PanelPlace place) {
  const TileLayout &layout = k.layout;
  forEachPlace(
      k,
      [&](Value d, Value panel, Value in) {
        k.storeVector(k.loadVector(from.memref, from.at(k, d)), to,
                      place(panel, in));
      },
      [&](Value d, Value panel, Value in) {
        k.store(k.widen(k.load(from.memref, from.at(k, d))), to,
                place(panel, in));
      });
  for (int64_t d = layout.width; d < layout.paddedWidth(); ++d)
    k.store(k.zero(), to,
            place(k.index(d / layout.panel), k.index(d % layout.panel)));
}

void raytention::clearRow(KernelBuilder &k, Value to, PanelPlace place) {
  const TileLayout &layout = k.layout;
  k.loop(k.index(0), k.index(layout.widthPanels()), 1, [&](Value panel) {
    for (int64_t in = 0; in < layout.panel; in += layout.lanes)
      k.storeVector(k.zeroVector(), to, place(panel, k.index(in)));
  });
}

void raytention::exportRow(KernelBuilder &k, Value from, PanelPlace place,
                           const RowPointer &to, FinishElement finish) {
  forEachPlace(
      k,
      [&](Value d, Value panel, Value in) {
        Value value = k.loadVector(from, place(panel, in));
        k.storeVector(finish ? finish(value, panel, in) : value, to.memref,
                      to.at(k, d));
      },
      [&](Value d, Value panel, Value in) {
        Value value = k.load(from, place(panel, in));
        k.store(finish ? finish(value, panel, in) : value, to.memref,
                to.at(k, d));
      });
}

//===----------------------------------------------------------------------===//
// Whole buffers
//===----------------------------------------------------------------------===//

static void forEachVector(KernelBuilder &k, Value begin, Value end,
                          int64_t lanes,
                          llvm::function_ref<void(Value, Value)> body) {
  k.loop(begin, end, 1, [&](Value row) {
    k.loop(k.index(0), k.index(lanes), k.layout.lanes,
           [&](Value lane) { body(row, lane); });
  });
}

void raytention::clearRows(KernelBuilder &k, Value data, Value begin,
                           Value end) {
  forEachVector(k, begin, end, k.layout.itemLanes(),
                [&](Value row, Value lane) {
                  k.storeVector(k.zeroVector(), data, {row, lane});
                });
}

void raytention::addRows(KernelBuilder &k, int64_t rows, int64_t slots,
                         Value from, Value to) {
  ElementBuilder e(k.b, k.loc, k.layout.vectorType());
  forEachVector(k, k.index(0), k.index(rows), slots * k.layout.itemLanes(),
                [&](Value row, Value lane) {
                  Values at = {row, lane};
                  k.storeVector(
                      e.add(k.loadVector(to, at), k.loadVector(from, at)), to,
                      at);
                });
}

/// Calls body(d, type) for vectors of `element` and for the rest.
static void forEachStored(KernelBuilder &k, Type element, Value count,
                          llvm::function_ref<void(Value, Type)> body) {
  int64_t lanes = k.layout.lanes;
  Value whole = k.mul(k.div(count, lanes), lanes);
  k.loop(k.index(0), whole, lanes,
         [&](Value at) { body(at, VectorType::get({lanes}, element)); });
  k.loop(whole, count, 1, [&](Value at) { body(at, element); });
}

static void copyElements(KernelBuilder &k, Type type, Value from,
                         ValueRange source, Value to, ValueRange target) {
  if (auto vector = dyn_cast<VectorType>(type))
    return k.storeVector(
        vector::LoadOp::create(k.b, k.loc, vector, from, source), to, target);
  k.store(k.load(from, source), to, target);
}

void raytention::copyKeys(KernelBuilder &k, const KeySource &keys,
                          const PlainMatrix &to) {
  k.loop(k.index(0), to.rows, 1, [&](Value row) {
    Value id =
        k.toIndex(k.load(keys.ids.memref, {keys.ids.offsets[0],
                                           k.add(keys.ids.offsets[1], row)}));
    RowPointer source{
        keys.table.memref,
        {k.add(keys.table.offsets[0], id), keys.table.offsets[1]}};
    RowPointer target = to.pointTo(k, row);
    forEachStored(k, getElementType(to.memref), to.columns,
                  [&](Value d, Type type) {
                    copyElements(k, type, source.memref, source.at(k, d),
                                 target.memref, target.at(k, d));
                  });
  });
}

/// Calls body(indices) for every row, indices being those of its begin.
static void forEachRow(KernelBuilder &k, ValueRange sizes, Values indices,
                       llvm::function_ref<void(Values)> body) {
  size_t axis = indices.size();
  if (axis + 1 >= sizes.size()) {
    body(indices);
    return;
  }
  k.loop(k.index(0), sizes[axis], 1, [&](Value i) {
    Values next = indices;
    next.push_back(i);
    forEachRow(k, sizes, next, body);
  });
}

static Values addAll(KernelBuilder &k, ArrayRef<Value> offsets,
                     ArrayRef<Value> indices) {
  Values sums(offsets);
  for (auto [sum, index] : llvm::zip(sums, indices))
    sum = k.add(sum, index);
  return sums;
}

void raytention::fillPlain(KernelBuilder &k, Value value,
                           const ArgumentView &to, ValueRange sizes) {
  if (sizes.empty())
    return k.store(value, to.memref, {});
  forEachRow(k, sizes, {}, [&](Values row) {
    RowPointer target{to.memref, addAll(k, to.offsets, row)};
    Type element = getElementType(to.memref);
    forEachStored(k, element, sizes.back(), [&](Value at, Type type) {
      if (isa<VectorType>(type))
        k.storeVector(k.splat(value), target.memref, target.at(k, at));
      else
        k.store(value, target.memref, target.at(k, at));
    });
  });
}

void raytention::copyPlain(KernelBuilder &k, const ArgumentView &from,
                           const ArgumentView &to, ValueRange sizes) {
  if (sizes.empty())
    return k.store(k.load(from.memref, {}), to.memref, {});
  forEachRow(k, sizes, {}, [&](Values row) {
    RowPointer source{from.memref, addAll(k, from.offsets, row)};
    RowPointer target{to.memref, addAll(k, to.offsets, row)};
    forEachStored(k, getElementType(to.memref), sizes.back(),
                  [&](Value at, Type type) {
                    copyElements(k, type, source.memref, source.at(k, at),
                                 target.memref, target.at(k, at));
                  });
  });
}
