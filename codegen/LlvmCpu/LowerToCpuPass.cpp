//===- LowerToCpuPass.cpp - the tiled stage to loops, panels and vectors
//------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/HostLowering.h"
#include "codegen/LlvmCpu/Passes.h"
#include "codegen/LlvmCpu/TaskLowering.h"
#include "codegen/LlvmCpu/TaskShape.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace raytention {
#define GEN_PASS_DEF_LOWERTOCPUPASS
#include "codegen/LlvmCpu/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// Code grows with the items of a task.
constexpr int64_t kLargestItems = 1024;

/// Sizes and offsets that upstream's tiling leaves, as arithmetic: their bounds
/// are read from that.
static void expandAffine(func::FuncOp func) {
  func.walk([](Operation *op) {
    if (!isa<affine::AffineMinOp, affine::AffineMaxOp, affine::AffineApplyOp>(
            op))
      return;
    OpBuilder b(op);
    AffineMap map = op->getAttrOfType<AffineMapAttr>("map").getValue();
    auto values = affine::expandAffineMap(b, op->getLoc(), map,
                                          llvm::to_vector(op->getOperands()));
    if (!values)
      return;
    Value result = values->front();
    for (Value value : llvm::drop_begin(*values))
      result = isa<affine::AffineMinOp>(op)
                   ? arith::MinSIOp::create(b, op->getLoc(), result, value)
                         .getResult()
                   : arith::MaxSIOp::create(b, op->getLoc(), result, value);
    op->replaceAllUsesWith(ValueRange{result});
    op->erase();
  });
}

namespace {

/// Lowers the parallel loops of one function on buffers, and what stands
/// between them.
class FunctionLowering {
public:
  FunctionLowering(func::FuncOp func, const CpuTarget &target)
      : func(func), target(target), b(func) {}

  LogicalResult run();

private:
  LogicalResult lowerBlock(Block &block);
  LogicalResult lower(Operation *op);
  LogicalResult lower(scf::ForOp op);
  LogicalResult lower(scf::IfOp op);
  LogicalResult lower(scf::ForallOp op);
  LogicalResult lower(memref::SubViewOp op);
  LogicalResult lower(linalg::LinalgOp op);
  LogicalResult lower(tile::ComputeOp op);
  LogicalResult lower(tile::ComputeOp compute, ParameterGradOp op);
  LogicalResult lower(tile::ComputeOp compute, ScatterAddOp op);
  LogicalResult lower(tile::ComputeOp compute, DistinctOp op);
  LogicalResult lower(tile::ComputeOp compute, FoldKeysOp op);
  FailureOr<TileLayout> getLayout(scf::ForallOp op, const TaskShape &shape);
  void setView(Value memref);

  func::FuncOp func;
  const CpuTarget &target;
  OpBuilder b;
  IRMapping scalars;
  llvm::DenseMap<Value, TensorBuffer> buffers;
};

struct LowerToCpuPass
    : public raytention::impl::LowerToCpuPassBase<LowerToCpuPass> {
  using LowerToCpuPassBase::LowerToCpuPassBase;

  void runOnOperation() override {
    CpuTarget cpu = vectorBits ? CpuTarget::get(vectorBits) : CpuTarget::host();
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      bool hasTiles =
          function.walk([](tile::ComputeOp) { return WalkResult::interrupt(); })
              .wasInterrupted();
      if (hasTiles)
        functions.push_back(function);
    });
    for (func::FuncOp function : functions) {
      expandAffine(function);
      if (failed(FunctionLowering(function, cpu).run()))
        return signalPassFailure();
      ++numFunctions;
    }
  }
};

} // namespace

/// A buffer of the function, as a whole.
void FunctionLowering::setView(Value memref) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  Value zero = arith::ConstantIndexOp::create(b, memref.getLoc(), 0);
  buffers[memref] =
      ArgumentView{memref, SmallVector<Value>(static_cast<size_t>(rank), zero)};
}

