//===- GradientLowering.cpp - a gradient's ops on buffers ----------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/GradientKernels.h"
#include "codegen/LlvmCpu/TaskLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace raytention;

FailureOr<Value> TaskLowering::getLength(Operation *op, Value lengths,
                                         Value keys) {
  if (!lengths)
    return scalar(keys);
  auto *view = get<ArgumentView>(op, lengths, "lengths");
  if (!view)
    return failure();
  KernelBuilder k = kernel(op->getLoc());
  Value length = k.toIndex(k.load(view->memref, view->offsets));
  return keys ? k.min(length, scalar(keys)) : length;
}

/// Whether zeros become accumulators of pairs; else they become sums of a
/// product.
static bool accumulatesPairs(Value memref) {
  return llvm::any_of(memref.getUsers(), [](Operation *user) {
    auto compute = dyn_cast<tile::ComputeOp>(user);
    return compute && isa<WeighGradOp>(compute.getOp());
  });
}

StateBuffer TaskLowering::makeAccumulators(linalg::FillOp op) {
  KernelBuilder k = kernel(op.getLoc());
  auto makeState = [&](int64_t fields) {
    Value data = allocate(
        MemRefType::get({1, fields, layout.itemLanes()}, layout.element));
    initState(k, SmallVector<double>(fields, 0), data, k.index(1));
    return data;
  };
  Value memref = op.getOutputs()[0];
  if (accumulatesPairs(memref)) {
    auto type = cast<MemRefType>(memref.getType());
    return {{makeState(type.getDimSize(2)), k.index(0)}, 1};
  }
  Value data = allocate(MemRefType::get(
      {1, layout.widthPanels(), layout.stackRows(1), layout.panel},
      layout.element));
  zeroSums(k, data);
  return {{data, k.index(0)}, 1, makeState(1)};
}

LogicalResult TaskLowering::lower(GradRowsOp op) {
  auto *signals = get<ArgumentView>(op, op.getSignals(), "a slice of signals");
  auto *norm = get<ArgumentView>(op, op.getNorm(), "a slice of norms");
  auto *logSums = get<ArgumentView>(op, op.getLogSums(), "saved log-sums");
  auto *gradient = get<ArgumentView>(op, op.getGradient(), "a gradient");
  FailureOr<Extent> rows = getExtent(op, op.getSignals(), 1);
  FailureOr<Value> length = getLength(op, op.getLengths(), op.getKeys());
  if (!signals || !norm || !logSums || !gradient || failed(rows) ||
      failed(length))
    return failure();
  GradientLayout gradientLayout = GradientLayout::get(op.getChannels());
  KernelBuilder k = kernel(op.getLoc());
  int64_t numWeighted = gradientLayout.numWeighted;
  bool isQuery = side == PairSide::Query;
  int64_t lanes = isQuery ? layout.itemLanes() : rows->bound;
  Value fields = allocateInLoop(
      MemRefType::get({1, gradientLayout.numFields, lanes}, layout.element));
  GradRowsLoop loop{gradientLayout,
                    getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                    op.getDecayOrigin(),
                    *signals,
                    *norm,
                    *logSums,
                    *gradient,
                    scalar(op.getRow()),
                    rows->count,
                    *length,
                    lanes,
                    {fields, k.index(0)},
                    Value(),
                    Value()};
  if (isQuery) {
    loop.laneStack = allocateInLoop(
        MemRefType::get({numWeighted * layout.itemLanes() / layout.panel,
                         layout.paddedWidth(), layout.panel},
                        layout.element));
    buffer(op.getStack()) = LaneBuffer{{loop.laneStack, Value()}};
  } else {
    int64_t stackRows = layout.paddedRows(numWeighted * rows->bound);
    loop.rowStack = allocateInLoop(MemRefType::get(
        {layout.widthPanels(), stackRows, layout.panel}, layout.element));
    buffer(op.getStack()) =
        RowBuffer{{loop.rowStack, Value(), k.index(numWeighted * rows->bound)}};
  }
  buffer(op.getRows()) = StateBuffer{loop.fields, 1};
  prepareRows(k, loop);
  return success();
}

/// `G_ci . k_j`, into the lanes of the query side or the rows of the key side.
LogicalResult TaskLowering::multiplyStack(linalg::ContractOp op) {
  Value products = getMemRef(op.getOutputs()[0]);
  auto start =
      llvm::find_if(products.getUsers(), llvm::IsaPred<linalg::FillOp>);
  bool isOne = llvm::count_if(products.getUsers(), [](Operation *user) {
                 return isa<linalg::ContractOp, linalg::FillOp>(user);
               }) == 2;
  if (!isOne || start == products.getUsers().end() ||
      (*start)->getBlock() != op->getBlock())
    return op.emitOpError() << "expected the one product that starts from its "
                               "zeros";
  bool isQuery = side == PairSide::Query;
  Value stack = op.getInputs()[0], keys = op.getInputs()[1];
  auto *lanes =
      get<LaneBuffer>(op, isQuery ? stack : keys, "the items of the task");
  auto *rows =
      get<RowBuffer>(op, isQuery ? keys : stack, "a chunk of the other side");
  if (!lanes || !rows)
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  int64_t bound = cast<MemRefType>(rows->packed.data.getType()).getDimSize(1);
  int64_t panels = cast<MemRefType>(lanes->packed.data.getType()).getDimSize(0);
  // On the key side the weights take the place of the products.
  int64_t columns = std::max(panels * layout.panel, layout.stackRows(1));
  Value data =
      allocateInLoop(MemRefType::get({bound, columns}, layout.element));
  computeProducts(k, lanes->packed, rows->packed, {data, k.index(0)});
  buffer(op.getOutputs()[0]) = WeightBuffer{data, 1};
  return success();
}

