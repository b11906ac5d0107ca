//===- TaskLowering.cpp - one query tile's program on a CPU ------*- C++ -*-===//
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

template <typename BufferKind>
const BufferKind *TaskLowering::get(Operation *op, Value tensor,
                                    StringRef expected) {
  auto it = buffers.find(tensor);
  if (it != buffers.end())
    if (auto *buffer = std::get_if<BufferKind>(&it->second))
      return buffer;
  op->emitOpError() << "expected " << expected
                    << " in the form of the fused stage, got " << tensor;
  return nullptr;
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
  auto *found = llvm::find_if(freeBuffers, [&](Value buffer) {
    return buffer.getType() == type;
  });
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

/// A static bound of an axis of a tile: of its type, or of its size operand.
static FailureOr<int64_t> getBound(Operation *op, Value tensor, int64_t axis) {
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
  return *bound;
}

const TaskParameters &TaskLowering::getParameters(Value tau, Value gammas,
                                                  Location loc) {
  auto it = parameters.find(tau);
  if (it != parameters.end())
    return it->second;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(task);
  KernelBuilder k = kernel(loc);
  int64_t count = cast<RankedTensorType>(gammas.getType()).getDimSize(0);
  Value tauMemref = std::get<ArgumentView>(buffers[tau]).memref;
  Value gammaMemref = std::get<ArgumentView>(buffers[gammas]).memref;
  return parameters[tau] = loadParameters(k, tauMemref, gammaMemref, count);
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
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::ExtractOp,
            tensor::DimOp, tensor::EmptyOp, linalg::FillOp, linalg::ContractOp,
            scf::ForOp, scf::ForallOp, InitOp, LookupOp, DistanceOp,
            ScoreSweepOp, ReduceSweepOp, WeighOp, MergeOp, FinalizeOp>(
          [&](auto typed) { return lower(typed); })
      .Case<tensor::CastOp>([&](auto cast) -> LogicalResult {
        alias(cast.getResult(), cast.getSource());
        return success();
      })
      .Default([&](Operation *other) -> LogicalResult {
        auto isTensor = [](Type type) { return isa<TensorType>(type); };
        if (other->getNumRegions() > 0 ||
            llvm::any_of(other->getOperandTypes(), isTensor) ||
            llvm::any_of(other->getResultTypes(), isTensor))
          return other->emitOpError()
                 << "has no lowering to the CPU; expected the fused stage "
                    "(--rt-fuse-channels)";
        b.clone(*other, scalars);
        return success();
      });
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
    for (auto [own, base] : llvm::zip(offsets, argument->offsets))
      own = k.add(base, own);
    ArgumentView view{argument->memref, offsets};
    if (!isQueryTile(op)) {
      buffers[op.getResult()] = view;
      return success();
    }
    PackedQueries packed;
    packed.data = allocate(MemRefType::get(
        {layout.queryLanes() / layout.panel, layout.paddedWidth(), layout.panel},
        layout.element));
    packed.norms =
        allocate(MemRefType::get({layout.queryLanes()}, layout.element));
    packQueries(k, view, scalar(op.getMixedSizes()[1], op.getLoc()), packed);
    buffers[op.getResult()] = QueryBuffer{packed};
    return success();
  }
  if (auto *scores = std::get_if<ScoreBuffer>(&source)) {
    buffers[op.getResult()] = ScoreBuffer{
        {scores->view.data, k.add(scores->view.begin, offsets.back())}};
    return success();
  }
  if (auto *state = std::get_if<StateBuffer>(&source)) {
    bool isPart = op.getSourceType().getRank() > op.getType().getRank();
    PartView view = state->view;
    if (isPart)
      view.part = offsets[1];
    buffers[op.getResult()] = StateBuffer{view, isPart ? 1 : state->numParts};
    return success();
  }
  return op.emitOpError() << "slices a tensor that the CPU lowering does not "
                             "know; expected the fused stage";
}

