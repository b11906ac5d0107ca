//===- BufferizePass.cpp - buffers for tensors -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"
#include "passes/Plan/ForwardCopies.h"
#include "passes/Plan/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace raytention {
#define GEN_PASS_DEF_BUFFERIZEPASS
#include "passes/Plan/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// What a function returns is written to arguments behind its own.
static LogicalResult returnByArguments(func::FuncOp func) {
  auto module = func->getParentOfType<ModuleOp>();
  if (auto uses = SymbolTable::getSymbolUses(func, module))
    for (SymbolTable::SymbolUse use : *uses)
      return use.getUser()->emitOpError()
             << "expected functions on tensors that nobody calls, got a use of "
             << use.getSymbolRef();
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
    Location loc = NameLoc::get(b.getStringAttr("result"), result.getLoc());
    if (failed(func.insertArgument(func.getNumArguments(), buffer, {}, loc)))
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

/// Canonicalisation drops a loop that would never end.
static LogicalResult verifyLoops(func::FuncOp func) {
  WalkResult walked = func.walk([](scf::ForOp op) {
    std::optional<int64_t> step = getConstantIntValue(op.getStep());
    if (!step || *step > 0)
      return WalkResult::advance();
    op.emitOpError() << "expected a positive step, got " << *step;
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
  return bufferization::AllocTensorOp::create(
      b, slice.getLoc(), slice.getType(), ValueRange(), slice.getResult());
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

/// What starts an accumulator is made anew for each that adds to it: equal ones
/// would be one buffer, copied.
static void separateStarts(func::FuncOp func) {
  SmallVector<Operation *> starts;
  func.walk([&](Operation *op) {
    if (isa<linalg::FillOp, tensor::EmptyOp, InitOp>(op))
      starts.push_back(op);
  });
  // Fills first, so that each has an empty tensor of its own.
  for (Operation *op : llvm::reverse(starts))
    for (OpResult result : op->getResults()) {
      if (result.use_empty() || result.hasOneUse())
        continue;
      for (OpOperand &use :
           llvm::make_early_inc_range(llvm::drop_begin(result.getUses()))) {
        OpBuilder b(op);
        use.set(b.clone(*op)->getResult(result.getResultNumber()));
      }
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

/// Whether a branch or loop hands a buffer on.
static bool isHandedOn(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<ViewLikeOpInterface>(user) && isHandedOn(user->getResult(0)));
  });
}

/// Frees what stands in no parallel loop at the end of its block.
static LogicalResult freeBuffers(func::FuncOp func) {
  WalkResult walked = func.walk([](memref::AllocOp op) {
    if (op->getParentOfType<scf::ForallOp>())
      return WalkResult::advance();
    if (isHandedOn(op)) {
      op.emitOpError() << "is handed on by a branch or loop; expected one that "
                          "updates a buffer from outside of it";
      return WalkResult::interrupt();
    }
    OpBuilder b(op->getBlock()->getTerminator());
    memref::DeallocOp::create(b, op.getLoc(), op);
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// Folds sizes, views and copies of a buffer to itself. Parallel loops stay:
/// one of a single iteration is still a task.
static LogicalResult cleanUp(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<memref::MemRefDialect, arith::ArithDialect, affine::AffineDialect>(
            op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  scf::ForOp::getCanonicalizationPatterns(patterns, context);
  scf::IfOp::getCanonicalizationPatterns(patterns, context);
  FrozenRewritePatternSet frozen(std::move(patterns));
  IRRewriter rewriter(context);
  // Equal views make more copies those of a buffer to itself.
  for (int round = 0; round < 2; ++round) {
    if (failed(applyPatternsGreedily(func, frozen)))
      return failure();
    DominanceInfo dominance(func);
    eliminateCommonSubExpressions(rewriter, dominance, func);
  }
  return success();
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
      if (failed(verifyOps(func)) || failed(verifyLoops(func)))
        return signalPassFailure();
      func.walk([](scf::ForallOp loop) { copyMovedTiles(loop); });
      separateStarts(func);
      if (failed(returnByArguments(func)) ||
          failed(bufferization::eliminateEmptyTensors(rewriter, func)))
        return signalPassFailure();
      protectArguments(func);
      ++numFunctions;
    }
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(),
                                                        getOptions(), state)))
      return signalPassFailure();
    for (func::FuncOp func : functions) {
      if (failed(cleanUp(func)))
        return signalPassFailure();
      forwardCopies(func);
      if (failed(freeBuffers(func)))
        return signalPassFailure();
    }
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
