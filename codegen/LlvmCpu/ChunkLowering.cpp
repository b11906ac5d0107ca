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
static bool needsNorms(Value keys, Operation *lookup) {
  return !llvm::all_of(keys.getUsers(), [&](Operation *user) {
    return user == lookup || isa<linalg::ContractOp>(user);
  });
}

LogicalResult TaskLowering::lower(LookupOp op) {
  auto *table = get<ArgumentView>(op, op.getTable(), "a table argument");
  auto *ids = get<ArgumentView>(op, op.getIndices(), "a slice of the ids");
  FailureOr<Extent> chunk = getExtent(op, op.getIndices(), 1);
  if (!table || !ids || failed(chunk))
    return failure();
  if (cast<MemRefType>(table->memref.getType()).getRank() != 2)
    return op.emitOpError()
           << "expected a table [V, D], got " << op.getTable().getType();
  KernelBuilder k = kernel(op.getLoc());
  KeySource source{*table, *ids};
  if (isPlain(op.getRows())) {
    copyKeys(k, source, getMatrix(op.getLoc(), getMemRef(op.getRows())));
    changesPlain = true;
    return success();
  }
  if (side == PairSide::Key) {
    if (chunk->bound > layout.items)
      return op.emitOpError()
             << "expected at most " << layout.items
             << " keys, the step of the loop, got " << chunk->bound;
    buffer(op.getRows()) = packItems(
        op, chunk->count,
        [&](const PackedLanes &keys) {
          gatherKeyLanes(k, source, chunk->count, keys);
        },
        [&](const PackedRows &keys) { gatherKeyRows(k, source, keys); });
    return success();
  }
  int64_t rows = layout.paddedRows(chunk->bound);
  PackedRows keys;
  keys.data = allocateInLoop(MemRefType::get(
      {layout.widthPanels(), rows, layout.panel}, layout.element));
  if (needsNorms(getMemRef(op.getRows()), op->getParentOp()))
    keys.norms = allocateInLoop(
        MemRefType::get({layout.normBlocks() + 1, rows}, layout.element));
  keys.count = chunk->count;
  gatherKeyRows(k, source, keys);
  buffer(op.getRows()) = RowBuffer{keys};
  return success();
}

LogicalResult TaskLowering::lower(DistanceOp op) {
  bool isQuery = side == PairSide::Query;
  Value items = isQuery ? op.getQueries() : op.getKeys();
  Value passing = isQuery ? op.getKeys() : op.getQueries();
  auto *lanes = getItems(op, items);
  auto *rows = getPassing(op, passing, "a chunk of the other side");
  if (!lanes || !rows)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  int64_t bound = cast<MemRefType>(rows->packed.norms.getType()).getDimSize(1);
  auto *kept = isPlain(op.getDistances())
                   ? nullptr
                   : find<ScoreBuffer>(op.getDistances());
  // Register tiles write past the last row, so over what stands behind it.
  bool isDirect = kept && kept->inOrder;
  ScoreView view =
      isDirect ? kept->view
               : ScoreView{allocateInLoop(MemRefType::get(
                               {bound, layout.itemLanes()}, layout.element)),
                           k.index(0)};
  std::optional<ScoreView> part;
  if (layout.sumsInParts())
    part = {allocateInLoop(
                MemRefType::get({bound, layout.itemLanes()}, layout.element)),
            k.index(0)};
  computeDistances(k, lanes->packed, rows->packed, op.getMetric(),
                   op.getPrecision(), view, part);
  ScoreBuffer scores{view, rows->packed.count, bound};
  if (kept && !isDirect)
    copyScores(op.getLoc(), scores, kept->view);
  return put(op, op.getDistances(), scores);
}

template <typename Op>
FailureOr<PairLoop> TaskLowering::getPairs(Op op, const SweepLayout &sweep) {
  auto *scores = getScores(op, op.getDistances());
  if (!scores)
    return failure();
  if (op.getLengths())
    return op.emitOpError() << "expected keys restricted to the visible range "
                               "instead of lengths (--rt-tile-tasks)";
  if (!scores->count)
    return op.emitOpError() << "expected a chunk's distances, from rt.distance "
                               "or a slice of kept ones";
  std::optional<KeyListView> list;
  if (Value positions = op.getKeyPositions()) {
    auto *view = get<ArgumentView>(op, positions, "a slice of positions");
    if (!view)
      return failure();
    list = KeyListView{*view, {}};
  }
  if (Value masses = op.getKeyMasses()) {
    auto *view = get<ArgumentView>(op, masses, "a slice of masses");
    if (!view)
      return failure();
    list->masses = *view;
  }
  return PairLoop{sweep,
                  getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                  scores->view,
                  scalar(op.getRow()),
                  scalar(op.getKey()),
                  scores->count,
                  getMaskOrCausal(op.getContext(), op.getMaskAttr()),
                  list};
}

LogicalResult TaskLowering::lower(ScoreSweepOp op) {
  SweepLayout sweep = SweepLayout::get(op.getChannels());
  auto state = getState(op, op.getFloatsIn(), op.getPositionsIn());
  auto pairs = getPairs(op, sweep);
  if (failed(state) || failed(pairs))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  scoreSweep(k, *pairs, *state);
  return success(succeeded(putBack<StateBuffer>(op, op.getFloatsIn())) &&
                 succeeded(putBack<StateBuffer>(op, op.getPositionsIn())));
}

