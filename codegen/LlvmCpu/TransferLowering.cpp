//===- TransferLowering.cpp - what a task takes from plain memory -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TaskLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace raytention;

using Values = KernelBuilder::Values;

static MemRefType getType(Value memref) {
  return cast<MemRefType>(memref.getType());
}

/// Channels of [1, C, rows, n], or one.
static int64_t getNumSlots(Value memref) {
  return getType(memref).getRank() == 4 ? getType(memref).getDimSize(1) : 1;
}

bool TaskLowering::isPlain(Value tensor) const {
  auto it = buffers.find(getMemRef(tensor));
  return it != buffers.end() &&
         std::holds_alternative<ArgumentView>(it->second);
}

SmallVector<Value> TaskLowering::getSizes(Location loc, Value memref) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < getType(memref).getRank(); ++axis) {
    if (OpFoldResult size = getSizeOf(memref, axis))
      sizes.push_back(scalar(size, loc));
    else
      sizes.push_back(memref::DimOp::create(
          b, loc, find<ArgumentView>(memref)->memref, axis));
  }
  return sizes;
}

/// The rows and columns of a plain buffer; of a channel, where it has them.
PlainMatrix TaskLowering::getMatrix(Location loc, Value memref, Value slot) {
  KernelBuilder k = kernel(loc);
  const auto &view = *find<ArgumentView>(memref);
  SmallVector<Value> sizes = getSizes(loc, memref);
  PlainMatrix matrix{view.memref, view.offsets, sizes[sizes.size() - 2],
                     sizes.back()};
  if (slot && getType(memref).getRank() == 4)
    matrix.begin[1] = k.add(matrix.begin[1], slot);
  return matrix;
}

/// A loop at run time: the code of a transfer stands once for all channels.
void TaskLowering::forEachSlot(Location loc, Value memref,
                               llvm::function_ref<void(Value)> body) {
  KernelBuilder k = kernel(loc);
  k.loop(k.index(0), k.index(getNumSlots(memref)), 1, body);
}

