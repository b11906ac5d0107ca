//===- VerifyUpdates.cpp - whether updates can be made in place -----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/VerifyUpdates.h"
#include "dialect/RayTention/RayTention.h"
#include "passes/Tile/ProducerFuser.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

/// What `result` is an update of; null where it is new.
static OpOperand *getUpdated(OpResult result) {
  Operation *op = result.getOwner();
  auto operand = [](OpOperand &use) { return &use; };
  return llvm::TypeSwitch<Operation *, OpOperand *>(op)
      .Case([](linalg::FillOp) { return nullptr; })
      .Case(
          [&](tensor::CastOp cast) { return operand(cast.getSourceMutable()); })
      .Case([&](tensor::InsertSliceOp insert) {
        return operand(insert.getDestMutable());
      })
      .Case(
          [&](SumDifferencesOp sum) { return operand(sum.getSumsInMutable()); })
      .Case([&](CopyGradOp copy) { return operand(copy.getSumsInMutable()); })
      .Case([&](WeighGradOp weigh) -> OpOperand * {
        if (result == weigh.getWeights())
          return operand(weigh.getProductsMutable());
        return result == weigh.getFloats()
                   ? operand(weigh.getFloatsInMutable()[0])
                   : nullptr;
      })
      .Case([&](scf::ForOp loop) { return loop.getTiedLoopInit(result); })
      .Case([&](scf::ForallOp loop) { return loop.getTiedOpOperand(result); })
      .Case([&](DestinationStyleOpInterface update) {
        return update.getTiedOpOperand(result);
      })
      .Default([](Operation *) { return nullptr; });
}

/// Zeros of three dimensions are made anew by each loop that starts from them.
static bool isNewForEach(OpOperand &use) {
  auto type = cast<RankedTensorType>(use.get().getType());
  return isa<scf::ForOp>(use.getOwner()) && type.getRank() == 3 &&
         use.get().getDefiningOp<linalg::FillOp>();
}

static bool isView(Operation *op) {
  return isa_and_nonnull<tensor::ExtractSliceOp, tensor::CastOp>(op);
}

/// Calls `body` for the ops that read `value` or a part of it.
static void forEachReader(Value value,
                          llvm::function_ref<void(Operation *)> body) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user);
    bool isWritten = insert && &use == &insert.getDestMutable();
    if (isView(user))
      forEachReader(user->getResult(0), body);
    else if (!isWritten && !isa<tensor::DimOp>(user))
      body(user);
  }
}

/// An update is the last to read its value, each time that value is made.
static LogicalResult verifyLast(OpOperand &updated) {
  Operation *op = updated.getOwner();
  Value whole = updated.get();
  while (isView(whole.getDefiningOp()))
    whole = whole.getDefiningOp()->getOperand(0);
  if (whole.getParentBlock() != op->getBlock())
    return op->emitOpError()
           << "on the CPU expected to update in place a value of its own loop, "
              "got one from outside as operand #"
           << updated.getOperandNumber();
  Operation *later = nullptr;
  forEachReader(whole, [&](Operation *reader) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*reader);
    if (here && here != op && op->isBeforeInBlock(here))
      later = reader;
  });
  if (!later)
    return success();
  return op->emitOpError() << "on the CPU expected to update operand #"
                           << updated.getOperandNumber()
                           << " in place, got one that is read afterwards, by "
                           << later->getName();
}

/// Goes back from an updated value to what it was at first.
static Value getOrigin(Value value, llvm::function_ref<bool(Value)> isOrigin) {
  while (!isOrigin(value)) {
    auto result = dyn_cast<OpResult>(value);
    OpOperand *updated = result ? getUpdated(result) : nullptr;
    if (!updated)
      return {};
    value = updated->get();
  }
  return value;
}

static LogicalResult verifyLoop(scf::ForOp loop) {
  for (auto [number, yielded] : llvm::enumerate(loop.getYieldedValues())) {
    Value argument = loop.getRegionIterArg(number);
    if (!isa<TensorType>(argument.getType()) ||
        hasNoElements(argument.getType()) ||
        getOrigin(yielded, [&](Value value) { return value == argument; }))
      continue;
    return loop.emitOpError()
           << "on the CPU expected to yield its iteration argument #" << number
           << " updated in place, got " << yielded;
  }
  return success();
}

static bool isSameSlice(tensor::ExtractSliceOp from,
                        tensor::ParallelInsertSliceOp to) {
  return from && from.getSource() == to.getDest() &&
         isEqualConstantIntOrValueArray(from.getMixedOffsets(),
                                        to.getMixedOffsets()) &&
         isEqualConstantIntOrValueArray(from.getMixedSizes(),
                                        to.getMixedSizes()) &&
         isEqualConstantIntOrValueArray(from.getMixedStrides(),
                                        to.getMixedStrides());
}

/// A tile is written where it was taken from.
static LogicalResult verifyInsertion(tensor::ParallelInsertSliceOp op) {
  Value origin = getOrigin(op.getSource(), [&](Value value) {
    return isSameSlice(value.getDefiningOp<tensor::ExtractSliceOp>(), op);
  });
  bool isUpdated = origin && origin != op.getSource();
  if (isUpdated || hasNoElements(op.getDestType()))
    return success();
  return op.emitOpError()
         << "on the CPU expected to insert an updated tile where it was "
            "sliced from the same output, got "
         << op.getSource();
}

static LogicalResult verifyOp(Operation *op) {
  for (OpResult result : op->getResults()) {
    OpOperand *updated = getUpdated(result);
    if (!updated || isa<tensor::CastOp>(op) || hasNoElements(result.getType()))
      continue;
    // The results of a function's loops have memory of their own.
    bool isOutput = isa<func::FuncOp>(op->getParentOp());
    if (!isOutput && !isNewForEach(*updated) && failed(verifyLast(*updated)))
      return failure();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return verifyLoop(loop);
  if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op))
    return verifyInsertion(insert);
  return success();
}

LogicalResult raytention::verifyUpdates(func::FuncOp func) {
  WalkResult walked = func.walk([](Operation *op) {
    return succeeded(verifyOp(op)) ? WalkResult::advance()
                                   : WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}