LogicalResult TaskLowering::lower(tensor::InsertSliceOp op) {
  auto *dest = get<ScoreBuffer>(op, op.getDest(), "kept scores");
  auto *source = get<ScoreBuffer>(op, op.getSource(), "a chunk's distances");
  if (!dest || !source)
    return failure();
  // rt.distance has written them in place.
  if (source->view.data != dest->view.data)
    return op.emitOpError() << "expected distances that are kept once";
  buffers[op.getResult()] = *dest;
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
      slice && axis && slice.getType().getRank() == slice.getSourceType().getRank()) {
    scalars.map(op.getResult(), scalar(slice.getMixedSizes()[*axis], op.getLoc()));
    return success();
  }
  auto *view = get<ArgumentView>(op, source, "an argument or a slice");
  if (!view || !axis)
    return failure();
  scalars.map(op.getResult(), memref::DimOp::create(b, op.getLoc(),
                                                    view->memref, *axis));
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
    for (auto [one, other] : {std::pair(max.getLhs(), max.getRhs()),
                              {max.getRhs(), max.getLhs()}})
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
    Value data =
        allocate(MemRefType::get({1, 0, layout.queryLanes()}, element));
    buffers[op.getResult()] = StateBuffer{{data, k.index(0)}, 1};
    return success();
  }
  if (type.getRank() != 3)
    return op.emitOpError() << "expected kept scores [1, rows, keys], got "
                            << type;
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
  auto buffer = MemRefType::get({ShapedType::kDynamic, layout.queryLanes()},
                                layout.element);
  Value data = allocate(buffer, padded);
  b.setInsertionPointToStart(task);
  buffers[op.getResult()] = ScoreBuffer{{data, k.index(0)}};
  return success();
}

LogicalResult TaskLowering::lower(scf::ForOp op) {
  for (auto [init, arg] : llvm::zip(op.getInitArgs(), op.getRegionIterArgs())) {
    if (!isa<TensorType>(init.getType()))
      return op.emitOpError() << "expected a loop that carries tensors only";
    alias(arg, init);
  }
  auto loop = scf::ForOp::create(b, op.getLoc(), scalar(op.getLowerBound()),
                                 scalar(op.getUpperBound()),
                                 scalar(op.getStep()));
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
  for (auto [init, result] : llvm::zip(op.getInitArgs(), op.getResults()))
    alias(result, init);
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

//===----------------------------------------------------------------------===//
// States and sums
//===----------------------------------------------------------------------===//

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
        {*parts, static_cast<int64_t>(values.size()), layout.queryLanes()},
        element));
    initState(k, values, data, k.index(*parts));
    buffers[state] = StateBuffer{{data, k.index(0)}, *parts};
  }
  return success();
}

LogicalResult TaskLowering::lower(linalg::FillOp op) {
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (type.getRank() != 4 && type.getRank() != 5)
    return op.emitOpError() << "expected sums [1, C, rows, D], got " << type;
  int64_t parts = 1;
  if (type.getRank() == 5) {
    auto empty = op.getOutputs()[0].getDefiningOp<tensor::EmptyOp>();
    std::optional<int64_t> bound =
        type.isDynamicDim(1) && empty
            ? getConstantBound(cast<Value>(empty.getMixedSizes()[1]))
            : std::optional<int64_t>(type.getDimSize(1));
    if (!bound || ShapedType::isDynamic(*bound))
      return op.emitOpError() << "expected a constant number of parts";
    parts = *bound;
  }
  int64_t numWeighted = type.getDimSize(type.getRank() - 3);
  KernelBuilder k = kernel(op.getLoc());
  Value data = allocate(MemRefType::get({parts, layout.widthPanels(),
                                         layout.stackRows(numWeighted),
                                         layout.panel},
                                        layout.element));
  zeroSums(k, data);
  buffers[op.getResult(0)] = StateBuffer{{data, k.index(0)}, parts};
  return success();
}

LogicalResult TaskLowering::lower(MergeOp op) {
  auto parts = getState(op, op.getPartialFloats(), op.getPartialPositions());
  if (failed(parts))
    return failure();
  int64_t numParts =
      std::get<StateBuffer>(buffers[op.getPartialFloats()]).numParts;
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
        {1, static_cast<int64_t>(values.size()), layout.queryLanes()}, element));
    initState(k, values, data, k.index(1));
    *view = {data, k.index(0)};
    buffers[result] = StateBuffer{*view, 1};
  }
  mergeStates(k, sweep, op.getSweep(), *parts, numParts, merged);
  if (!op.getSums())
    return success();
  auto *sums = get<StateBuffer>(op, op.getPartialSums(), "partial sums");
  if (!sums)
    return failure();
  SmallVector<int64_t> shape(
      cast<MemRefType>(sums->view.data.getType()).getShape());
  shape[0] = 1;
  PartView total = {allocate(MemRefType::get(shape, layout.element)),
                    k.index(0)};
  mergeSums(k, sums->view.data, numParts, total);
  buffers[op.getSums()] = StateBuffer{total, 1};
  return success();
}