/// Whether anything else takes the buffer of a result.
bool TaskLowering::isUsed(Value result) const {
  Value memref = getMemRef(result);
  return !memref.hasOneUse();
}

LogicalResult TaskLowering::lower(WeighGradOp op) {
  GradientLayout gradientLayout = GradientLayout::get(op.getChannels());
  auto *scores = get<ScoreBuffer>(op, op.getDistances(), "distances");
  auto *rows = get<StateBuffer>(op, op.getRows(), "rows from rt.grad_rows");
  if (!scores || !rows)
    return failure();
  std::optional<PartView> sums;
  if (op.getFloatsIn()) {
    auto *state = get<StateBuffer>(op, op.getFloatsIn(), "accumulators");
    if (!state)
      return failure();
    sums = state->view;
  }
  if (op.getLengths())
    return op.emitOpError() << "expected rows and keys restricted to the "
                               "sequence instead of lengths (--rt-tile-tasks)";
  if (!scores->bound || (sums && side == PairSide::Key))
    return op.emitOpError() << "expected the distances of a chunk, and "
                               "accumulators where the task's items are rows";
  Value products;
  if (gradientLayout.numWeighted > 0) {
    auto *buffer = get<WeightBuffer>(op, op.getProducts(), "products");
    if (!buffer)
      return failure();
    products = buffer->data;
  }
  KernelBuilder k = kernel(op.getLoc());
  Value coefficients = allocateInLoop(
      MemRefType::get({scores->bound, layout.stackRows(1)}, layout.element));
  int64_t most = cast<MemRefType>(rows->view.data.getType()).getDimSize(2);
  GradientPairs pairs{gradientLayout,
                      getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                      side,
                      op.getMetric(),
                      getMaskOrCausal(op.getContext(), op.getMaskAttr()),
                      scores->view,
                      scalar(op.getRow()),
                      scalar(op.getKey()),
                      scores->count,
                      most,
                      rows->view,
                      products,
                      isUsed(op.getWeights()),
                      coefficients,
                      sums};
  weighGradients(k, pairs);
  buffer(op.getWeights()) = WeightBuffer{products, 1};
  buffer(op.getCoefficients()) = WeightBuffer{coefficients, 1, op.getMetric()};
  return success();
}

/// Whether the task of `op` takes differences from its items.
static bool takesDifferences(Operation *op) {
  auto task = op->getParentOfType<scf::ForallOp>();
  return task &&
         task.walk([](SumDifferencesOp) { return WalkResult::interrupt(); })
             .wasInterrupted();
}

LaneBuffer TaskLowering::packItems(Operation *op, Value count,
                                   PackLanes packLanes, PackRows packRows) {
  LaneBuffer buffer;
  int64_t lanes = layout.itemLanes(), rows = layout.stackRows(1);
  buffer.packed.data = allocate(MemRefType::get(
      {lanes / layout.panel, layout.paddedWidth(), layout.panel},
      layout.element));
  buffer.packed.norms = allocate(
      MemRefType::get({layout.normBlocks() + 1, lanes}, layout.element));
  packLanes(buffer.packed);
  if (!takesDifferences(op))
    return buffer;
  // Register tiles read whole tiles of rows.
  Value data = allocate(MemRefType::get(
      {layout.widthPanels(), rows, layout.panel}, layout.element));
  buffer.rows = PackedRows{data, Value(), count};
  packRows(*buffer.rows);
  return buffer;
}