template <typename BufferKind>
const BufferKind *TaskLowering::remember(Value tensor, const BufferKind &form) {
  imports.push_back({getMemRef(tensor), form, /*isPinned=*/false});
  return &std::get<BufferKind>(imports.back().form);
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

/// Whether the task's items are the rows of pairs [rows, keys].
static bool haveRowsInLanes(PairSide side) { return side == PairSide::Query; }

const ScoreBuffer *TaskLowering::getScores(Operation *op, Value tensor) {
  if (find<ScoreBuffer>(tensor) || !isPlain(tensor))
    return get<ScoreBuffer>(op, tensor, "distances");
  bool isQuery = haveRowsInLanes(side);
  FailureOr<Extent> passing = getExtent(op, tensor, isQuery ? 2 : 1);
  if (failed(passing) || failed(checkItems(op, tensor, isQuery ? 1 : 2)))
    return nullptr;
  KernelBuilder k = kernel(op->getLoc());
  Value data = allocateInLoop(
      MemRefType::get({passing->bound, layout.itemLanes()}, layout.element));
  auto place = [](Value passing, Value lane) { return Values{passing, lane}; };
  PlainMatrix from = getMatrix(op->getLoc(), getMemRef(tensor));
  auto import = isQuery ? importRowsToLanes : importColumnsToLanes;
  import(k, from, Padding::Repeat, data, place);
  return remember(
      tensor, ScoreBuffer{{data, k.index(0)}, passing->count, passing->bound});
}

LogicalResult TaskLowering::checkItems(Operation *op, Value tensor,
                                       int64_t axis) {
  FailureOr<Extent> items = getExtent(op, tensor, axis);
  if (failed(items))
    return failure();
  if (items->bound > layout.items)
    return op->emitOpError() << "expected at most " << layout.items << " "
                             << (side == PairSide::Query ? "rows" : "keys")
                             << ", the step of the loop, got " << items->bound;
  return success();
}

const WeightBuffer *TaskLowering::getWeights(Operation *op, Value tensor,
                                             StringRef expected) {
  if (find<WeightBuffer>(tensor) || !isPlain(tensor))
    return get<WeightBuffer>(op, tensor, expected);
  bool isQuery = haveRowsInLanes(side);
  Location loc = op->getLoc();
  Value memref = getMemRef(tensor);
  int64_t rank = getType(memref).getRank(), slots = getNumSlots(memref);
  FailureOr<Extent> passing =
      getExtent(op, tensor, isQuery ? rank - 1 : rank - 2);
  if (failed(passing) ||
      failed(checkItems(op, tensor, isQuery ? rank - 2 : rank - 1)))
    return nullptr;
  KernelBuilder k = kernel(loc);
  WeightBuffer form{{}, isQuery ? slots : 1};
  form.slotRows = isQuery ? 0 : passing->bound;
  form.data =
      allocateInLoop(MemRefType::get({passing->bound * (isQuery ? 1 : slots),
                                      layout.stackRows(isQuery ? slots : 1)},
                                     layout.element));
  auto import = isQuery ? importRowsToLanes : importColumnsToLanes;
  forEachSlot(loc, memref, [&](Value slot) {
    import(k, getMatrix(loc, memref, slot), Padding::Zero, form.data,
           placeWeights(k, form, slot));
    if (isQuery)
      return;
    Value first = k.mul(slot, form.slotRows);
    clearRows(k, form.data, k.add(first, passing->count),
              k.add(first, form.slotRows));
  });
  return remember(tensor, form);
}

/// Where the weights of a channel stand.
TaskLowering::PlaceLane TaskLowering::placeWeights(KernelBuilder &k,
                                                   const WeightBuffer &form,
                                                   Value slot) {
  if (haveRowsInLanes(side))
    return [&k, lanes = k.mul(slot, k.layout.itemLanes())](Value passing,
                                                           Value lane) {
      return Values{passing, k.add(lane, lanes)};
    };
  return [&k, rows = k.mul(slot, form.slotRows)](Value passing, Value lane) {
    return Values{k.add(passing, rows), lane};
  };
}

void TaskLowering::exportWeights(Location loc, const WeightBuffer &form,
                                 Value memref) {
  KernelBuilder k = kernel(loc);
  auto write = haveRowsInLanes(side) ? exportLanesToRows : exportLanesToColumns;
  forEachSlot(loc, memref, [&](Value slot) {
    write(k, form.data, placeWeights(k, form, slot),
          getMatrix(loc, memref, slot));
  });
}

//===----------------------------------------------------------------------===//
// States and sums
//===----------------------------------------------------------------------===//

const StateBuffer *TaskLowering::getFields(Operation *op, Value tensor,
                                           StringRef expected, Padding padding,
                                           bool passes) {
  if (find<StateBuffer>(tensor) || !isPlain(tensor))
    return get<StateBuffer>(op, tensor, expected);
  FailureOr<Extent> rows = getExtent(op, tensor, 1);
  if (failed(rows) || (!passes && failed(checkItems(op, tensor, 1))))
    return nullptr;
  Location loc = op->getLoc();
  Value memref = getMemRef(tensor);
  MemRefType type = getType(memref);
  KernelBuilder k = kernel(loc);
  int64_t lanes = passes ? rows->bound : layout.itemLanes();
  Value data = allocateInLoop(
      MemRefType::get({1, type.getDimSize(2), lanes}, type.getElementType()));
  PartView view{data, k.index(0)};
  importState(k, getMatrix(loc, memref), padding, lanes, view);
  return remember(tensor, StateBuffer{view, 1});
}

/// Memory for sums; those of a gradient with no part of their items yet to add.
StateBuffer TaskLowering::makeSums(Location loc, int64_t numWeighted,
                                   bool isGradient) {
  KernelBuilder k = kernel(loc);
  Value data = allocateInLoop(MemRefType::get(
      {1, layout.widthPanels(), layout.stackRows(numWeighted), layout.panel},
      layout.element));
  StateBuffer sums{{data, k.index(0)}, 1};
  if (isGradient) {
    sums.itemFactors = allocateInLoop(
        MemRefType::get({1, 1, layout.itemLanes()}, layout.element));
    initState(k, {0.0}, sums.itemFactors, k.index(1));
  }
  return sums;
}

const StateBuffer *TaskLowering::getSums(Operation *op, Value tensor,
                                         StringRef expected) {
  if (find<StateBuffer>(tensor) || !isPlain(tensor))
    return get<StateBuffer>(op, tensor, expected);
  Location loc = op->getLoc();
  Value memref = getMemRef(tensor);
  int64_t rank = getType(memref).getRank();
  if (failed(checkItems(op, tensor, rank - 2)))
    return nullptr;
  StateBuffer sums = makeSums(loc, getNumSlots(memref), rank == 3);
  KernelBuilder k = kernel(loc);
  forEachSlot(loc, memref, [&](Value slot) {
    PlainMatrix from = getMatrix(loc, memref, slot);
    Value first = k.mul(slot, layout.itemLanes());
    auto placeOf = [&](Value row) {
      return [&, at = k.add(first, row)](Value panel, Value in) {
        return Values{sums.view.part, panel, at, in};
      };
    };
    k.loop(k.index(0), from.rows, 1, [&](Value row) {
      importRow(k, from.pointTo(k, row), sums.view.data, placeOf(row));
    });
    k.loop(from.rows, k.index(layout.itemLanes()), 1,
           [&](Value row) { clearRow(k, sums.view.data, placeOf(row)); });
  });
  return remember(tensor, sums);
}

/// Adds what an item still has to add to a vector or element of its sums.
static Value addItem(KernelBuilder &k, const ItemTerms &terms, Value factor,
                     Value row, Value sum, Value panel, Value in) {
  ElementBuilder e(k.b, k.loc, sum.getType());
  Values at = {panel, row, in};
  bool isVector = isa<VectorType>(sum.getType());
  Value item = isVector ? k.loadVector(terms.items.data, at)
                        : k.load(terms.items.data, at);
  // Without a factor the item may be one that nothing reads.
  Value counts = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::UNE,
                                       factor, k.zero());
  item = arith::SelectOp::create(k.b, k.loc, counts, item, e.constant(0));
  return e.fma(item, isVector ? k.splat(factor) : factor, sum);
}

