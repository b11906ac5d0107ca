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

/// Whether zeros, or a copy of them, become accumulators of pairs; else they
/// become sums of a product.
static bool accumulatesPairs(Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto copy = dyn_cast<memref::CopyOp>(user);
    if (copy && copy.getSource() == memref)
      return accumulatesPairs(copy.getTarget());
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
  } else {
    int64_t stackRows = layout.paddedRows(numWeighted * rows->bound);
    loop.rowStack = allocateInLoop(MemRefType::get(
        {layout.widthPanels(), stackRows, layout.panel}, layout.element));
  }
  TensorBuffer stack = LaneBuffer{{loop.laneStack, Value()}};
  if (!isQuery)
    stack =
        RowBuffer{{loop.rowStack, Value(), k.index(numWeighted * rows->bound)},
                  rows->bound};
  prepareRows(k, loop);
  if (failed(put(op, op.getStack(), stack)))
    return failure();
  return put(op, op.getRows(), StateBuffer{loop.fields, 1});
}

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
  FailureOr<WeightBuffer> form = multiply(op);
  if (succeeded(form))
    buffer(op.getOutputs()[0]) = *form;
  return form;
}

/// `G_ci . k_j`, into the lanes of the query side or the rows of the key side.
FailureOr<WeightBuffer> TaskLowering::multiply(linalg::ContractOp op) {
  bool isQuery = side == PairSide::Query;
  Value stack = op.getInputs()[0], keys = op.getInputs()[1];
  auto *lanes = getItems(op, isQuery ? stack : keys);
  auto *rows =
      getPassing(op, isQuery ? keys : stack, "a chunk of the other side");
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
  int64_t slots = isQuery ? panels * layout.panel / layout.itemLanes() : 1;
  return WeightBuffer{data, slots, std::nullopt, rows->slotRows};
}

LogicalResult TaskLowering::multiplyInto(linalg::ContractOp op) {
  Value out = op.getOutputs()[0];
  FailureOr<WeightBuffer> form = multiply(op);
  if (failed(form))
    return failure();
  auto *old = getWeights(op, out, "products");
  if (!old)
    return failure();
  if (old->slotRows != form->slotRows)
    return op.emitOpError()
           << "expected products of as many rows as the stack, "
           << form->slotRows << ", got " << old->slotRows;
  KernelBuilder k = kernel(op.getLoc());
  int64_t rows = cast<MemRefType>(old->data.getType()).getDimSize(0);
  addRows(k, rows, old->numWeighted, old->data, form->data);
  return put(op, out, *form);
}

/// Whether anything may read what an op writes there.
bool TaskLowering::isUsed(Value result) const {
  Value memref = getMemRef(result);
  return !memref.getDefiningOp<memref::AllocOp>() || !memref.hasOneUse();
}