//===----------------------------------------------------------------------===//
// A chunk
//===----------------------------------------------------------------------===//

LogicalResult TaskLowering::lower(LookupOp op) {
  auto *table = get<ArgumentView>(op, op.getTable(), "a table argument");
  auto *ids = get<ArgumentView>(op, op.getIndices(), "a slice of the ids");
  FailureOr<int64_t> chunk = getBound(op, op.getIndices(), 1);
  if (!table || !ids || failed(chunk))
    return failure();
  auto slice = op.getIndices().getDefiningOp<tensor::ExtractSliceOp>();
  KernelBuilder k = kernel(op.getLoc());
  int64_t rows = layout.paddedRows(*chunk);
  PackedKeys keys;
  keys.data = allocateInLoop(MemRefType::get(
      {layout.widthPanels(), rows, layout.panel}, layout.element));
  keys.norms = allocateInLoop(MemRefType::get({rows}, layout.element));
  keys.count = slice ? scalar(slice.getMixedSizes()[1], op.getLoc())
                     : k.index(*chunk);
  gatherKeys(k, table->memref, *ids, keys);
  buffers[op.getRows()] = KeyBuffer{keys};
  return success();
}

LogicalResult TaskLowering::lower(DistanceOp op) {
  auto *queries = get<QueryBuffer>(op, op.getQueries(), "a tile of queries");
  auto *keys = get<KeyBuffer>(op, op.getKeys(), "keys from rt.lookup");
  if (!queries || !keys)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  ScoreView view;
  for (Operation *user : op->getUsers())
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user))
      if (auto *kept = std::get_if<ScoreBuffer>(&buffers[insert.getDest()]))
        view = {kept->view.data,
                k.add(kept->view.begin,
                      scalar(insert.getMixedOffsets().back(), op.getLoc()))};
  if (!view.data) {
    int64_t rows = cast<MemRefType>(keys->packed.norms.getType()).getDimSize(0);
    view = {allocateInLoop(
                MemRefType::get({rows, layout.queryLanes()}, layout.element)),
            k.index(0)};
  }
  computeDistances(k, queries->packed, keys->packed, op.getMetric(),
                   op.getPrecision(), view);
  buffers[op.getDistances()] = ScoreBuffer{view};
  return success();
}

template <typename Op>
FailureOr<PairLoop> TaskLowering::getPairs(Op op, const SweepLayout &sweep) {
  auto *scores = get<ScoreBuffer>(op, op.getDistances(), "distances");
  if (!scores)
    return failure();
  if (op.getLengths())
    return op.emitOpError() << "expected keys restricted to the visible range "
                               "instead of lengths (--rt-tile-queries)";
  // Distances are a chunk's: their size is that of the chunk's keys.
  Value distances = op.getDistances(), count;
  if (auto distance = distances.template getDefiningOp<DistanceOp>())
    count = std::get<KeyBuffer>(buffers[distance.getKeys()]).packed.count;
  else if (auto slice =
               distances.template getDefiningOp<tensor::ExtractSliceOp>())
    count = scalar(slice.getMixedSizes().back(), op.getLoc());
  if (!count)
    return op.emitOpError() << "expected a chunk's distances, from rt.distance "
                               "or a slice of kept ones";
  Attribute mask = op.getMaskAttr();
  if (!mask)
    mask = CausalAttr::get(op.getContext());
  return PairLoop{sweep,
                  getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                  scores->view,
                  scalar(op.getRow()),
                  scalar(op.getKey()),
                  count,
                  cast<MaskInterface>(mask)};
}

LogicalResult TaskLowering::lower(ScoreSweepOp op) {
  SweepLayout sweep = SweepLayout::get(op.getChannels());
  auto state = getState(op, op.getFloatsIn(), op.getPositionsIn());
  auto pairs = getPairs(op, sweep);
  if (failed(state) || failed(pairs))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  scoreSweep(k, *pairs, *state);
  alias(op.getFloats(), op.getFloatsIn());
  alias(op.getPositions(), op.getPositionsIn());
  return success();
}

