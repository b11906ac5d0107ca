//===- PlainLowering.cpp - what a task does to plain memory -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/TaskLowering.h"
#include "dialect/RayTile/Bufferization.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// The memory of a form, null where it has none that is stored.
static Value getData(const TensorBuffer &form) {
  if (auto *scores = std::get_if<ScoreBuffer>(&form))
    return scores->view.data;
  if (auto *weights = std::get_if<WeightBuffer>(&form))
    return weights->data;
  if (auto *state = std::get_if<StateBuffer>(&form))
    return state->numParts == 1 ? state->view.data : Value();
  if (auto *lanes = std::get_if<LaneBuffer>(&form))
    return lanes->packed.norms ? Value() : lanes->packed.data;
  if (auto *rows = std::get_if<RowBuffer>(&form))
    return rows->slotRows ? rows->packed.data : Value();
  return {};
}

LogicalResult TaskLowering::store(Operation *op, Value memref,
                                  const TensorBuffer &form) {
  Value data = getData(form);
  auto type = cast<MemRefType>(memref.getType());
  if (!data || type.getRank() < 3 || type.getRank() > 4 ||
      cast<MemRefType>(data.getType()).getElementType() !=
          type.getElementType())
    return op->emitOpError()
           << "stores what the CPU lowering cannot to " << type
           << "; expected distances, weights, a state, sums or a stack";
  Location loc = op->getLoc();
  KernelBuilder k = kernel(loc);
  if (auto *scores = std::get_if<ScoreBuffer>(&form)) {
    auto place = [&](Value passing, Value lane) {
      return SmallVector<Value>{k.add(scores->view.begin, passing), lane};
    };
    auto write =
        side == PairSide::Query ? exportLanesToRows : exportLanesToColumns;
    write(k, data, place, getMatrix(loc, memref));
  } else if (auto *weights = std::get_if<WeightBuffer>(&form)) {
    exportWeights(loc, *weights, memref);
  } else if (auto *state = std::get_if<StateBuffer>(&form)) {
    if (cast<MemRefType>(data.getType()).getRank() == 3)
      exportState(k, state->view, getMatrix(loc, memref));
    else
      exportSums(loc, *state, memref);
  } else {
    exportStack(loc, form, memref);
  }
  changesPlain = true;
  return success();
}

LogicalResult TaskLowering::put(Operation *op, Value tensor,
                                TensorBuffer form) {
  if (!isPlain(tensor)) {
    buffer(tensor) = form;
    return success();
  }
  Value memref = getMemRef(tensor);
  bool isEmpty =
      llvm::is_contained(cast<MemRefType>(memref.getType()).getShape(), 0);
  if (!isEmpty && failed(store(op, memref, form)))
    return failure();
  stored.push_back({memref, form, /*isPinned=*/false});
  return success();
}

void TaskLowering::forgetImports() {
  llvm::erase_if(imports, [](const Import &own) { return !own.isPinned; });
}

void TaskLowering::settle() {
  if (changesPlain)
    forgetImports();
  imports.insert(imports.end(), stored.begin(), stored.end());
  stored.clear();
  changesPlain = false;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static Value getRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// The buffers that an op, not one inside of it, writes.
static SmallVector<Value> getWritten(Operation *op) {
  SmallVector<Value> written;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](tile::ComputeOp compute) {
        llvm::append_range(written, compute.getOutputs());
      })
      .Case([&](memref::CopyOp copy) { written.push_back(copy.getTarget()); })
      .Case([&](linalg::LinalgOp linalg) {
        llvm::append_range(written, linalg.getDpsInits());
      })
      .Case(
          [&](memref::StoreOp store) { written.push_back(store.getMemRef()); });
  return written;
}

bool TaskLowering::isWritten(Operation *op, Value memref) {
  if (!written) {
    written.emplace();
    scf::ForallOp whole;
    for (Operation *at = op; at; at = at->getParentOp())
      if (auto forall = dyn_cast<scf::ForallOp>(at))
        whole = forall;
    whole.walk([&](Operation *inner) {
      for (Value output : getWritten(inner))
        written->insert(getRoot(output));
    });
  }
  return written->contains(getRoot(memref));
}

/// Whether an op of a kind, or one of several, takes `memref` at a place.
template <typename Op>
static bool isUsedBy(Value memref, llvm::function_ref<Value(Op)> place) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto compute = dyn_cast<tile::ComputeOp>(user);
    auto op = compute ? dyn_cast<Op>(compute.getOp()) : Op();
    return op && compute.getBuffer(place(op)) == memref;
  });
}

static bool isInputOfProduct(Value memref, unsigned number) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto product = dyn_cast<linalg::ContractOp>(user);
    return product && product.getInputs()[number] == memref;
  });
}

static bool isQueryTile(Value memref) {
  return isUsedBy<DistanceOp>(memref,
                              [](DistanceOp op) { return op.getQueries(); }) ||
         isUsedBy<SumDifferencesOp>(
             memref, [](SumDifferencesOp op) { return op.getQueries(); });
}

static bool isKeyTile(Value memref) {
  return isUsedBy<DistanceOp>(memref,
                              [](DistanceOp op) { return op.getKeys(); }) ||
         isUsedBy<SumDifferencesOp>(
             memref, [](SumDifferencesOp op) { return op.getKeys(); }) ||
         isInputOfProduct(memref, 1);
}

/// Whether a product reads rows of channels [1, C, rows, D].
static bool isStackTile(Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    auto product = dyn_cast<linalg::ContractOp>(user);
    return product &&
           (product.getInputs()[1] == memref ||
            (product.getInputs()[0] == memref && multipliesStack(product)));
  });
}

