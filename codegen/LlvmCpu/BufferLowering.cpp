//===- BufferLowering.cpp - views, copies and memory of a task -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/OuterBounds.h"
#include "codegen/LlvmCpu/TaskLowering.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace raytention;

/// Whether an offset grows from step to step of a loop.
static bool isInductionVariable(OpFoldResult offset) {
  auto argument = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(offset));
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && loop.getInductionVar() == argument;
}

/// Whether a view is of everything along all axes but one.
static bool isWhole(memref::SubViewOp op, int64_t except) {
  for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis) {
    if (axis == except)
      continue;
    OpFoldResult all = getSizeOf(stripCasts(op.getSource()), axis);
    if (!isZeroInteger(op.getMixedOffsets()[axis]) || !all ||
        !isEqualConstantIntOrValue(op.getMixedSizes()[axis], all))
      return false;
  }
  return true;
}

LogicalResult TaskLowering::lower(memref::SubViewOp op) {
  KernelBuilder k = kernel(op.getLoc());
  if (!llvm::all_of(op.getMixedStrides(), isOneInteger))
    return op.emitOpError() << "expected stride 1";
  SmallVector<Value> offsets;
  for (OpFoldResult offset : op.getMixedOffsets())
    offsets.push_back(scalar(offset, op.getLoc()));
  TensorBuffer source = buffer(op.getSource());
  auto refusePart = [&]() -> LogicalResult {
    return op.emitOpError() << "views a part of a task's buffer that the CPU "
                               "lowering cannot; expected all rows and fields";
  };
  if (auto *argument = std::get_if<ArgumentView>(&source)) {
    if (op.getSourceType().getRank() != op.getType().getRank())
      return op.emitOpError() << "expected a view of the rank of its source";
    for (auto [own, base] : llvm::zip(offsets, argument->offsets))
      own = k.add(base, own);
    return packView(op, {argument->memref, offsets});
  }
  if (auto *scores = std::get_if<ScoreBuffer>(&source)) {
    if (!isWhole(op, /*except=*/2))
      return refusePart();
    ScoreBuffer part{
        {scores->view.data, k.add(scores->view.begin, offsets.back())}};
    OpFoldResult size = op.getMixedSizes().back();
    part.inOrder = isInductionVariable(op.getMixedOffsets().back());
    part.count = scalar(size, op.getLoc());
    part.bound = getConstantBound(size).value_or(0);
    buffers[op.getResult()] = part;
    return success();
  }
  if (auto *state = std::get_if<StateBuffer>(&source)) {
    bool isPart = op.getSourceType().getRank() > op.getType().getRank();
    // Of two axes of size 1 it does not matter which is dropped.
    if (!isWhole(op, isPart ? 1 : -1) ||
        (isPart && !isOneInteger(op.getMixedSizes()[1])))
      return refusePart();
    PartView view = state->view;
    if (isPart)
      view.part = offsets[1];
    buffers[op.getResult()] =
        StateBuffer{view, isPart ? 1 : state->numParts, state->itemFactors};
    return success();
  }
  return op.emitOpError() << "views a buffer that the CPU lowering does not "
                             "know; expected the tiled stage";
}

/// States and sums are copied as a whole, scores row by row.
LogicalResult TaskLowering::lower(memref::CopyOp op) {
  if (isPlain(op.getSource()) || isPlain(op.getTarget()))
    return copyBuffer(op);
  if (auto *from = find<StateBuffer>(op.getSource()))
    return copyState(op, *from);
  auto *from = find<ScoreBuffer>(op.getSource());
  auto *to = find<ScoreBuffer>(op.getTarget());
  if (!from || !to || !from->count)
    return op.emitOpError() << "copies a buffer of the task that the CPU "
                               "lowering does not; expected a state, sums or a "
                               "chunk's distances";
  copyScores(op.getLoc(), *from, to->view);
  return success();
}

void TaskLowering::copyScores(Location loc, const ScoreBuffer &from,
                              const ScoreView &to) {
  KernelBuilder k = kernel(loc);
  Value lanes = k.index(layout.itemLanes());
  k.loop(k.index(0), from.count, 1, [&](Value row) {
    k.loop(k.index(0), lanes, layout.lanes, [&](Value lane) {
      Value scores =
          k.loadVector(from.view.data, {k.add(from.view.begin, row), lane});
      k.storeVector(scores, to.data, {k.add(to.begin, row), lane});
    });
  });
}