LogicalResult TaskLowering::lower(ReduceSweepOp op) {
  if (op.getKeys())
    return op.emitOpError() << "expected weighted sums as a product of their "
                               "own (--rt-fuse-channels)";
  SweepLayout sweep = SweepLayout::get(op.getChannels())
                          .with(SweepKind::Score, op.getScoreChannelsAttr());
  auto state = getState(op, op.getFloatsIn(), op.getPositionsIn());
  auto *score =
      getFields(op, op.getScoreState(), "a score state", Padding::Repeat);
  auto pairs = getPairs(op, sweep);
  if (failed(state) || !score || failed(pairs))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  reduceSweep(k, *pairs, score->view, *state);
  return success(succeeded(putBack<StateBuffer>(op, op.getFloatsIn())) &&
                 succeeded(putBack<StateBuffer>(op, op.getPositionsIn())));
}

LogicalResult TaskLowering::lower(WeighOp op) {
  SweepLayout sweep = SweepLayout::get(op.getChannels())
                          .with(SweepKind::Score, op.getScoreChannelsAttr());
  auto *score =
      getFields(op, op.getScoreState(), "a score state", Padding::Repeat);
  auto pairs = getPairs(op, sweep);
  FailureOr<Extent> chunk = getExtent(op, op.getDistances(), 2);
  if (!score || failed(pairs) || failed(chunk))
    return failure();
  Value data = allocateInLoop(MemRefType::get(
      {chunk->bound, layout.stackRows(sweep.numWeighted)}, layout.element));
  KernelBuilder k = kernel(op.getLoc());
  weigh(k, *pairs, score->view, data);
  return put(op, op.getWeights(), WeightBuffer{data, sweep.numWeighted});
}

/// Whether the loops of a product are those of `operands`, a letter each.
static bool hasLoops(linalg::ContractOp op, ArrayRef<StringRef> operands) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  llvm::SmallDenseMap<unsigned, char> letters;
  for (auto [map, letter] : llvm::zip(maps, operands)) {
    if (map.getNumResults() != letter.size() || !map.isProjectedPermutation())
      return false;
    for (auto [axis, name] : llvm::enumerate(letter))
      if (letters.try_emplace(map.getDimPosition(axis), name).first->second !=
          name)
        return false;
  }
  return true;
}

bool raytention::multipliesStack(linalg::ContractOp op) {
  return hasLoops(op, {"bcid", "bjd", "bcij"});
}

bool raytention::sumsWeighted(linalg::ContractOp op, PairSide side) {
  return side == PairSide::Key ? hasLoops(op, {"bcij", "bcid", "bjd"})
                               : hasLoops(op, {"bcij", "bjd", "bcid"});
}

/// Whether rt.weigh_grad reads the result of a product.
static bool startsProducts(linalg::ContractOp op) {
  Value products = op.getOutputs()[0];
  return llvm::any_of(products.getUsers(), [&](Operation *user) {
    auto compute = dyn_cast<tile::ComputeOp>(user);
    return compute && isa<WeighGradOp>(compute.getOp());
  });
}

LogicalResult TaskLowering::lower(linalg::ContractOp op) {
  if (isPlain(op.getOutputs()[0]) && multipliesStack(op))
    return multiplyInto(op);
  if (startsProducts(op)) {
    if (!multipliesStack(op))
      return op.emitOpError() << "expected products of the rows' gradients and "
                                 "keys, sum_d G[b, c, i, d] k[b, j, d]";
    return multiplyStack(op);
  }
  bool isKeys = side == PairSide::Key;
  if (!sumsWeighted(op, side))
    return op.emitOpError() << "expected weighted sums, "
                            << (isKeys ? "sum_ci w[b, c, i, j] G[b, c, i, d]"
                                       : "sum_j w[b, c, i, j] k[b, j, d]");
  auto *weights = getWeights(op, op.getInputs()[0], "weights");
  auto *keys = getPassing(op, op.getInputs()[1], "keys from rt.lookup");
  auto *sums = getSums(op, op.getOutputs()[0], "weighted sums");
  if (!weights || !keys || !sums)
    return failure();
  if (weights->slotRows != keys->slotRows)
    return op.emitOpError() << "expected weights of as many rows as the stack, "
                            << keys->slotRows << ", got " << weights->slotRows;
  KernelBuilder k = kernel(op.getLoc());
  accumulateSums(k, layout.stackRows(weights->numWeighted), weights->data,
                 keys->packed, sums->view);
  return putBack<StateBuffer>(op, op.getOutputs()[0]);
}

LogicalResult TaskLowering::lower(FinalizeOp op) {
  SweepLayout sweep = SweepLayout::get(op.getSweepChannels())
                          .with(SweepKind::Reduce, op.getReduceChannelsAttr());
  auto score = getState(op, op.getScoreFloats(), op.getScorePositions());
  auto reduce = getState(op, op.getReduceFloats(), op.getReducePositions());
  auto *sums = getSums(op, op.getSums(), "weighted sums");
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
  FailureOr<Extent> rows = getExtent(op, op.getNormIn(), 1);
  if (failed(score) || failed(reduce) || !sums || !table || !ids || !signals ||
      !norm || failed(rows))
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
                 *table,
                 *ids,
                 scalar(op.getRow()),
                 rows->count,
                 length,
                 *signals,
                 *norm,
                 indices,
                 logSums};
  finalizeRows(k, loop);
  return success();
}