/// Rows are packed where a view of them is made, once: it may be read in a
/// loop.
LogicalResult TaskLowering::packView(memref::SubViewOp op,
                                     const ArgumentView &view) {
  Value memref = op.getResult();
  buffers[memref] = view;
  int64_t rank = op.getType().getRank();
  if (rank < 3 || isWritten(op, memref))
    return success();
  auto pin = [&](FailureOr<TensorBuffer> form) -> LogicalResult {
    if (succeeded(form))
      imports.push_back({memref, *form, /*isPinned=*/true});
    return form;
  };
  bool isQuery = side == PairSide::Query;
  if (rank == 3 && isQueryTile(memref) &&
      failed(pin(packTile(op, memref, view, /*isItems=*/isQuery))))
    return failure();
  if (rank == 3 && isKeyTile(memref) &&
      failed(pin(packTile(op, memref, view, /*isItems=*/!isQuery))))
    return failure();
  bool isStack = rank == 4 && isStackTile(memref);
  return isStack ? pin(importStack(op, memref)) : success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What an op adds to, sums or a state.
static SmallVector<Value> getAccumulators(Operation *op) {
  SmallVector<Value> found;
  if (auto product = dyn_cast<linalg::ContractOp>(op))
    found.push_back(stripCasts(product.getOutputs()[0]));
  auto compute = dyn_cast<tile::ComputeOp>(op);
  if (compute && isa<ScoreSweepOp, ReduceSweepOp, WeighGradOp, SumDifferencesOp,
                     CopyGradOp>(compute.getOp()))
    for (auto [number, output] : llvm::enumerate(compute.getOutputs()))
      if (tile::getInit(compute.getOp(), number))
        found.push_back(stripCasts(output));
  return found;
}

/// Whether all that a loop does to a buffer is to add to `memref`, and to read
/// it as a state.
static bool isAloneIn(scf::ForOp loop, Value memref) {
  Value root = getRoot(memref);
  WalkResult walked = loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      if (!isa<MemRefType>(operand.getType()) || getRoot(operand) != root)
        continue;
      auto compute = dyn_cast<tile::ComputeOp>(op);
      bool isState = compute && isa<WeighOp>(compute.getOp());
      bool isKnown = isa<memref::CastOp>(op) || isState ||
                     llvm::is_contained(getAccumulators(op), memref);
      if (!isKnown || stripCasts(operand) != memref)
        return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return !walked.wasInterrupted();
}

FailureOr<TaskLowering::Residents>
TaskLowering::importResidents(scf::ForOp loop) {
  llvm::MapVector<Value, Operation *> found;
  loop.walk([&](Operation *op) {
    auto product = dyn_cast<linalg::ContractOp>(op);
    if (product && multipliesStack(product))
      return;
    for (Value memref : getAccumulators(op))
      if (isPlain(memref) && isAloneIn(loop, memref) &&
          !llvm::is_contained(cast<MemRefType>(memref.getType()).getShape(), 0))
        found.try_emplace(memref, op);
  });
  Residents residents;
  for (auto [memref, op] : found) {
    auto compute = dyn_cast<tile::ComputeOp>(op);
    bool isState = compute && isa<ScoreSweepOp, ReduceSweepOp, WeighGradOp>(
                                  compute.getOp());
    Padding padding = compute && isa<WeighGradOp>(compute.getOp())
                          ? Padding::Zero
                          : Padding::Repeat;
    const StateBuffer *form = isState
                                  ? getFields(op, memref, "a state", padding)
                                  : getSums(op, memref, "sums");
    if (!form)
      return failure();
    residents.push_back({memref, *find<ArgumentView>(memref)});
    buffers[memref] = *form;
  }
  return residents;
}

LogicalResult TaskLowering::exportResidents(scf::ForOp loop,
                                            const Residents &residents) {
  for (const Resident &resident : residents) {
    TensorBuffer form = buffers[resident.memref];
    buffers[resident.memref] = resident.view;
    if (failed(put(loop, resident.memref, form)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Fills and copies
//===----------------------------------------------------------------------===//

void TaskLowering::fillBuffer(linalg::FillOp op) {
  KernelBuilder k = kernel(op.getLoc());
  Value memref = getMemRef(op.getOutputs()[0]);
  fillPlain(k, scalar(op.getInputs()[0]), *find<ArgumentView>(memref),
            getSizes(op.getLoc(), memref));
  changesPlain = true;
}

LogicalResult TaskLowering::copyBuffer(memref::CopyOp op) {
  Value from = getMemRef(op.getSource()), to = getMemRef(op.getTarget());
  auto type = cast<MemRefType>(from.getType());
  if (!isPlain(from))
    return store(op, to, buffers[from]);
  KernelBuilder k = kernel(op.getLoc());
  SmallVector<Value> sizes = getSizes(op.getLoc(), from);
  if (!isPlain(to)) {
    auto alloc = to.getDefiningOp<memref::AllocOp>();
    if (!alloc || buffers.contains(to) || alloc->getBlock() != op->getBlock())
      return op.emitOpError()
             << "copies to a buffer of the task that is written elsewhere too, "
                "which the CPU lowering does not; expected a new one";
    SmallVector<int64_t> bounds;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      FailureOr<Extent> extent = getExtent(op, to, axis);
      if (failed(extent))
        return failure();
      bounds.push_back(extent->bound);
    }
    Value data = allocate(MemRefType::get(bounds, type.getElementType()));
    buffers[to] =
        ArgumentView{data, SmallVector<Value>(bounds.size(), k.index(0))};
  }
  copyPlain(k, *find<ArgumentView>(from), *find<ArgumentView>(to), sizes);
  changesPlain = true;
  return success();
}