LogicalResult TaskLowering::lower(SumDifferencesOp op) {
  bool isQuery = side == PairSide::Query;
  Value items = isQuery ? op.getQueries() : op.getKeys();
  Value passing = isQuery ? op.getKeys() : op.getQueries();
  auto *lanes = get<LaneBuffer>(op, items, "the items of the task");
  auto *rows = get<RowBuffer>(op, passing, "a chunk of the other side");
  auto *coefficients =
      get<WeightBuffer>(op, op.getCoefficients(), "coefficients");
  auto *distances = get<ScoreBuffer>(op, op.getDistances(), "distances");
  auto *sums = get<StateBuffer>(op, op.getSumsIn(), "sums");
  if (!lanes || !rows || !coefficients || !distances || !sums)
    return failure();
  if (op.getSide() != side || !lanes->rows || !sums->itemFactors)
    return op.emitOpError() << "expected differences from the task's items, "
                               "added to sums that start as zeros of a loop";
  if (itemRows && itemRows->data != lanes->rows->data)
    return op.emitOpError() << "expected one set of items per task";
  if (coefficients->metric && *coefficients->metric != op.getMetric())
    return op.emitOpError() << "expected the metric of its coefficients, "
                            << stringifyMetric(*coefficients->metric)
                            << ", got " << stringifyMetric(op.getMetric());
  itemRows = lanes->rows;
  DifferenceLoop loop;
  loop.metric = op.getMetric();
  loop.coefficients = coefficients->data;
  loop.passing = rows->packed;
  loop.distances = distances->view;
  loop.sums = sums->view;
  KernelBuilder k = kernel(op.getLoc());
  if (op.getPrecision() == Precision::Fast) {
    loop.itemNorms = lanes->packed.norms;
    loop.negatedTotals =
        allocateInLoop(MemRefType::get({layout.itemLanes()}, layout.element));
    loop.itemFactors = sums->itemFactors;
  }
  loop.items = *itemRows;
  sumDifferences(k, loop);
  return success();
}

LogicalResult TaskLowering::lower(CopyGradOp op) {
  auto *fields = get<StateBuffer>(op, op.getRows(), "rows from rt.grad_rows");
  auto *signals = get<ArgumentView>(op, op.getSignals(), "a slice of signals");
  auto *gradient = get<ArgumentView>(op, op.getGradient(), "a gradient");
  auto *indices = get<ArgumentView>(op, op.getIndices(), "a slice of indices");
  auto *sums = get<StateBuffer>(op, op.getSumsIn(), "sums");
  FailureOr<Extent> rows = getExtent(op, op.getSignals(), 1);
  if (!fields || !signals || !gradient || !indices || !sums || failed(rows))
    return failure();
  GradientLayout gradientLayout = GradientLayout::get(op.getChannels());
  KernelBuilder k = kernel(op.getLoc());
  // Indices past the last key present do not occur: sums have a row for each.
  CopyGradLoop loop{gradientLayout,
                    fields->view,
                    *signals,
                    *gradient,
                    *indices,
                    rows->count,
                    scalar(op.getKey()),
                    k.index(layout.items),
                    sums->view};
  addCopies(k, loop);
  return success();
}

std::optional<ItemTerms>
TaskLowering::getItemTerms(const StateBuffer &sums) const {
  if (!itemRows || !sums.itemFactors)
    return std::nullopt;
  return ItemTerms{*itemRows, sums.itemFactors};
}

LogicalResult TaskLowering::lower(QueryGradOp op) {
  auto *floats = get<StateBuffer>(op, op.getFloats(), "accumulators");
  auto *sums = get<StateBuffer>(op, op.getSums(), "sums");
  auto *fields = get<StateBuffer>(op, op.getRows(), "rows from rt.grad_rows");
  auto *gradients =
      get<ArgumentView>(op, op.getQueriesGradIn(), "a result slice");
  auto *parts = get<ArgumentView>(op, op.getParametersIn(), "a result slice");
  FailureOr<Extent> rows = getExtent(op, op.getQueriesGradIn(), 1);
  FailureOr<Value> length = getLength(op, op.getLengths(), op.getKeys());
  if (!floats || !sums || !fields || !gradients || !parts || failed(rows) ||
      failed(length))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  GradientLayout gradientLayout = GradientLayout::get(op.getChannels());
  QueryGradLoop loop{gradientLayout,
                     getParameters(op.getTau(), op.getGammas(), op.getLoc()),
                     op.getDecayOrigin(),
                     floats->view,
                     sums->view,
                     getItemTerms(*sums),
                     fields->view,
                     *gradients,
                     *parts,
                     scalar(op.getRow()),
                     rows->count,
                     *length};
  finishQueries(k, loop);
  return success();
}

LogicalResult TaskLowering::lower(KeyGradOp op) {
  auto *sums = get<StateBuffer>(op, op.getSums(), "sums");
  auto *gradients = get<ArgumentView>(op, op.getKeysGradIn(), "a result slice");
  FailureOr<Extent> count = getExtent(op, op.getKeysGradIn(), 1);
  FailureOr<Value> length = getLength(op, op.getLengths(), op.getNumKeys());
  if (!sums || !gradients || failed(count) || failed(length))
    return failure();
  KernelBuilder k = kernel(op.getLoc());
  GradientLayout gradientLayout = GradientLayout::get(op.getChannels());
  KeyGradLoop loop{
      gradientLayout, getParameters(op.getTau(), op.getGammas(), op.getLoc()),
      sums->view,     getItemTerms(*sums),
      *gradients,     scalar(op.getKey()),
      count->count,   *length};
  finishKeys(k, loop);
  return success();
}
