//===- LowerToCpuPass.cpp - the fused stage to loops, panels and vectors
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
#include "codegen/LlvmCpu/VerifyFused.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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

/// What nobody reads would be written where others still read.
static void eraseUnused(func::FuncOp func) {
  func.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

/// Code grows with the items of a task.
constexpr int64_t kLargestItems = 1024;

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
  LogicalResult lower(tensor::DimOp op);
  LogicalResult lower(tensor::ExtractOp op);
  LogicalResult lower(tensor::ExtractSliceOp op);
  LogicalResult lower(scf::ForallOp op);
  LogicalResult lower(ParameterGradOp op);
  LogicalResult lower(ScatterAddOp op);
  FailureOr<TileLayout> getLayout(scf::ForallOp op);
  Value bindResult(Value result, Value init);
  Value makeTemporary(Value init, MemRefType type);

  func::FuncOp source, lowered;
  const CpuTarget &target;
  OpBuilder b;
  IRMapping scalars;
  llvm::DenseMap<Value, TensorBuffer> buffers;
  SmallVector<Value> temporaries;
};

struct LowerToCpuPass
    : public raytention::impl::LowerToCpuPassBase<LowerToCpuPass> {
  using LowerToCpuPassBase::LowerToCpuPassBase;

  void runOnOperation() override {
    CpuTarget cpu = vectorBits ? CpuTarget::get(vectorBits) : CpuTarget::host();
    SmallVector<func::FuncOp> functions;
    getOperation().walk([&](func::FuncOp function) {
      bool isFused = function
                         .walk([](Operation *op) {
                           return isa<FinalizeOp, QueryGradOp>(op)
                                      ? WalkResult::interrupt()
                                      : WalkResult::advance();
                         })
                         .wasInterrupted();
      if (isFused)
        functions.push_back(function);
    });
    for (func::FuncOp function : functions) {
      eraseUnused(function);
      if (failed(verifyFused(function)) ||
          failed(FunctionLowering(function, cpu).run()))
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
  if (auto dim = dyn_cast<tensor::DimOp>(op))
    return lower(dim);
  if (auto element = dyn_cast<tensor::ExtractOp>(op))
    return lower(element);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return lower(slice);
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    TensorBuffer buffer = buffers.lookup(cast.getSource());
    buffers[cast.getResult()] = buffer;
    return success();
  }
  // Zeros start the sums of rt.scatter_add, which writes them itself.
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return success();
  if (auto parameters = dyn_cast<ParameterGradOp>(op))
    return lower(parameters);
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return lower(scatter);
  if (isa<func::ReturnOp>(op)) {
    for (Value value : op->getOperands()) {
      // A result without elements is not computed by the loop.
      auto type = cast<RankedTensorType>(value.getType());
      if (!buffers.contains(value) && !llvm::is_contained(type.getShape(), 0))
        return op->emitOpError() << "expected results of the tiled attention";
    }
    for (Value memory : temporaries)
      memref::DeallocOp::create(b, op->getLoc(), memory);
    func::ReturnOp::create(b, op->getLoc());
    return success();
  }
  if (!isScalarCode(op))
    return op->emitOpError() << "has no lowering to the CPU; expected the "
                                "fused stage (--rt-fuse-channels)";
  b.clone(*op, scalars);
  return success();
}

LogicalResult FunctionLowering::lower(tensor::DimOp op) {
  auto *view = std::get_if<ArgumentView>(&buffers[op.getSource()]);
  std::optional<int64_t> axis = op.getConstantIndex();
  bool isWhole = !op.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  if (!view || !axis || !isWhole ||
      *axis >= cast<MemRefType>(view->memref.getType()).getRank())
    return op->emitOpError() << "expected the size of an argument";
  scalars.map(op.getResult(),
              memref::DimOp::create(b, op->getLoc(), view->memref, *axis));
  return success();
}

/// What is at `indices` of a view.
static SmallVector<Value> shift(OpBuilder &b, Location loc,
                                const ArgumentView &view,
                                ArrayRef<Value> indices) {
  SmallVector<Value> shifted;
  for (auto [index, base] : llvm::zip_equal(indices, view.offsets))
    shifted.push_back(arith::AddIOp::create(b, loc, base, index));
  return shifted;
}

LogicalResult FunctionLowering::lower(tensor::ExtractOp op) {
  auto *view = std::get_if<ArgumentView>(&buffers[op.getTensor()]);
  if (!view)
    return op.emitOpError() << "expected an element of an argument";
  SmallVector<Value> indices;
  for (Value index : op.getIndices())
    indices.push_back(scalars.lookupOrDefault(index));
  scalars.map(op.getResult(),
              memref::LoadOp::create(b, op.getLoc(), view->memref,
                                     shift(b, op.getLoc(), *view, indices)));
  return success();
}

LogicalResult FunctionLowering::lower(tensor::ExtractSliceOp op) {
  auto *source = std::get_if<ArgumentView>(&buffers[op.getSource()]);
  if (!source || op.getType().getRank() != op.getSourceType().getRank())
    return op.emitOpError() << "expected a slice of an argument, of its rank";
  SmallVector<Value> offsets;
  for (OpFoldResult offset : op.getMixedOffsets())
    offsets.push_back(scalars.lookupOrDefault(
        getValueOrCreateConstantIndexOp(b, op.getLoc(), offset)));
  ArgumentView view{source->memref, shift(b, op.getLoc(), *source, offsets)};
  buffers[op.getResult()] = view;
  return success();
}

/// The width of the queries, and the step of the loop over tiles or chunks.
FailureOr<TileLayout> FunctionLowering::getLayout(scf::ForallOp op) {
  Operation *finish = nullptr;
  DistanceOp distance;
  op.walk([&](Operation *found) {
    if (isa<FinalizeOp, QueryGradOp, KeyGradOp>(found))
      finish = found;
    if (auto own = dyn_cast<DistanceOp>(found))
      distance = own;
  });
  std::optional<int64_t> step;
  // Canonicalisation drops a batch of one; the tiles come last.
  if (op.getRank() <= 2)
    step = getConstantIntValue(op.getMixedStep().back());
  if (!finish || !distance || !step || *step < 1 || *step > kLargestItems)
    return op.emitOpError()
           << "expected a forall over batch and query tiles or key chunks of "
              "constant step, 1 to "
           << kLargestItems
           << ", that ends in rt.finalize, rt.query_grad or rt.key_grad";
  auto element = cast<RankedTensorType>(distance.getDistances().getType())
                     .getElementType();
  auto queries = cast<RankedTensorType>(distance.getQueries().getType());
  return TileLayout::get(target, cast<FloatType>(element),
                         queries.getDimSize(2), *step);
}

Value FunctionLowering::makeTemporary(Value init, MemRefType type) {
  SmallVector<Value> sizes;
  if (auto empty = init.getDefiningOp<tensor::EmptyOp>())
    for (Value size : empty.getDynamicSizes())
      sizes.push_back(scalars.lookupOrDefault(size));
  return memref::AllocOp::create(b, init.getLoc(), type, sizes);
}

static Value stripCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// Memory of a result: the caller's where the function returns it; else, where
/// a later op reads it, scratch that the caller brings as one more argument;
/// else of its own.
Value FunctionLowering::bindResult(Value result, Value init) {
  auto ret = cast<func::ReturnOp>(source.getBody().front().getTerminator());
  auto use = llvm::find_if(ret.getOperands(), [&](Value value) {
    return stripCasts(value) == result;
  });
  MemRefType type = toMemRef(result.getType());
  Value memory;
  if (use != ret.getOperands().end()) {
    memory = lowered.getArgument(source.getNumArguments() +
                                 (use - ret.getOperands().begin()));
  } else if (result.use_empty()) {
    memory = makeTemporary(init, type);
    temporaries.push_back(memory);
  } else {
    unsigned number = lowered.getNumArguments();
    (void)lowered.insertArgument(number, type, {}, result.getLoc());
    memory = lowered.getArgument(number);
  }
  Value zero = arith::ConstantIndexOp::create(b, result.getLoc(), 0);
  ArgumentView view{
      memory, SmallVector<Value>(static_cast<size_t>(type.getRank()), zero)};
  buffers[result] = view;
  return memory;
}

LogicalResult FunctionLowering::lower(ParameterGradOp op) {
  auto *parts = std::get_if<ArgumentView>(&buffers[op.getParameters()]);
  if (!parts)
    return op.emitOpError() << "expected the rows' parts from rt.query_grad";
  Value memory = parts->memref;
  Value tau = bindResult(op.getTauGrad(), Value());
  Value gammas = bindResult(op.getGammasGrad(), Value());
  sumParameters(b, op.getLoc(), memory, tau, gammas);
  return success();
}

LogicalResult FunctionLowering::lower(ScatterAddOp op) {
  auto *rows = std::get_if<ArgumentView>(&buffers[stripCasts(op.getRows())]);
  auto *ids = std::get_if<ArgumentView>(&buffers[op.getIndices()]);
  auto fill = op.getInit().getDefiningOp<linalg::FillOp>();
  bool fromZero = fill && matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  auto type = cast<RankedTensorType>(op.getResult().getType());
  if (!rows || !ids || !fromZero || type.getRank() != 2 || type.isDynamicDim(1))
    return op.emitOpError() << "expected the keys' gradients, by ids of an "
                               "argument, added to zeros [V, D]";
  Value from = rows->memref, by = ids->memref;
  Value table = bindResult(op.getResult(), op.getInit());
  scatterRows(b, op.getLoc(), from, by, table);
  return success();
}

LogicalResult FunctionLowering::lower(scf::ForallOp op) {
  PairSide side = PairSide::Query;
  op.walk([&](KeyGradOp) { side = PairSide::Key; });
  FailureOr<TileLayout> layout = getLayout(op);
  if (failed(layout))
    return failure();
  for (auto [result, init, arg] :
       llvm::zip(op.getResults(), op.getOutputs(), op.getRegionIterArgs())) {
    bindResult(result, init);
    TensorBuffer buffer = buffers.lookup(result);
    buffers[arg] = buffer;
  }
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
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(forall.getBody()->getTerminator());
  TaskLowering task(b, *layout, side, scalars, buffers, forall.getBody());
  return task.lowerBlock(*op.getBody());
}
