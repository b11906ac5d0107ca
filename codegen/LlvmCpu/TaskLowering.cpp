//===- TaskLowering.cpp - one query tile's program on a CPU ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TaskLowering.h"
#include "dialect/RayTile/Bufferization.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Values and buffers
//===----------------------------------------------------------------------===//

Value TaskLowering::scalar(OpFoldResult value, Location loc) {
  if (auto constant = getConstantIntValue(value))
    return arith::ConstantIndexOp::create(b, loc, *constant);
  return scalar(cast<Value>(value));
}

FailureOr<StateView> TaskLowering::getState(Operation *op, Value floats,
                                            Value positions) {
  StringRef expected = "a state from rt.init";
  auto *f = getFields(op, floats, expected, Padding::Repeat);
  auto *p = getFields(op, positions, expected, Padding::Repeat);
  if (!f || !p)
    return failure();
  return StateView{f->view, p->view};
}

Value TaskLowering::allocate(MemRefType type, ValueRange sizes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(task);
  return memref::AllocOp::create(b, task->getParentOp()->getLoc(), type, sizes,
                                 b.getI64IntegerAttr(64));
}

Value TaskLowering::allocateInLoop(MemRefType type) {
  auto *found = llvm::find_if(
      freeBuffers, [&](Value buffer) { return buffer.getType() == type; });
  Value buffer;
  if (found == freeBuffers.end()) {
    buffer = allocate(type);
  } else {
    buffer = *found;
    freeBuffers.erase(found);
  }
  loopBuffers.push_back(buffer);
  return buffer;
}

OpFoldResult raytention::getSizeOf(Value memref, int64_t axis) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(axis))
    return IntegerAttr::get(IndexType::get(type.getContext()),
                            type.getDimSize(axis));
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return getSizeOf(cast.getSource(), axis);
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getMixedSizes()[axis];
  if (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [dim, size] : llvm::enumerate(view.getMixedSizes()))
      if (!dropped.test(dim) && axis-- == 0)
        return size;
  }
  return {};
}

FailureOr<TaskLowering::Extent>
TaskLowering::getExtent(Operation *op, Value tensor, int64_t axis) {
  Value memref = getMemRef(tensor);
  OpFoldResult size = getSizeOf(memref, axis);
  std::optional<int64_t> bound = size ? getConstantBound(size) : std::nullopt;
  if (!bound)
    return op->emitOpError()
           << "expected axis " << axis << " of " << tensor.getType()
           << " to be bounded by a constant, as the tiling passes leave it";
  if (*bound < 1 || *bound > kLargestTile)
    return op->emitOpError()
           << "expected axis " << axis << " of " << tensor.getType()
           << " to be bounded by 1 to " << kLargestTile << ", got " << *bound;
  return Extent{*bound, scalar(size, op->getLoc())};
}

const ParameterValues &TaskLowering::getParameters(Value tau, Value gammas,
                                                   Location loc) {
  auto [it, isNew] = parameters.try_emplace(
      std::pair(getMemRef(tau), getMemRef(gammas)), ParameterValues());
  if (!isNew)
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(task);
  KernelBuilder k = kernel(loc);
  int64_t count = cast<RankedTensorType>(gammas.getType()).getDimSize(0);
  ArgumentView bases = *find<ArgumentView>(gammas);
  for (Value &offset : bases.offsets)
    if (std::optional<int64_t> constant = getConstantIntValue(offset))
      offset = k.index(*constant);
  Value tauMemref = find<ArgumentView>(tau)->memref;
  return it->second = loadParameters(k, tauMemref, bases, count);
}

//===----------------------------------------------------------------------===//
// Structure: blocks, loops, slices
//===----------------------------------------------------------------------===//

LogicalResult TaskLowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult TaskLowering::lower(Operation *op) {
  llvm::scope_exit done([&] { settle(); });
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<memref::AllocOp, memref::SubViewOp, memref::CopyOp, memref::LoadOp,
            memref::DimOp, linalg::FillOp, linalg::ContractOp, scf::ForOp,
            scf::ForallOp, scf::IfOp, tile::ComputeOp>(
          [&](auto typed) { return lower(typed); })
      .Case<memref::CastOp>([](auto) { return success(); })
      .Default([&](Operation *other) -> LogicalResult {
        auto isBuffer = [](Type type) { return isa<MemRefType>(type); };
        if (other->getNumRegions() > 0 ||
            llvm::any_of(other->getOperandTypes(), isBuffer) ||
            llvm::any_of(other->getResultTypes(), isBuffer))
          return other->emitOpError()
                 << "has no lowering to the CPU; expected the tiled stage "
                    "(--rt-tile-tasks, --rt-chunk-keys)";
        b.clone(*other, scalars);
        return success();
      });
}

/// They are read once, where the task begins.
template <typename Op> LogicalResult TaskLowering::checkParameters(Op op) {
  for (Value value : {op.getTau(), op.getGammas()}) {
    auto *view = get<ArgumentView>(op, value, "an argument");
    if (!view)
      return failure();
    for (Value offset : view->offsets)
      if (Operation *def = offset.getDefiningOp();
          def && !getConstantIntValue(offset) &&
          task->getParentOp()->isProperAncestor(def))
        return op.emitOpError() << "expected tau and gammas that are known "
                                   "outside of the task, got a view in it";
  }
  return success();
}