LogicalResult FunctionLowering::run() {
  if (!func.getBody().hasOneBlock())
    return func.emitOpError() << "expected a body of one block";
  b.setInsertionPointToStart(&func.getBody().front());
  for (Value argument : func.getArguments())
    if (isa<MemRefType>(argument.getType()))
      setView(argument);
  return lowerBlock(func.getBody().front());
}

LogicalResult FunctionLowering::lowerBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(lower(&op)))
      return failure();
  return success();
}

/// Whether an op hands on buffers.
static LogicalResult checkResults(Operation *op) {
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<MemRefType>))
    return success();
  return op->emitOpError() << "expected a loop or branch that hands on nothing "
                              "but what stands in buffers";
}

LogicalResult FunctionLowering::lower(scf::ForOp op) {
  return failed(checkResults(op)) ? failure() : lowerBlock(*op.getBody());
}

LogicalResult FunctionLowering::lower(scf::IfOp op) {
  if (failed(checkResults(op)) || failed(lowerBlock(*op.thenBlock())))
    return failure();
  return op.elseBlock() ? lowerBlock(*op.elseBlock()) : success();
}

/// Ops on scalars stay as they are.
LogicalResult FunctionLowering::lower(Operation *op) {
  b.setInsertionPoint(op);
  auto isBuffer = [](Type type) { return isa<MemRefType>(type); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForallOp, scf::ForOp, scf::IfOp, memref::SubViewOp,
            tile::ComputeOp>([&](auto typed) { return lower(typed); })
      .Case([&](memref::AllocOp alloc) {
        b.setInsertionPointAfter(alloc);
        setView(alloc);
        return success();
      })
      .Case<memref::CastOp, memref::DimOp, memref::LoadOp, memref::CopyOp,
            memref::DeallocOp>([](Operation *) { return success(); })
      .Case([&](linalg::LinalgOp linalg) { return lower(linalg); })
      .Default([&](Operation *other) -> LogicalResult {
        if (other->getNumRegions() == 0 &&
            llvm::none_of(other->getOperandTypes(), isBuffer))
          return success();
        return other->emitOpError()
               << "has no lowering to the CPU; expected the tiled stage "
                  "(--rt-tile-tasks)";
      });
}

LogicalResult FunctionLowering::lower(memref::SubViewOp op) {
  auto *whole = std::get_if<ArgumentView>(&buffers[stripCasts(op.getSource())]);
  if (!whole || !llvm::all_of(op.getMixedStrides(), isOneInteger) ||
      op.getSourceType().getRank() != op.getType().getRank())
    return op.emitOpError()
           << "expected a view of an argument, of its rank, by unit strides";
  LoopBuilder k(b, op.getLoc());
  ArgumentView view = *whole;
  for (auto [own, offset] : llvm::zip(view.offsets, op.getMixedOffsets()))
    own = k.add(own, getValueOrCreateConstantIndexOp(b, op.getLoc(), offset));
  buffers[op.getResult()] = view;
  return success();
}

/// Zeros that the sums of rt.scatter_add start from: its tasks write them.
static linalg::FillOp findZeros(tile::ComputeOp compute) {
  auto fill = dyn_cast_or_null<linalg::FillOp>(compute->getPrevNode());
  return fill && isa<ScatterAddOp>(compute.getOp()) &&
                 fill.getOutputs()[0] == compute.getResultBuffer(0) &&
                 matchPattern(fill.getInputs()[0], m_AnyZeroFloat())
             ? fill
             : linalg::FillOp();
}

/// Loops, one by one.
LogicalResult FunctionLowering::lower(linalg::LinalgOp op) {
  auto next = dyn_cast_or_null<tile::ComputeOp>(op->getNextNode());
  if (next && findZeros(next) == op)
    return success();
  IRRewriter rewriter(op);
  if (failed(linalg::linalgOpToLoops(rewriter, op)))
    return op.emitOpError() << "has no loops";
  rewriter.eraseOp(op);
  return success();
}

/// The step of the loop over tiles or chunks bounds the items of a task.
FailureOr<TileLayout> FunctionLowering::getLayout(scf::ForallOp op,
                                                  const TaskShape &shape) {
  std::optional<int64_t> step;
  // Canonicalisation drops a batch of one; the tiles come last.
  if (op.getRank() <= 2)
    step = getConstantIntValue(op.getMixedStep().back());
  if (!step || *step < 1 || *step > kLargestItems)
    return op.emitOpError()
           << "expected a forall over batch and query tiles or key chunks of "
              "constant step, 1 to "
           << kLargestItems;
  return TileLayout::get(target, shape.element, shape.width, *step);
}

LogicalResult FunctionLowering::lower(tile::ComputeOp compute) {
  LogicalResult lowered =
      llvm::TypeSwitch<Operation *, LogicalResult>(compute.getOp())
          .Case<ParameterGradOp, ScatterAddOp, DistinctOp, FoldKeysOp>(
              [&](auto op) { return lower(compute, op); })
          .Default([](Operation *other) {
            return other->emitOpError()
                   << "has no lowering to the CPU; expected the tiled stage "
                      "(--rt-tile-tasks)";
          });
  if (succeeded(lowered))
    compute.erase();
  return lowered;
}

LogicalResult FunctionLowering::lower(tile::ComputeOp compute,
                                      ParameterGradOp op) {
  sumParameters(b, op.getLoc(), compute.getBuffer(op.getParameters()),
                compute.getResultBuffer(0), compute.getResultBuffer(1));
  return success();
}

LogicalResult FunctionLowering::lower(tile::ComputeOp compute,
                                      ScatterAddOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (type.getRank() != 2 || type.isDynamicDim(1))
    return op.emitOpError()
           << "expected sums [V, D] of a static width, got " << type;
  Value table = compute.getResultBuffer(0);
  linalg::FillOp zeros = findZeros(compute);
  scatterRows(b, op.getLoc(), compute.getBuffer(op.getRows()),
              compute.getBuffer(op.getIndices()), table, bool(zeros));
  if (zeros)
    zeros.erase();
  return success();
}

LogicalResult FunctionLowering::lower(tile::ComputeOp compute, DistinctOp op) {
  findDistinct(b, op.getLoc(), compute.getBuffer(op.getIds()), op.getVocab(),
               {compute.getResultBuffer(0), compute.getResultBuffer(1),
                compute.getResultBuffer(2)});
  return success();
}

LogicalResult FunctionLowering::lower(tile::ComputeOp compute, FoldKeysOp op) {
  KeySpan span{compute.getBuffer(op.getSlots()),
               op.getLengths() ? compute.getBuffer(op.getLengths()) : Value(),
               op.getBegin(), op.getEnd()};
  foldKeys(b, op.getLoc(), SweepLayout::get(op.getChannels()), span,
           compute.getBuffer(op.getGammas()),
           {compute.getResultBuffer(0), compute.getResultBuffer(1)});
  return success();
}

LogicalResult FunctionLowering::lower(scf::ForallOp op) {
  FailureOr<TaskShape> shape = findTaskShape(op);
  if (failed(shape))
    return failure();
  FailureOr<TileLayout> layout = getLayout(op, *shape);
  if (failed(layout))
    return failure();
  auto forall = scf::ForallOp::create(
      b, op.getLoc(), op.getMixedLowerBound(), op.getMixedUpperBound(),
      op.getMixedStep(), /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  scalars.map(op.getInductionVars(), forall.getInductionVars());
  b.setInsertionPoint(forall.getBody()->getTerminator());
  TaskLowering task(b, *layout, shape->side, scalars, buffers,
                    forall.getBody());
  if (failed(task.lowerBlock(*op.getBody())))
    return failure();
  op.erase();
  return success();
}
