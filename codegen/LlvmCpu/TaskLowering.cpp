//===- TaskLowering.cpp - one query tile's program on a CPU ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TaskLowering.h"
#include "codegen/LlvmCpu/VerifyFused.h"
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

FailureOr<int64_t> TaskLowering::getBound(Operation *op, Value tensor,
                                          int64_t axis) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(axis))
    return type.getDimSize(axis);
  std::optional<int64_t> bound;
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    // A rank-reducing slice drops leading unit axes only.
    int64_t dropped = slice.getMixedSizes().size() - type.getRank();
    OpFoldResult size = slice.getMixedSizes()[axis + dropped];
    bound = getConstantIntValue(size);
    if (!bound)
      bound = getConstantBound(cast<Value>(size));
  }
  if (!bound)
    return op->emitOpError()
           << "expected axis " << axis << " of " << type
           << " to be bounded by a constant, as the tiling passes leave it";
  if (*bound < 1 || *bound > kLargestTile)
    return op->emitOpError()
           << "expected axis " << axis << " of " << type
           << " to be bounded by 1 to " << kLargestTile << ", got " << *bound;
  return *bound;
}

const ParameterValues &TaskLowering::getParameters(Value tau, Value gammas,
                                                   Location loc) {
  int64_t first = getFirstGamma(gammas);
  int64_t count = cast<RankedTensorType>(gammas.getType()).getDimSize(0);
  Value tauMemref = std::get<ArgumentView>(buffers[tau]).memref;
  Value gammaMemref = std::get<ArgumentView>(buffers[gammas]).memref;
  auto [it, isNew] =
      parameters.try_emplace({tauMemref.getAsOpaquePointer(),
                              gammaMemref.getAsOpaquePointer(), first, count});
  if (!isNew)
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(task);
  KernelBuilder k = kernel(loc);
  return it->second = loadParameters(k, tauMemref, gammaMemref, first, count);
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

bool raytention::isScalarCode(Operation *op) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  return !op->walk([&](Operation *inner) {
              bool hasTensors =
                  llvm::any_of(inner->getOperandTypes(), isTensor) ||
                  llvm::any_of(inner->getResultTypes(), isTensor);
              return hasTensors ? WalkResult::interrupt()
                                : WalkResult::advance();
            }).wasInterrupted();
}

LogicalResult TaskLowering::lower(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp,
            tensor::DimOp, tensor::EmptyOp, linalg::FillOp, linalg::ContractOp,
            scf::ForOp, scf::ForallOp, InitOp, LookupOp, DistanceOp,
            ScoreSweepOp, ReduceSweepOp, WeighOp, MergeOp, FinalizeOp,
            GradRowsOp, WeighGradOp, SumDifferencesOp, CopyGradOp, QueryGradOp,
            KeyGradOp>([&](auto typed) { return lower(typed); })
      .Case<tensor::CastOp>([&](auto cast) -> LogicalResult {
        alias(cast.getResult(), cast.getSource());
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        if (!isScalarCode(other))
          return other->emitOpError()
                 << "has no lowering to the CPU; expected the fused stage "
                    "(--rt-fuse-channels)";
        b.clone(*other, scalars);
        return success();
      });
}

static bool hasZeros(ArrayRef<OpFoldResult> values, ArrayRef<int64_t> axes) {
  return llvm::all_of(
      axes, [&](int64_t axis) { return isZeroInteger(values[axis]); });
}

/// Whether a tensor is only read as the queries of distances.
static bool isQueryTile(tensor::ExtractSliceOp op) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    auto distance = dyn_cast<DistanceOp>(user);
    return distance && distance.getQueries() == op.getResult();
  });
}

LogicalResult TaskLowering::lower(tensor::ExtractSliceOp op) {
  KernelBuilder k = kernel(op.getLoc());
  SmallVector<Value> offsets;
  for (OpFoldResult offset : op.getMixedOffsets())
    offsets.push_back(scalar(offset, op.getLoc()));
  TensorBuffer source = buffers[op.getSource()];
  if (auto *argument = std::get_if<ArgumentView>(&source)) {
    if (op.getType().getRank() != op.getSourceType().getRank())
      return op.emitOpError() << "expected a slice of the rank of "
                              << op.getSourceType() << ", got " << op.getType();
    for (auto [own, base] : llvm::zip(offsets, argument->offsets))
      own = k.add(base, own);
    ArgumentView view{argument->memref, offsets};
    if (!isQueryTile(op)) {
      buffers[op.getResult()] = view;
      return success();
    }
    return packQueries(op, view);
  }
  if (auto *scores = std::get_if<ScoreBuffer>(&source)) {
    if (!hasZeros(op.getMixedOffsets(), {0, 1}))
      return op.emitOpError() << "expected all rows of kept scores";
    buffers[op.getResult()] = ScoreBuffer{
        {scores->view.data, k.add(scores->view.begin, offsets.back())}};
    return success();
  }
  if (auto *state = std::get_if<StateBuffer>(&source)) {
    bool isPart = op.getSourceType().getRank() > op.getType().getRank();
    PartView view = state->view;
    SmallVector<int64_t> whole;
    for (int64_t axis = 0; axis < op.getSourceType().getRank(); ++axis)
      if (!isPart || axis != 1)
        whole.push_back(axis);
    if (!hasZeros(op.getMixedOffsets(), whole))
      return op.emitOpError() << "expected a part of a state, its rows whole";
    if (isPart)
      view.part = offsets[1];
    buffers[op.getResult()] =
        StateBuffer{view, isPart ? 1 : state->numParts, state->itemFactors};
    return success();
  }
  return op.emitOpError() << "slices a tensor that the CPU lowering does not "
                             "know; expected the fused stage";
}