LogicalResult TaskLowering::lower(ReduceSweepOp op) {
  if (op.getKeys())
    return op.emitOpError() << "expected weighted sums as a product of their "
                               "own (--rt-fuse-channels)";
  SweepLayout sweep = SweepLayout::get(op.getChannels());
  auto state = getState(op, op.getFloatsIn(), op.getPositionsIn());
  auto *score = get<StateBuffer>(op, op.getScoreState(), "a score state");
  auto pairs = getPairs(op, sweep);
  if (failed(state) || !score || failed(pairs))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  reduceSweep(k, *pairs, score->view, *state);
  alias(op.getFloats(), op.getFloatsIn());
  alias(op.getPositions(), op.getPositionsIn());
  return success();
}

LogicalResult TaskLowering::lower(WeighOp op) {
  SweepLayout sweep = SweepLayout::get(op.getChannels());
  auto *score = get<StateBuffer>(op, op.getScoreState(), "a score state");
  auto pairs = getPairs(op, sweep);
  Value source = op.getDistances();
  if (auto distance = source.getDefiningOp<DistanceOp>()) {
    auto lookup = distance.getKeys().getDefiningOp<LookupOp>();
    source = lookup ? lookup.getIndices() : Value();
  }
  if (!score || failed(pairs) || !source)
    return failure();
  int64_t axis = cast<RankedTensorType>(source.getType()).getRank() - 1;
  FailureOr<int64_t> chunk = getBound(op, source, axis);
  if (failed(chunk))
    return failure();
  Value data = allocateInLoop(MemRefType::get(
      {*chunk, layout.stackRows(sweep.numWeighted)}, layout.element));
  KernelBuilder k = kernel(op.getLoc());
  weigh(k, *pairs, score->view, data);
  buffers[op.getWeights()] = WeightBuffer{data, sweep.numWeighted};
  return success();
}

LogicalResult TaskLowering::lower(linalg::ContractOp op) {
  auto *weights = get<WeightBuffer>(op, op.getInputs()[0], "weights");
  auto *keys = get<KeyBuffer>(op, op.getInputs()[1], "keys from rt.lookup");
  auto *sums = get<StateBuffer>(op, op.getOutputs()[0], "weighted sums");
  if (!weights || !keys || !sums)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  accumulateSums(k, weights->numWeighted, weights->data, keys->packed,
                 sums->view);
  alias(op->getResult(0), op.getOutputs()[0]);
  return success();
}

LogicalResult TaskLowering::lower(FinalizeOp op) {
  SweepLayout sweep = SweepLayout::get(op.getSweepChannels());
  auto score = getState(op, op.getScoreFloats(), op.getScorePositions());
  auto reduce = getState(op, op.getReduceFloats(), op.getReducePositions());
  auto *sums = get<StateBuffer>(op, op.getSums(), "weighted sums");
  auto *table = get<ArgumentView>(op, op.getTable(), "a table argument");
  auto *ids = get<ArgumentView>(op, op.getIds(), "a slice of the ids");
  auto *signals = get<ArgumentView>(op, op.getSignalsIn(), "a result slice");
  auto *norm = get<ArgumentView>(op, op.getNormIn(), "a result slice");
  ArgumentView indices;
  if (getNumCopies(op.getChannels()) > 0) {
    auto *view = get<ArgumentView>(op, op.getIndicesIn(), "a result slice");
    if (!view)
      return failure();
    indices = *view;
  }
  auto rows = op.getNormIn().getDefiningOp<tensor::ExtractSliceOp>();
  if (failed(score) || failed(reduce) || !sums || !table || !ids || !signals ||
      !norm || !rows)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  Value length;
  if (op.getLengths()) {
    auto *lengths = get<ArgumentView>(op, op.getLengths(), "lengths");
    if (!lengths)
      return failure();
    length = k.toIndex(k.load(lengths->memref, lengths->offsets));
  } else {
    length = memref::DimOp::create(b, op.getLoc(), ids->memref, 1);
  }
  FinalLoop loop{sweep,
                 getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                 op.getChannels(),
                 op.getDecayOrigin(),
                 *score,
                 *reduce,
                 sums->view,
                 table->memref,
                 *ids,
                 scalar(op.getRow()),
                 scalar(rows.getMixedSizes()[1], op.getLoc()),
                 length,
                 *signals,
                 *norm,
                 indices};
  finalizeRows(k, loop);
  return success();
}
