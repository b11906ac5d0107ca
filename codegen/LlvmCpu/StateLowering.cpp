//===- StateLowering.cpp - states, sums and their merging --------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TaskLowering.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace raytention;

/// Number of parts: the second axis of a partial state, or 1.
static FailureOr<int64_t> getNumParts(InitOp op) {
  if (!op.getParts())
    return 1;
  std::optional<int64_t> parts = getConstantBound(op.getParts());
  if (!parts)
    return op.emitOpError() << "expected a constant number of parts";
  return *parts;
}

LogicalResult TaskLowering::lower(InitOp op) {
  FailureOr<int64_t> parts = getNumParts(op);
  if (failed(parts))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  SweepLayout sweep = SweepLayout::get(op.getChannels());
  for (auto [state, values, element] :
       {std::tuple<Value, ArrayRef<double>, Type>(
            op.getFloats(), sweep.floatInit(op.getSweep()), layout.element),
        {op.getPositions(), sweep.intInit(op.getSweep()), b.getI32Type()}}) {
    Value data = allocate(MemRefType::get(
        {*parts, static_cast<int64_t>(values.size()), layout.itemLanes()},
        element));
    initState(k, values, data, k.index(*parts));
    if (failed(put(op, state, StateBuffer{{data, k.index(0)}, *parts})))
      return failure();
  }
  return success();
}

/// Whether zeros are the start of a gradient's products: rt.weigh_grad reads
/// what is added to them.
static bool isStartOfProducts(Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto compute = dyn_cast<tile::ComputeOp>(user);
    auto weigh =
        compute ? dyn_cast<WeighGradOp>(compute.getOp()) : WeighGradOp();
    return weigh && compute.getBuffer(weigh.getProducts()) == memref;
  });
}

LogicalResult TaskLowering::lower(linalg::FillOp op) {
  Value memref = op.getOutputs()[0];
  if (llvm::is_contained(cast<MemRefType>(memref.getType()).getShape(), 0))
    return success();
  if (isPlain(memref)) {
    fillBuffer(op);
    return success();
  }
  if (!matchPattern(op.getInputs()[0], m_AnyZeroFloat()))
    return op.emitOpError() << "expected sums that start as zeros";
  auto alloc = getMemRef(memref).getDefiningOp<memref::AllocOp>();
  if (!alloc || buffers.contains(alloc) || alloc->getBlock() != op->getBlock())
    return op.emitOpError()
           << "expected new sums of the task to start as zeros";
  MemRefType type = alloc.getType();
  if (type.getRank() == 3) {
    buffer(memref) = makeAccumulators(op);
    return success();
  }
  // Products are written by the one contraction that they start.
  if (isStartOfProducts(memref))
    return success();
  if (type.getRank() != 4)
    return op.emitOpError() << "expected sums [1, C, rows, D], got " << type;
  KernelBuilder k = kernel(op.getLoc());
  Value data = allocate(
      MemRefType::get({1, layout.widthPanels(),
                       layout.stackRows(type.getDimSize(1)), layout.panel},
                      layout.element));
  zeroSums(k, data);
  buffer(memref) = StateBuffer{{data, k.index(0)}, 1};
  return success();
}

LogicalResult TaskLowering::lower(MergeOp op) {
  auto parts = getState(op, op.getPartialFloats(), op.getPartialPositions());
  if (failed(parts))
    return failure();
  int64_t numParts =
      std::get<StateBuffer>(buffer(op.getPartialFloats())).numParts;
  KernelBuilder k = kernel(op.getLoc());
  SweepLayout sweep = SweepLayout::get(op.getChannels());
  StateView merged;
  for (auto [view, result, values, element] :
       {std::tuple<PartView *, Value, ArrayRef<double>, Type>(
            &merged.floats, op.getFloats(), sweep.floatInit(op.getSweep()),
            layout.element),
        {&merged.positions, op.getPositions(), sweep.intInit(op.getSweep()),
         b.getI32Type()}}) {
    Value data = allocate(MemRefType::get(
        {1, static_cast<int64_t>(values.size()), layout.itemLanes()}, element));
    initState(k, values, data, k.index(1));
    *view = {data, k.index(0)};
    buffer(result) = StateBuffer{*view, 1};
  }
  mergeStates(k, sweep, op.getSweep(), *parts, numParts, merged);
  return success();
}