/// Queries as the task's own items, or as what passes by.
LogicalResult TaskLowering::packQueries(tensor::ExtractSliceOp op,
                                        const ArgumentView &view) {
  FailureOr<RowRange> rows = getRows(op, op.getResult());
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

bool TaskLowering::isKeptInPlace(tensor::InsertSliceOp op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  auto argument = dyn_cast<BlockArgument>(op.getDest());
  if (!loop || !argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar())
    return false;
  Value begin = loop.getTiedLoopInit(argument)->get();
  OpFoldResult offset = op.getMixedOffsets().back();
  return begin.getDefiningOp<tensor::EmptyOp>() &&
         dyn_cast<Value>(offset) == loop.getInductionVar();
}

LogicalResult TaskLowering::lower(tensor::InsertSliceOp op) {
  auto *dest = get<ScoreBuffer>(op, op.getDest(), "kept scores");
  auto *source = get<ScoreBuffer>(op, op.getSource(), "a chunk's distances");
  if (!dest || !source)
    return failure();
  if (!hasZeros(op.getMixedOffsets(), {0, 1}) || !op.hasUnitStride())
    return op.emitOpError() << "expected to insert all rows of a chunk";
  ScoreView from = source->view, to = dest->view;
  alias(op.getResult(), op.getDest());
  // rt.distance has written them in place.
  if (from.data == to.data && isKeptInPlace(op))
    return success();
  KernelBuilder k = kernel(op.getLoc());
  Value begin = scalar(op.getMixedOffsets().back(), op.getLoc());
  Value count = scalar(op.getMixedSizes().back(), op.getLoc());
  copyScores(k, from, count, {to.data, k.add(to.begin, begin)});
  return success();
}

LogicalResult TaskLowering::lower(tensor::ExtractOp op) {
  auto *view = get<ArgumentView>(op, op.getTensor(), "an argument");
  if (!view)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  SmallVector<Value> indices;
  for (auto [index, base] : llvm::zip(op.getIndices(), view->offsets))
    indices.push_back(k.add(base, scalar(index)));
  scalars.map(op.getResult(), k.load(view->memref, indices));
  return success();
}

LogicalResult TaskLowering::lower(tensor::DimOp op) {
  std::optional<int64_t> axis = op.getConstantIndex();
  Value source = op.getSource();
  if (auto slice = source.getDefiningOp<tensor::ExtractSliceOp>();
      slice && axis &&
      slice.getType().getRank() == slice.getSourceType().getRank()) {
    scalars.map(op.getResult(),
                scalar(slice.getMixedSizes()[*axis], op.getLoc()));
    return success();
  }
  auto *view = get<ArgumentView>(op, source, "an argument or a slice");
  if (!view || !axis)
    return failure();
  if (source.getDefiningOp<tensor::ExtractSliceOp>() ||
      *axis >= cast<MemRefType>(view->memref.getType()).getRank())
    return op.emitOpError()
           << "expected an axis of " << source.getType() << ", got " << *axis;
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

LogicalResult TaskLowering::lower(tensor::EmptyOp op) {
  bool onlyFilled = llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<linalg::FillOp>(user);
  });
  if (onlyFilled)
    return success();
  RankedTensorType type = op.getType();
  if (llvm::is_contained(type.getShape(), 0)) {
    // Stands for what has no elements: a state without fields, no copies.
    KernelBuilder k = kernel(op.getLoc());
    Type element = type.getElementType();
    Value data = allocate(MemRefType::get({1, 0, layout.itemLanes()}, element));
    buffers[op.getResult()] = StateBuffer{{data, k.index(0)}, 1};
    return success();
  }
  if (type.getRank() != 3)
    return op.emitOpError()
           << "expected kept scores [1, rows, keys], got " << type;
  KernelBuilder k = kernel(op.getLoc());
  Value keys;
  if (type.isDynamicDim(2)) {
    Value bound = getOuterBound(op.getDynamicSizes().back(), op->getBlock());
    if (!bound)
      return op.emitOpError() << "expected the number of kept keys to be "
                                 "bounded outside of the task";
    keys = scalar(bound);
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(task->getParentOp());
  if (!keys)
    keys = k.index(type.getDimSize(2));
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
  for (auto [init, arg] : llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    if (!isa<TensorType>(init.getType()))
      return op.emitOpError() << "expected a loop that carries tensors only";
    bool isZero = init.getDefiningOp<linalg::FillOp>() &&
                  cast<RankedTensorType>(init.getType()).getRank() == 3;
    if (isZero)
      buffers[arg] = makeAccumulators(op.getLoc(), arg);
    else
      alias(arg, init);
  }
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
  for (auto [arg, result] : llvm::zip(op.getRegionIterArgs(), op.getResults()))
    alias(result, arg);
  return success();
}

LogicalResult TaskLowering::lower(scf::ForallOp op) {
  if (op.getRank() != 1 || op.getStaticStep() != ArrayRef<int64_t>{1})
    return op.emitOpError() << "expected an inner forall over key ranges";
  KernelBuilder k = kernel(op.getLoc());
  for (auto [init, arg] : llvm::zip(op.getOutputs(), op.getRegionIterArgs()))
    alias(arg, init);
  auto loop = scf::ForOp::create(
      b, op.getLoc(), scalar(op.getMixedLowerBound()[0], op.getLoc()),
      scalar(op.getMixedUpperBound()[0], op.getLoc()), k.index(1));
  scalars.map(op.getInductionVars()[0], loop.getInductionVar());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (failed(lowerBlock(*op.getBody())))
      return failure();
  }
  for (auto [init, result] : llvm::zip(op.getOutputs(), op.getResults()))
    alias(result, init);
  return success();
}
