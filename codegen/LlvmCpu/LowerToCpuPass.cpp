//===- LowerToCpuPass.cpp - the fused stage to loops, panels and vectors
//------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Passes.h"
#include "codegen/LlvmCpu/TaskLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace raytention {
#define GEN_PASS_DEF_LOWERTOCPUPASS
#include "codegen/LlvmCpu/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

static MemRefType toMemRef(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// Code grows with the rows of a tile.
constexpr int64_t kLargestQueryTile = 1024;

namespace {

/// Lowers one function on tensors to the same function on buffers, results
/// becoming trailing arguments.
class FunctionLowering {
public:
  FunctionLowering(func::FuncOp source, const CpuTarget &target)
      : source(source), target(target), b(source) {}

  LogicalResult run();

private:
  func::FuncOp makeFunction();
  LogicalResult lower(Operation *op);
  LogicalResult lower(scf::ForallOp op);
  FailureOr<TileLayout> getLayout(scf::ForallOp op);
  void bindResults(scf::ForallOp op, SmallVectorImpl<Value> &temporaries);
  Value makeTemporary(Value init, MemRefType type);

  func::FuncOp source, lowered;
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
      bool isFused =
          function.walk([](FinalizeOp) { return WalkResult::interrupt(); })
              .wasInterrupted();
      if (isFused)
        functions.push_back(function);
    });
    for (func::FuncOp function : functions) {
      if (failed(FunctionLowering(function, cpu).run()))
        return signalPassFailure();
      ++numFunctions;
    }
  }
};

} // namespace

func::FuncOp FunctionLowering::makeFunction() {
  SmallVector<Type> types;
  for (Type type : source.getArgumentTypes())
    types.push_back(isa<TensorType>(type) ? Type(toMemRef(type)) : type);
  for (Type type : source.getResultTypes())
    types.push_back(toMemRef(type));
  auto function = func::FuncOp::create(b, source.getLoc(), source.getName(),
                                       b.getFunctionType(types, {}));
  function.setVisibility(source.getVisibility());
  for (NamedAttribute attr : source->getDiscardableAttrs())
    function->setAttr(attr.getName(), attr.getValue());
  function.addEntryBlock();
  return function;
}

LogicalResult FunctionLowering::run() {
  for (Type type : source.getResultTypes())
    if (!isa<RankedTensorType>(type))
      return source.emitOpError() << "expected tensor results, got " << type;
  b.setInsertionPoint(source);
  lowered = makeFunction();
  b.setInsertionPointToStart(&lowered.getBody().front());
  for (auto [from, to] :
       llvm::zip(source.getArguments(), lowered.getArguments())) {
    auto type = dyn_cast<RankedTensorType>(from.getType());
    if (!type) {
      scalars.map(from, to);
      continue;
    }
    Value zero = arith::ConstantIndexOp::create(b, source.getLoc(), 0);
    buffers[from] = ArgumentView{
        to, SmallVector<Value>(static_cast<size_t>(type.getRank()), zero)};
  }
  for (Operation &op : source.getBody().front())
    if (failed(lower(&op)))
      return failure();
  source.erase();
  return success();
}

LogicalResult FunctionLowering::lower(Operation *op) {
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    return lower(forall);
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    auto *view = std::get_if<ArgumentView>(&buffers[dim.getSource()]);
    std::optional<int64_t> axis = dim.getConstantIndex();
    if (!view || !axis ||
        *axis >= cast<MemRefType>(view->memref.getType()).getRank())
      return op->emitOpError() << "expected the size of an argument";
    scalars.map(dim.getResult(),
                memref::DimOp::create(b, op->getLoc(), view->memref, *axis));
    return success();
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    TensorBuffer buffer = buffers.lookup(cast.getSource());
    buffers[cast.getResult()] = buffer;
    return success();
  }
  if (isa<tensor::EmptyOp>(op))
    return success();
  if (isa<func::ReturnOp>(op)) {
    for (Value value : op->getOperands()) {
      // A result without elements is not computed by the loop.
      auto type = cast<RankedTensorType>(value.getType());
      if (!value.getDefiningOp<scf::ForallOp>() &&
          !llvm::is_contained(type.getShape(), 0))
        return op->emitOpError() << "expected results of the tiled attention";
    }
    func::ReturnOp::create(b, op->getLoc());
    return success();
  }
  for (Type type : op->getResultTypes())
    if (isa<TensorType>(type))
      return op->emitOpError() << "has no lowering to the CPU; expected the "
                                  "fused stage (--rt-fuse-channels)";
  b.clone(*op, scalars);
  return success();
}

