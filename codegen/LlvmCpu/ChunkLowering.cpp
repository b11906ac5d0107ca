//===- ChunkLowering.cpp - what happens to one chunk of keys ------*- C++
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

using namespace mlir;
using namespace raytention;

/// Keys that are read for products alone, as a second time for weighted sums,
/// need no norms.
static bool needsNorms(LookupOp keys) {
  return !llvm::all_of(keys.getRows().getUsers(), [](Operation *user) {
    return isa<linalg::ContractOp>(user);
  });
}

LogicalResult TaskLowering::lower(LookupOp op) {
  auto *table = get<ArgumentView>(op, op.getTable(), "a table argument");
  auto *ids = get<ArgumentView>(op, op.getIndices(), "a slice of the ids");
  FailureOr<int64_t> chunk = getBound(op, op.getIndices(), 1);
  if (!table || !ids || failed(chunk))
    return failure();
  if (cast<MemRefType>(table->memref.getType()).getRank() != 2)
    return op.emitOpError()
           << "expected a table [V, D], got " << op.getTable().getType();
  auto slice = op.getIndices().getDefiningOp<tensor::ExtractSliceOp>();
  KernelBuilder k = kernel(op.getLoc());
  KeySource source{table->memref, *ids};
  Value count =
      slice ? scalar(slice.getMixedSizes()[1], op.getLoc()) : k.index(*chunk);
  if (side == PairSide::Key) {
    if (*chunk > layout.items)
      return op.emitOpError() << "expected at most " << layout.items
                              << " keys, the step of the loop, got " << *chunk;
    buffers[op.getRows()] = packItems(
        op, count,
        [&](const PackedLanes &keys) {
          gatherKeyLanes(k, source, count, keys);
        },
        [&](const PackedRows &keys) { gatherKeyRows(k, source, keys); });
    return success();
  }
  int64_t rows = layout.paddedRows(*chunk);
  PackedRows keys;
  keys.data = allocateInLoop(MemRefType::get(
      {layout.widthPanels(), rows, layout.panel}, layout.element));
  if (needsNorms(op))
    keys.norms = allocateInLoop(
        MemRefType::get({layout.normBlocks() + 1, rows}, layout.element));
  keys.count = count;
  gatherKeyRows(k, source, keys);
  buffers[op.getRows()] = RowBuffer{keys};
  return success();
}

LogicalResult TaskLowering::lower(DistanceOp op) {
  bool isQuery = side == PairSide::Query;
  Value items = isQuery ? op.getQueries() : op.getKeys();
  Value passing = isQuery ? op.getKeys() : op.getQueries();
  auto *lanes = get<LaneBuffer>(op, items, "the items of the task");
  auto *rows = get<RowBuffer>(op, passing, "a chunk of the other side");
  if (!lanes || !rows)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  ScoreView view;
  for (Operation *user : op->getUsers())
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user);
        insert && isKeptInPlace(insert))
      if (auto *kept = std::get_if<ScoreBuffer>(&buffers[insert.getDest()]))
        view = {kept->view.data,
                k.add(kept->view.begin,
                      scalar(insert.getMixedOffsets().back(), op.getLoc()))};
  int64_t bound = cast<MemRefType>(rows->packed.norms.getType()).getDimSize(1);
  if (!view.data) {
    view = {allocateInLoop(
                MemRefType::get({bound, layout.itemLanes()}, layout.element)),
            k.index(0)};
  }
  std::optional<ScoreView> part;
  if (layout.sumsInParts())
    part = {allocateInLoop(
                MemRefType::get({bound, layout.itemLanes()}, layout.element)),
            k.index(0)};
  computeDistances(k, lanes->packed, rows->packed, op.getMetric(),
                   op.getPrecision(), view, part);
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
    count = std::get<RowBuffer>(buffers[distance.getKeys()]).packed.count;
  else if (auto slice =
               distances.template getDefiningOp<tensor::ExtractSliceOp>())
    count = scalar(slice.getMixedSizes().back(), op.getLoc());
  if (!count)
    return op.emitOpError() << "expected a chunk's distances, from rt.distance "
                               "or a slice of kept ones";
  return PairLoop{sweep,
                  getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                  scores->view,
                  scalar(op.getRow()),
                  scalar(op.getKey()),
                  count,
                  getMaskOrCausal(op.getContext(), op.getMaskAttr())};
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
  SweepLayout sweep = SweepLayout::get(op.getChannels())
                          .with(SweepKind::Score, op.getScoreChannelsAttr());
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
  SweepLayout sweep = SweepLayout::get(op.getChannels())
                          .with(SweepKind::Score, op.getScoreChannelsAttr());
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
  bool startsProducts = llvm::any_of(
      op->getUsers(), [](Operation *user) { return isa<WeighGradOp>(user); });
  if (startsProducts)
    return multiplyStack(op);
  auto *weights = get<WeightBuffer>(op, op.getInputs()[0], "weights");
  auto *keys = get<RowBuffer>(op, op.getInputs()[1], "keys from rt.lookup");
  auto *sums = get<StateBuffer>(op, op.getOutputs()[0], "weighted sums");
  if (!weights || !keys || !sums)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  accumulateSums(k, layout.stackRows(weights->numWeighted), weights->data,
                 keys->packed, sums->view);
  alias(op->getResult(0), op.getOutputs()[0]);
  return success();
}

LogicalResult TaskLowering::lower(FinalizeOp op) {
  SweepLayout sweep = SweepLayout::get(op.getSweepChannels())
                          .with(SweepKind::Reduce, op.getReduceChannelsAttr());
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
  std::optional<ArgumentView> logSums;
  if (op.getLogSumsIn()) {
    auto *view = get<ArgumentView>(op, op.getLogSumsIn(), "a result slice");
    if (!view)
      return failure();
    logSums = *view;
  }
  auto rows = op.getNormIn().getDefiningOp<tensor::ExtractSliceOp>();
  if (failed(score) || failed(reduce) || !sums || !table || !ids || !signals ||
      !norm || !rows)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  Value length;
  if (op.getLengths()) {
    FailureOr<Value> own = getLength(op, op.getLengths(), Value());
    if (failed(own))
      return failure();
    length = *own;
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
                 indices,
                 logSums};
  finalizeRows(k, loop);
  return success();
}