/// What a new buffer becomes is known from where it is written first, so it is
/// written there alone, and always.
LogicalResult TaskLowering::checkOutputs(tile::ComputeOp compute) {
  for (auto [number, output] : llvm::enumerate(compute.getOutputs())) {
    if (tile::getInit(compute.getOp(), number))
      continue;
    Value memref = stripCasts(output);
    bool isKept = isPlain(memref) || (isa<DistanceOp>(compute.getOp()) &&
                                      find<ScoreBuffer>(memref));
    bool isEmpty =
        llvm::is_contained(cast<MemRefType>(memref.getType()).getShape(), 0);
    auto alloc = memref.getDefiningOp<memref::AllocOp>();
    if (isKept || isEmpty)
      continue;
    if (!alloc || alloc->getBlock() != compute->getBlock() ||
        buffers.contains(memref))
      return compute.getOp()->emitOpError()
             << "writes a buffer that is written elsewhere too, which the CPU "
                "lowering does not; expected a value of its own in each place";
  }
  return success();
}

/// The tensors of an op of rt are what the buffers are that it is given.
LogicalResult TaskLowering::lower(tile::ComputeOp compute) {
  Operation *inner = compute.getOp();
  for (auto [argument, memref] : llvm::zip(
           compute.getBody().front().getArguments(), compute->getOperands()))
    tensors[argument] = memref;
  for (auto [result, memref] :
       llvm::zip(inner->getResults(), compute.getOutputs()))
    tensors[result] = memref;
  if (failed(checkOutputs(compute)))
    return failure();
  LogicalResult hasParameters =
      llvm::TypeSwitch<Operation *, LogicalResult>(inner)
          .Case<ScoreSweepOp, ReduceSweepOp, WeighOp, FinalizeOp, GradRowsOp,
                WeighGradOp, QueryGradOp, KeyGradOp>(
              [&](auto op) { return checkParameters(op); })
          .Default([](Operation *) { return success(); });
  if (failed(hasParameters))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(inner)
      .Case<InitOp, LookupOp, DistanceOp, ScoreSweepOp, ReduceSweepOp, WeighOp,
            MergeOp, FinalizeOp, GradRowsOp, WeighGradOp, SumDifferencesOp,
            CopyGradOp, QueryGradOp, KeyGradOp>(
          [&](auto typed) { return lower(typed); })
      .Default([](Operation *other) {
        return other->emitOpError()
               << "has no lowering to the CPU; expected the tiled stage "
                  "(--rt-tile-tasks)";
      });
}

LogicalResult TaskLowering::lower(scf::ForOp op) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (!step || *step < 1)
    return op.emitOpError() << "expected a positive constant step, the chunk";
  if (op.getNumResults() > 0)
    return op.emitOpError() << "expected a loop that carries nothing but what "
                               "stands in buffers";
  FailureOr<Residents> residents = importResidents(op);
  if (failed(residents))
    return failure();
  forgetImports();
  auto loop =
      scf::ForOp::create(b, op.getLoc(), scalar(op.getLowerBound()),
                         scalar(op.getUpperBound()), scalar(op.getStep()));
  scalars.map(op.getInductionVar(), loop.getInductionVar());
  SmallVector<Value> outer;
  std::swap(outer, loopBuffers);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
  }
  llvm::append_range(freeBuffers, loopBuffers);
  std::swap(outer, loopBuffers);
  forgetImports();
  return exportResidents(op, *residents);
}

LogicalResult TaskLowering::lower(scf::ForallOp op) {
  if (op.getRank() != 1 || op.getStaticStep() != ArrayRef<int64_t>{1})
    return op.emitOpError() << "expected an inner forall over key ranges";
  KernelBuilder k = kernel(op.getLoc());
  auto loop = scf::ForOp::create(
      b, op.getLoc(), scalar(op.getMixedLowerBound()[0], op.getLoc()),
      scalar(op.getMixedUpperBound()[0], op.getLoc()), k.index(1));
  scalars.map(op.getInductionVars()[0], loop.getInductionVar());
  forgetImports();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  LogicalResult lowered = lowerBlock(*op.getBody());
  forgetImports();
  return lowered;
}

LogicalResult TaskLowering::lower(scf::IfOp op) {
  if (op.getNumResults() > 0)
    return op.emitOpError() << "expected a branch that gives nothing but what "
                               "stands in buffers";
  auto branch = scf::IfOp::create(b, op.getLoc(), scalar(op.getCondition()),
                                  op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : {std::pair(op.thenBlock(), branch.thenBlock()),
                          {op.elseBlock(), branch.elseBlock()}}) {
    if (!from)
      continue;
    forgetImports();
    b.setInsertionPointToStart(to);
    if (failed(lowerBlock(*from)))
      return failure();
  }
  forgetImports();
  return success();
}