void TaskLowering::exportSums(Location loc, const StateBuffer &sums,
                              Value memref) {
  KernelBuilder k = kernel(loc);
  std::optional<ItemTerms> terms = getItemTerms(sums);
  Value zero = k.index(0);
  forEachSlot(loc, memref, [&](Value slot) {
    PlainMatrix to = getMatrix(loc, memref, slot);
    Value first = k.mul(slot, layout.itemLanes());
    k.loop(zero, to.rows, 1, [&](Value row) {
      auto place = [&, at = k.add(first, row)](Value panel, Value in) {
        return Values{sums.view.part, panel, at, in};
      };
      RowPointer target = to.pointTo(k, row);
      if (!terms)
        return exportRow(k, sums.view.data, place, target);
      Value factor = k.load(terms->factors, {zero, zero, row});
      exportRow(k, sums.view.data, place, target,
                [&](Value sum, Value panel, Value in) {
                  return addItem(k, *terms, factor, row, sum, panel, in);
                });
    });
  });
}

//===----------------------------------------------------------------------===//
// Rows of width D
//===----------------------------------------------------------------------===//

/// Whether anything but a product reads a buffer.
static bool needsNorms(Value memref) {
  return !llvm::all_of(memref.getUsers(), llvm::IsaPred<linalg::ContractOp>);
}

FailureOr<TensorBuffer> TaskLowering::packTile(Operation *op, Value memref,
                                               const ArgumentView &view,
                                               bool isItems) {
  FailureOr<Extent> rows = getExtent(op, memref, 1);
  if (failed(rows) || (isItems && failed(checkItems(op, memref, 1))))
    return failure();
  KernelBuilder k = kernel(op->getLoc());
  if (isItems)
    return TensorBuffer(packItems(
        op, rows->count,
        [&](const PackedLanes &packed) {
          packQueryLanes(k, view, rows->count, packed);
        },
        [&](const PackedRows &packed) { packQueryRows(k, view, packed); }));
  int64_t padded = layout.paddedRows(rows->bound);
  PackedRows packed;
  packed.data = allocateInLoop(MemRefType::get(
      {layout.widthPanels(), padded, layout.panel}, layout.element));
  if (needsNorms(memref))
    packed.norms = allocateInLoop(
        MemRefType::get({layout.normBlocks() + 1, padded}, layout.element));
  packed.count = rows->count;
  packQueryRows(k, view, packed);
  return TensorBuffer(RowBuffer{packed});
}

