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
  auto *f = get<StateBuffer>(op, floats, "a state from rt.init");
  auto *p = get<StateBuffer>(op, positions, "a state from rt.init");
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

/// The size of a buffer along an axis, as the code names it; null if it is that
/// of an argument.
static OpFoldResult getSizeOf(Value memref, int64_t axis) {
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
                 << "has no lowering to the CPU; expected the fused stage "
                    "(--rt-fuse-channels)";
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
    bool isKept = isa<DistanceOp>(compute.getOp()) && find<ScoreBuffer>(memref);
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
               << "has no lowering to the CPU; expected the fused stage "
                  "(--rt-fuse-channels)";
      });
}

/// The ops of a kind that `memref` is given to, as their operand or result at
/// `place`.
template <typename Op>
static bool isUsedBy(Value memref, llvm::function_ref<Value(Op)> place) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto compute = dyn_cast<tile::ComputeOp>(user);
    auto op = compute ? dyn_cast<Op>(compute.getOp()) : Op();
    return op && place(op) && compute.getBuffer(place(op)) == memref;
  });
}

/// Whether a view is only read as the queries of distances.
static bool isQueryTile(Value memref) {
  return isUsedBy<DistanceOp>(memref,
                              [](DistanceOp op) { return op.getQueries(); });
}

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
    ArgumentView view{argument->memref, offsets};
    if (!isQueryTile(op.getResult())) {
      buffers[op.getResult()] = view;
      return success();
    }
    return packQueries(op, view);
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
                             "know; expected the fused stage";
}

/// Queries as the task's own items, or as what passes by.
LogicalResult TaskLowering::packQueries(memref::SubViewOp op,
                                        const ArgumentView &view) {
  FailureOr<Extent> rows = getExtent(op, op.getResult(), 1);
  if (failed(rows))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  if (side == PairSide::Key) {
    int64_t padded = layout.paddedRows(rows->bound);
    PackedRows packed;
    packed.data = allocateInLoop(MemRefType::get(
        {layout.widthPanels(), padded, layout.panel}, layout.element));
    packed.norms = allocateInLoop(
        MemRefType::get({layout.normBlocks() + 1, padded}, layout.element));
    packed.count = rows->count;
    packQueryRows(k, view, packed);
    buffers[op.getResult()] = RowBuffer{packed};
    return success();
  }
  if (rows->bound > layout.items)
    return op.emitOpError()
           << "expected at most " << layout.items
           << " rows, the step of the loop, got " << rows->bound;
  buffers[op.getResult()] = packItems(
      op, rows->count,
      [&](const PackedLanes &packed) {
        packQueryLanes(k, view, rows->count, packed);
      },
      [&](const PackedRows &packed) { packQueryRows(k, view, packed); });
  return success();
}

/// States and sums are copied as a whole, scores row by row.
LogicalResult TaskLowering::lower(memref::CopyOp op) {
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

/// A value that is at least `value` and defined outside of `block`.
static Value getOuterBound(Value value, Block *block) {
  if (value.getParentBlock() != block)
    return value;
  if (auto min = value.getDefiningOp<arith::MinSIOp>())
    for (Value operand : min->getOperands())
      if (Value bound = getOuterBound(operand, block))
        return bound;
  // Sizes are not negative, so max(size, 0) is bounded as size is.
  if (auto max = value.getDefiningOp<arith::MaxSIOp>())
    for (auto [one, other] :
         {std::pair(max.getLhs(), max.getRhs()), {max.getRhs(), max.getLhs()}})
      if (isZeroInteger(other))
        return getOuterBound(one, block);
  return {};
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
    Value bound = getOuterBound(op.getDynamicSizes().back(), op->getBlock());
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

LogicalResult TaskLowering::lower(scf::ForOp op) {
  std::optional<int64_t> step = getConstantIntValue(op.getStep());
  if (!step || *step < 1)
    return op.emitOpError() << "expected a positive constant step, the chunk";
  if (op.getNumResults() > 0)
    return op.emitOpError() << "expected a loop that carries nothing but what "
                               "stands in buffers";
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
  return success();
}

LogicalResult TaskLowering::lower(scf::ForallOp op) {
  if (op.getRank() != 1 || op.getStaticStep() != ArrayRef<int64_t>{1})
    return op.emitOpError() << "expected an inner forall over key ranges";
  KernelBuilder k = kernel(op.getLoc());
  auto loop = scf::ForOp::create(
      b, op.getLoc(), scalar(op.getMixedLowerBound()[0], op.getLoc()),
      scalar(op.getMixedUpperBound()[0], op.getLoc()), k.index(1));
  scalars.map(op.getInductionVars()[0], loop.getInductionVar());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  return lowerBlock(*op.getBody());
}

LogicalResult TaskLowering::lower(scf::IfOp op) {
  if (op.getNumResults() > 0)
    return op.emitOpError() << "expected a branch that gives nothing but what "
                               "stands in buffers";
  auto branch = scf::IfOp::create(b, op.getLoc(), scalar(op.getCondition()),
                                  op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  if (failed(lowerBlock(*op.thenBlock())))
    return failure();
  if (!op.elseBlock())
    return success();
  b.setInsertionPointToStart(branch.elseBlock());
  return lowerBlock(*op.elseBlock());
}