LogicalResult TaskLowering::copyState(memref::CopyOp op, StateBuffer from) {
  auto copy = [&](Value data) -> Value {
    Value other = allocate(cast<MemRefType>(data.getType()));
    memref::CopyOp::create(b, op.getLoc(), data, other);
    return other;
  };
  auto alloc = getMemRef(op.getTarget()).getDefiningOp<memref::AllocOp>();
  bool isWhole = getMemRef(op.getSource()).getDefiningOp<memref::AllocOp>();
  if (!alloc || !isWhole || alloc->getBlock() != op->getBlock() ||
      buffers.contains(alloc))
    return op.emitOpError() << "copies a part of a state, or into one, which "
                               "the CPU lowering does not; expected a new copy "
                               "of a whole one";
  from.view.data = copy(from.view.data);
  if (from.itemFactors)
    from.itemFactors = copy(from.itemFactors);
  buffers[alloc] = from;
  return success();
}

LogicalResult TaskLowering::lower(memref::LoadOp op) {
  auto *view = get<ArgumentView>(op, op.getMemRef(), "an argument");
  if (!view)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  SmallVector<Value> indices;
  for (auto [index, base] : llvm::zip(op.getIndices(), view->offsets))
    indices.push_back(k.add(base, scalar(index)));
  scalars.map(op.getResult(), k.load(view->memref, indices));
  return success();
}

LogicalResult TaskLowering::lower(memref::DimOp op) {
  std::optional<int64_t> axis = op.getConstantIndex();
  auto type = cast<MemRefType>(op.getSource().getType());
  if (!axis || *axis < 0 || *axis >= type.getRank())
    return op.emitOpError() << "expected a constant axis of " << type;
  if (OpFoldResult size = getSizeOf(op.getSource(), *axis)) {
    scalars.map(op.getResult(), scalar(size, op.getLoc()));
    return success();
  }
  auto *view = get<ArgumentView>(op, op.getSource(), "an argument or a view");
  if (!view)
    return failure();
  scalars.map(op.getResult(),
              memref::DimOp::create(b, op.getLoc(), view->memref, *axis));
  return success();
}

/// What a new buffer becomes is known where it is first written; but scores
/// that are kept, part by part, are given memory here.
LogicalResult TaskLowering::lower(memref::AllocOp op) {
  MemRefType type = op.getType();
  if (llvm::is_contained(type.getShape(), 0)) {
    // Stands for what has no elements: a state without fields, no copies.
    KernelBuilder k = kernel(op.getLoc());
    Type element = type.getElementType();
    Value data = allocate(MemRefType::get({1, 0, layout.itemLanes()}, element));
    buffers[op.getResult()] = StateBuffer{{data, k.index(0)}, 1};
    return success();
  }
  bool isViewed =
      llvm::any_of(op->getUsers(), llvm::IsaPred<memref::SubViewOp>);
  return isViewed && type.getRank() == 3 ? keepScores(op) : success();
}

LogicalResult TaskLowering::keepScores(memref::AllocOp op) {
  KernelBuilder k = kernel(op.getLoc());
  Value keys;
  if (op.getType().isDynamicDim(2)) {
    Value size = op.getDynamicSizes().back();
    Block *block = &op->getParentOfType<func::FuncOp>().getBody().front();
    OpBuilder before(task->getParentOp());
    Value bound = buildOuterBound(before, size, block);
    if (!bound)
      return op.emitOpError() << "expected the number of kept keys to be "
                                 "bounded outside of the task";
    keys = scalar(bound);
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(task->getParentOp());
  if (!keys)
    keys = k.index(op.getType().getDimSize(2));
  // The last register tile may reach past the last key.
  Value padded = k.add(keys, layout.tileRows);
  auto buffer = MemRefType::get({ShapedType::kDynamic, layout.itemLanes()},
                                layout.element);
  Value data = allocate(buffer, padded);
  b.setInsertionPointToStart(task);
  buffers[op.getResult()] = ScoreBuffer{{data, k.index(0)}};
  return success();
}