LogicalResult TaskLowering::lower(WeighGradOp op) {
  GradientLayout gradientLayout = GradientLayout::get(op.getChannels());
  auto *scores = getScores(op, op.getDistances());
  auto *rows = getFields(op, op.getRows(), "rows from rt.grad_rows",
                         Padding::Zero, side == PairSide::Key);
  if (!scores || !rows)
    return failure();
  std::optional<PartView> sums;
  if (op.getFloatsIn()) {
    auto *state =
        getFields(op, op.getFloatsIn(), "accumulators", Padding::Zero);
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
  int64_t most = cast<MemRefType>(rows->view.data.getType()).getDimSize(2);
  Value products;
  WeightBuffer weights;
  if (gradientLayout.numWeighted > 0) {
    auto *buffer = getWeights(op, op.getProducts(), "products");
    if (!buffer)
      return failure();
    weights = *buffer;
    products = buffer->data;
    if (side == PairSide::Key && weights.slotRows != most)
      return op.emitOpError()
             << "expected products of at most " << most
             << " rows, as rt.grad_rows has, got " << weights.slotRows;
  }
  KernelBuilder k = kernel(op.getLoc());
  Value coefficients = allocateInLoop(
      MemRefType::get({scores->bound, layout.stackRows(1)}, layout.element));
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
  return putGradients(op, weights, {coefficients, 1, op.getMetric()});
}

LogicalResult TaskLowering::putGradients(WeighGradOp op,
                                         const WeightBuffer &weights,
                                         const WeightBuffer &coefficients) {
  // The weights have taken the place of imported products.
  changesPlain |= isPlain(op.getProducts());
  if (failed(put(op, op.getWeights(), weights)) ||
      failed(put(op, op.getCoefficients(), coefficients)))
    return failure();
  return op.getFloatsIn() ? putBack<StateBuffer>(op, op.getFloatsIn())
                          : success();
}

/// Whether the task of `op` holds one of these ops.
template <typename... Ops> static bool isInTaskOf(Operation *op) {
  auto task = op->getParentOfType<scf::ForallOp>();
  return task && task.walk([](Operation *other) {
                       return isa<Ops...>(other) ? WalkResult::interrupt()
                                                 : WalkResult::advance();
                     })
                     .wasInterrupted();
}

/// Whether the task of `op` has distances or products of its items.
static bool multipliesItems(Operation *op) {
  auto task = op->getParentOfType<scf::ForallOp>();
  return task
      .walk([](Operation *other) {
        auto product = dyn_cast<linalg::ContractOp>(other);
        auto compute = dyn_cast<tile::ComputeOp>(other);
        bool multiplies =
            (product && multipliesStack(product)) ||
            (compute && isa<DistanceOp, WeighGradOp>(compute.getOp()));
        return multiplies ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LaneBuffer TaskLowering::packItems(Operation *op, Value count,
                                   PackLanes packLanes, PackRows packRows) {
  LaneBuffer buffer;
  int64_t lanes = layout.itemLanes(), rows = layout.stackRows(1);
  // Where distances and products come from another loop, norms are enough.
  if (!isInTaskOf<SumDifferencesOp>(op) || multipliesItems(op))
    buffer.packed.data = allocate(MemRefType::get(
        {lanes / layout.panel, layout.paddedWidth(), layout.panel},
        layout.element));
  buffer.packed.norms = allocate(
      MemRefType::get({layout.normBlocks() + 1, lanes}, layout.element));
  packLanes(buffer.packed);
  if (!isInTaskOf<SumDifferencesOp>(op))
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
  auto *lanes = getItems(op, items);
  auto *rows = getPassing(op, passing, "a chunk of the other side");
  auto *coefficients = getWeights(op, op.getCoefficients(), "coefficients");
  auto *distances = getScores(op, op.getDistances());
  auto *sums = getSums(op, op.getSumsIn(), "sums");
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
  return putBack<StateBuffer>(op, op.getSumsIn());
}

LogicalResult TaskLowering::lower(CopyGradOp op) {
  auto *fields = getFields(op, op.getRows(), "rows from rt.grad_rows",
                           Padding::Zero, /*passes=*/true);
  auto *signals = get<ArgumentView>(op, op.getSignals(), "a slice of signals");
  auto *gradient = get<ArgumentView>(op, op.getGradient(), "a gradient");
  auto *indices = get<ArgumentView>(op, op.getIndices(), "a slice of indices");
  auto *sums = getSums(op, op.getSumsIn(), "sums");
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
  return putBack<StateBuffer>(op, op.getSumsIn());
}

std::optional<ItemTerms>
TaskLowering::getItemTerms(const StateBuffer &sums) const {
  if (!itemRows || !sums.itemFactors)
    return std::nullopt;
  return ItemTerms{*itemRows, sums.itemFactors};
}

LogicalResult TaskLowering::lower(QueryGradOp op) {
  auto *floats = getFields(op, op.getFloats(), "accumulators", Padding::Zero);
  auto *sums = getSums(op, op.getSums(), "sums");
  auto *fields =
      getFields(op, op.getRows(), "rows from rt.grad_rows", Padding::Zero);
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
  auto *sums = getSums(op, op.getSums(), "sums");
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