/// The stack of rt.grad_rows: in lanes on the query side, else in rows, where
/// it has as many of each channel as a tile may.
FailureOr<TensorBuffer> TaskLowering::importStack(Operation *op, Value memref) {
  Location loc = op->getLoc();
  int64_t slots = getNumSlots(memref);
  FailureOr<Extent> rows = getExtent(op, memref, 2);
  if (failed(rows))
    return failure();
  KernelBuilder k = kernel(loc);
  if (haveRowsInLanes(side)) {
    if (failed(checkItems(op, memref, 2)))
      return failure();
    int64_t panels = layout.itemLanes() / layout.panel;
    Value data = allocateInLoop(MemRefType::get(
        {slots * panels, layout.paddedWidth(), layout.panel}, layout.element));
    forEachSlot(loc, memref, [&](Value slot) {
      importRowsToLanes(k, getMatrix(loc, memref, slot), Padding::Zero, data,
                        placeStack(k, slot));
    });
    clearWidth(k, data);
    return TensorBuffer(LaneBuffer{{data, Value()}});
  }
  int64_t bound = rows->bound;
  Value data = allocateInLoop(MemRefType::get(
      {layout.widthPanels(), layout.paddedRows(slots * bound), layout.panel},
      layout.element));
  forEachSlot(loc, memref, [&](Value slot) {
    PlainMatrix from = getMatrix(loc, memref, slot);
    Value first = k.mul(slot, bound);
    auto placeOf = [&](Value row) {
      return [&, at = k.add(first, row)](Value panel, Value in) {
        return Values{panel, at, in};
      };
    };
    k.loop(k.index(0), from.rows, 1, [&](Value row) {
      importRow(k, from.pointTo(k, row), data, placeOf(row));
    });
    k.loop(from.rows, k.index(bound), 1,
           [&](Value row) { clearRow(k, data, placeOf(row)); });
  });
  return TensorBuffer(
      RowBuffer{{data, Value(), k.index(slots * bound)}, bound});
}

/// Where a channel of a stack stands in lanes.
TaskLowering::PlaceLane TaskLowering::placeStack(KernelBuilder &k, Value slot) {
  Value first = k.mul(slot, k.layout.itemLanes() / k.layout.panel);
  return [&k, first](Value d, Value lane) {
    Value panel = k.add(first, k.div(lane, k.layout.panel));
    return Values{panel, d, k.rem(lane, k.layout.panel)};
  };
}

/// Zeros behind the width of items in lanes.
void TaskLowering::clearWidth(KernelBuilder &k, Value lanes) {
  Value zero = k.index(0), panels = k.index(getType(lanes).getDimSize(0));
  if (layout.width == layout.paddedWidth())
    return;
  k.loop(zero, panels, 1, [&](Value panel) {
    k.loop(k.index(layout.width), k.index(layout.paddedWidth()), 1,
           [&](Value d) {
             for (int64_t in = 0; in < layout.panel; in += layout.lanes)
               k.storeVector(k.zeroVector(), lanes, {panel, d, k.index(in)});
           });
  });
}

void TaskLowering::exportStack(Location loc, const TensorBuffer &form,
                               Value memref) {
  KernelBuilder k = kernel(loc);
  forEachSlot(loc, memref, [&](Value slot) {
    PlainMatrix to = getMatrix(loc, memref, slot);
    if (auto *lanes = std::get_if<LaneBuffer>(&form))
      return exportLanesToRows(k, lanes->packed.data, placeStack(k, slot), to);
    const auto &rows = std::get<RowBuffer>(form);
    Value first = k.mul(slot, rows.slotRows);
    k.loop(k.index(0), to.rows, 1, [&](Value row) {
      Value at = k.add(first, row);
      auto place = [&](Value panel, Value in) { return Values{panel, at, in}; };
      exportRow(k, rows.packed.data, place, to.pointTo(k, row));
    });
  });
}

template <typename BufferKind>
const BufferKind *TaskLowering::getRows(Operation *op, Value tensor,
                                        StringRef expected) {
  if (find<BufferKind>(tensor) || !isPlain(tensor))
    return get<BufferKind>(op, tensor, expected);
  Value memref = getMemRef(tensor);
  constexpr bool isItems = std::is_same_v<BufferKind, LaneBuffer>;
  FailureOr<TensorBuffer> form =
      getType(memref).getRank() == 4
          ? importStack(op, memref)
          : packTile(op, memref, *find<ArgumentView>(memref), isItems);
  if (failed(form))
    return nullptr;
  if (auto *own = std::get_if<BufferKind>(&*form))
    return remember(tensor, *own);
  return get<BufferKind>(op, tensor, expected);
}

const LaneBuffer *TaskLowering::getItems(Operation *op, Value tensor) {
  return getRows<LaneBuffer>(op, tensor, "the items of the task");
}
const RowBuffer *TaskLowering::getPassing(Operation *op, Value tensor,
                                          StringRef expected) {
  return getRows<RowBuffer>(op, tensor, expected);
}