FailureOr<TileLayout> FunctionLowering::getLayout(scf::ForallOp op) {
  FinalizeOp finalize;
  DistanceOp distance;
  op.walk([&](FinalizeOp found) { finalize = found; });
  op.walk([&](DistanceOp found) { distance = found; });
  std::optional<int64_t> tile;
  // Canonicalisation drops a batch of one; the query tiles come last.
  if (op.getRank() <= 2)
    tile = getConstantIntValue(op.getMixedStep().back());
  if (!finalize || !distance || !tile || *tile < 1 ||
      *tile > kLargestQueryTile)
    return op.emitOpError() << "expected a forall over batch and query tiles "
                               "of constant step, 1 to "
                            << kLargestQueryTile
                            << ", that ends in rt.finalize";
  auto signals = cast<RankedTensorType>(finalize.getSignals().getType());
  auto queries = cast<RankedTensorType>(distance.getQueries().getType());
  return TileLayout::get(target, cast<FloatType>(signals.getElementType()),
                         queries.getDimSize(2), *tile);
}

/// A result that the function does not return still needs memory.
Value FunctionLowering::makeTemporary(Value init, MemRefType type) {
  SmallVector<Value> sizes;
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    for (Value size : empty.getDynamicSizes())
      sizes.push_back(scalars.lookupOrDefault(size));
  return memref::AllocOp::create(b, init.getLoc(), type, sizes);
}

void FunctionLowering::bindResults(scf::ForallOp op,
                                   SmallVectorImpl<Value> &temporaries) {
  auto ret = cast<func::ReturnOp>(source.getBody().front().getTerminator());
  Value zero = arith::ConstantIndexOp::create(b, op.getLoc(), 0);
  for (auto [result, init, arg] :
       llvm::zip(op.getResults(), op.getOutputs(), op.getRegionIterArgs())) {
    auto use = llvm::find(ret.getOperands(), result);
    auto type = cast<RankedTensorType>(result.getType());
    Value memory;
    if (use != ret.getOperands().end()) {
      memory = lowered.getArgument(source.getNumArguments() +
                                   (use - ret.getOperands().begin()));
    } else {
      memory = makeTemporary(init, toMemRef(type));
      temporaries.push_back(memory);
    }
    buffers[arg] = ArgumentView{
        memory, SmallVector<Value>(static_cast<size_t>(type.getRank()), zero)};
  }
}

LogicalResult FunctionLowering::lower(scf::ForallOp op) {
  FailureOr<TileLayout> layout = getLayout(op);
  if (failed(layout))
    return failure();
  SmallVector<Value> temporaries;
  bindResults(op, temporaries);
  auto mapped = [&](ArrayRef<OpFoldResult> values) {
    SmallVector<OpFoldResult> result;
    for (OpFoldResult value : values)
      result.push_back(
          isa<Attribute>(value)
              ? value
              : OpFoldResult(scalars.lookupOrDefault(cast<Value>(value))));
    return result;
  };
  auto forall = scf::ForallOp::create(
      b, op.getLoc(), mapped(op.getMixedLowerBound()),
      mapped(op.getMixedUpperBound()), mapped(op.getMixedStep()),
      /*outputs=*/ValueRange(), /*mapping=*/std::nullopt);
  scalars.map(op.getInductionVars(), forall.getInductionVars());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(forall.getBody()->getTerminator());
    TaskLowering task(b, *layout, scalars, buffers, forall.getBody());
    if (failed(task.lowerBlock(*op.getBody())))
      return failure();
  }
  for (Value memory : temporaries)
    memref::DeallocOp::create(b, op.getLoc(), memory);
  return success();
}
