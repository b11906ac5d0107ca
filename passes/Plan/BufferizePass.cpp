//===- BufferizePass.cpp - buffers for tensors -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/Bufferization.h"
#include "passes/Plan/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace raytention {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// What a function returns is written to arguments behind its own.
static LogicalResult returnByArguments(func::FuncOp func) {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError() << "expected a body of one block";
  auto end = cast<func::ReturnOp>(func.getBody().front().getTerminator());
  OpBuilder b(end);
  SmallVector<Value> results(end.getOperands());
  for (Value result : results) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return func.emitOpError()
             << "expected results that are tensors, got " << result.getType();
    auto buffer = MemRefType::get(type.getShape(), type.getElementType());
    if (failed(func.insertArgument(func.getNumArguments(), buffer, {},
                                   result.getLoc())))
      return failure();
    auto write = bufferization::MaterializeInDestinationOp::create(
        b, result.getLoc(), result, func.getArguments().back());
    write.setRestrict(true);
    write.setWritable(true);
  }
  end.getOperandsMutable().clear();
  func.setType(
      FunctionType::get(func.getContext(), func.getArgumentTypes(), {}));
  func.removeResAttrsAttr();
  return success();
}

/// The ops of rt that have a form on buffers.
static LogicalResult verifyOps(func::FuncOp func) {
  WalkResult walked =
      func.walk(
          [](Operation *op) {
            if (!isa<RayTentionDialect>(op->getDialect()) ||
                isa<bufferization::BufferizableOpInterface>(op))
              return WalkResult::advance();
            op->emitOpError()
                << "has no lowering to kernels yet; expected the ops of a "
                   "forward pass, or target cpu";
            return WalkResult::interrupt();
          });
  return failure(walked.wasInterrupted());
}

/// What nobody reads needs no buffer.
static void eraseUnused(func::FuncOp func) {
  func.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Whether a loop writes a slice of its output where that was taken from.
static bool isWrittenBack(tensor::ExtractSliceOp slice) {
  return llvm::any_of(slice.getSource().getUsers(), [&](Operation *user) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user);
    return insert && insert.getDest() == slice.getSource() &&
           isEqualConstantIntOrValueArray(slice.getMixedOffsets(),
                                          insert.getMixedOffsets()) &&
           isEqualConstantIntOrValueArray(slice.getMixedSizes(),
                                          insert.getMixedSizes()) &&
           isEqualConstantIntOrValueArray(slice.getMixedStrides(),
                                          insert.getMixedStrides());
  });
}

/// A tile of a loop's output as it was before the loop, in memory of its own.
static Value copyFrom(Value output, tensor::ExtractSliceOp slice) {
  OpBuilder b(slice);
  if (output.getDefiningOp<tensor::EmptyOp>() &&
      slice.getType().getRank() == slice.getSourceType().getRank())
    return tensor::EmptyOp::create(b, slice.getLoc(), slice.getMixedSizes(),
                                   slice.getType().getElementType());
  slice.getSourceMutable().assign(output);
  b.setInsertionPointAfter(slice);
  auto copy = bufferization::AllocTensorOp::create(
      b, slice.getLoc(), slice.getType(), ValueRange(), slice.getResult());
  copy.setMemorySpaceAttr(tile::getMemorySpace(slice));
  return copy;
}

/// Where a loop takes a tile from its output and writes it elsewhere, blocks
/// would update each other's: such a tile is copied.
static void copyMovedTiles(scf::ForallOp loop) {
  for (OpOperand &output : loop.getOutputsMutable())
    for (Operation *user : llvm::make_early_inc_range(
             loop.getTiedBlockArgument(&output).getUsers())) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      if (!slice || isWrittenBack(slice))
        continue;
      Value copy = copyFrom(output.get(), slice);
      slice.getResult().replaceAllUsesExcept(copy, copy.getDefiningOp());
    }
}

/// Tensors are not written by a function that gets them.
static void protectArguments(func::FuncOp func) {
  auto name = bufferization::BufferizationDialect::kWritableAttrName;
  for (auto [number, type] : llvm::enumerate(func.getArgumentTypes()))
    if (isa<TensorType>(type))
      func.setArgAttr(number, name, BoolAttr::get(func.getContext(), false));
}

/// Says for new tensors of a kernel where they will stand.
static void chooseMemorySpaces(func::FuncOp func) {
  SmallVector<tensor::EmptyOp> empties;
  func.walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  for (tensor::EmptyOp op : empties) {
    Attribute space = tile::getMemorySpace(op);
    if (!space)
      continue;
    OpBuilder b(op);
    auto alloc = bufferization::AllocTensorOp::create(
        b, op.getLoc(), op.getType(), op.getDynamicSizes());
    alloc.setMemorySpaceAttr(space);
    op.replaceAllUsesWith(alloc.getResult());
    op.erase();
  }
}

static bufferization::OneShotBufferizationOptions getOptions() {
  bufferization::OneShotBufferizationOptions options;
  options.bufferizeFunctionBoundaries = true;
  options.setFunctionBoundaryTypeConversion(
      bufferization::LayoutMapOption::IdentityLayoutMap);
  // The body of rt_tile.compute is about tensors and stays so.
  options.opFilter.denyOperation([](Operation *op) {
    return isa<tile::ComputeOp>(op) ||
           isa_and_nonnull<tile::ComputeOp>(op->getParentOp());
  });
  return options;
}

/// Frees what is not in shared memory at the end of its block.
static void freeBuffers(func::FuncOp func) {
  func.walk([](memref::AllocOp op) {
    if (op.getType().getMemorySpace() || op->getParentOfType<scf::ForallOp>())
      return;
    OpBuilder b(op->getBlock()->getTerminator());
    memref::DeallocOp::create(b, op.getLoc(), op);
  });
}

namespace {

struct BufferizePass
    : public raytention::impl::BufferizePassBase<BufferizePass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp func) {
      if (!func.isExternal() && hasTensors(func))
        functions.push_back(func);
    });
    IRRewriter rewriter(&getContext());
    for (func::FuncOp func : functions) {
      eraseUnused(func);
      if (failed(verifyOps(func)))
        return signalPassFailure();
      func.walk([](scf::ForallOp loop) { copyMovedTiles(loop); });
      if (failed(returnByArguments(func)) ||
          failed(bufferization::eliminateEmptyTensors(rewriter, func)))
        return signalPassFailure();
      protectArguments(func);
      chooseMemorySpaces(func);
      ++numFunctions;
    }
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(),
                                                        getOptions(), state)))
      return signalPassFailure();
    for (func::FuncOp func : functions)
      freeBuffers(func);
  }

  static bool hasTensors(func::FuncOp func) {
    if (llvm::any_of(func.getArgumentTypes(), llvm::IsaPred<TensorType>))
      return true;
    return func
        .walk([](Operation *op) {
          return llvm::any_of(op->getResultTypes(), llvm::IsaPred<TensorType>)
                     ? WalkResult::interrupt()
                     : WalkResult::advance();
        })
        .wasInterrupted();
  }
};

} // namespace
