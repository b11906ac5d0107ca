//===- OutlineTasksPass.cpp - parallel loops become tasks -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Passes.h"
#include "codegen/LlvmCpu/WorkspacePlan.h"
#include "passes/Pipelines/Passes.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace raytention {
#define GEN_PASS_DEF_OUTLINETASKSPASS
#include "codegen/LlvmCpu/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// Bounds of the loops as values where the builder stands.
struct LoopBounds {
  SmallVector<Value> lower, upper, step;
};

/// Values from outside that a task needs: loaded or cloned there.
struct Captures {
  SetVector<Value> loaded, cloned;
};

/// Turns the parallel loops of one function into tasks.
class FunctionOutliner {
public:
  FunctionOutliner(func::FuncOp func, SymbolTable &symbols)
      : func(func), symbols(symbols), converter(func.getContext()),
        pointer(LLVM::LLVMPointerType::get(func.getContext())) {}

  LogicalResult run();

  unsigned numTasks = 0, numCaptures = 0, numSlices = 0;

private:
  LogicalResult outline(scf::ForallOp forall);
  FailureOr<Captures> collectCaptures(scf::ForallOp forall);
  func::FuncOp createTask(Location loc);
  void fillTask(scf::ForallOp forall, func::FuncOp task,
                const Captures &captures, const WorkspacePlan &plan);
  void loadCaptures(OpBuilder &builder, Location loc, Value arguments,
                    const Captures &captures, IRMapping &mapping);
  Value storeCaptures(OpBuilder &builder, Location loc,
                      const Captures &captures);
  LogicalResult declareParallelFor(Location loc);
  void callParallelFor(OpBuilder &builder, scf::ForallOp forall,
                       func::FuncOp task, Value bytes, Value arguments);
  FunctionType getWorkspaceType();
  LogicalResult createWorkspaceFunction();

  func::FuncOp func;
  SymbolTable &symbols;
  LLVMTypeConverter converter;
  LLVM::LLVMPointerType pointer;
  SmallVector<Value> workspaceBytes; ///< i64 each, in the host function
};

struct OutlineTasksPass
    : public raytention::impl::OutlineTasksPassBase<OutlineTasksPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto funcs = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp func : funcs) {
      if (func.isExternal() || func.isPrivate() || func.getNumResults() != 0)
        continue;
      FunctionOutliner outliner(func, symbols);
      if (failed(outliner.run()))
        return signalPassFailure();
      numTasks += outliner.numTasks;
      numCaptures += outliner.numCaptures;
      numSlices += outliner.numSlices;
    }
  }
};

} // namespace

LogicalResult FunctionOutliner::run() {
  SmallVector<scf::ForallOp> loops;
  func.walk<WalkOrder::PreOrder>([&](scf::ForallOp forall) {
    if (forall.getNumResults() != 0)
      return WalkResult::advance();
    loops.push_back(forall);
    return WalkResult::skip();
  });
  for (scf::ForallOp forall : loops)
    if (failed(outline(forall)))
      return failure();
  // An entry point of an earlier run of this pipeline needs no workspace.
  bool isEntry =
      func.getNumArguments() == 1 && func.getArgument(0).getType() == pointer;
  if (isEntry)
    return success();
  Operation *known = symbols.lookup((func.getName() + "_workspace").str());
  if (!known)
    return createWorkspaceFunction();
  auto workspace = dyn_cast<func::FuncOp>(known);
  if (loops.empty() && workspace && workspace.isPublic() &&
      workspace.getFunctionType() == getWorkspaceType())
    return success();
  return known->emitOpError("expected another name than that of the workspace "
                            "of @")
         << func.getName();
}

/// The function's arguments to bytes.
FunctionType FunctionOutliner::getWorkspaceType() {
  return FunctionType::get(func.getContext(),
                           func.getFunctionType().getInputs(),
                           {IntegerType::get(func.getContext(), 64)});
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static LogicalResult makeInnerLoopsSequential(scf::ForallOp forall) {
  SmallVector<scf::ForallOp> inner;
  forall.getBody()->walk([&](scf::ForallOp op) { inner.push_back(op); });
  IRRewriter rewriter(forall.getContext());
  for (scf::ForallOp op : inner) {
    if (op.getNumResults() != 0)
      return op.emitOpError("in a parallel loop expected buffers and no "
                            "results, got ")
             << op.getNumResults() << " results";
    rewriter.setInsertionPoint(op);
    if (failed(scf::forallToForLoop(rewriter, op)))
      return failure();
  }
  return success();
}

static LoopBounds getBounds(OpBuilder &builder, scf::ForallOp forall) {
  return {forall.getLowerBound(builder), forall.getUpperBound(builder),
          forall.getStep(builder)};
}

/// Iterations of loop `dim`, at least 0.
static Value buildTripCount(OpBuilder &builder, Location loc,
                            const LoopBounds &bounds, size_t dim) {
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value range = builder.createOrFold<arith::SubIOp>(loc, bounds.upper[dim],
                                                    bounds.lower[dim]);
  range = builder.createOrFold<arith::MaxSIOp>(loc, range, zero);
  Value rest = builder.createOrFold<arith::SubIOp>(loc, bounds.step[dim], one);
  Value sum = builder.createOrFold<arith::AddIOp>(loc, range, rest);
  return builder.createOrFold<arith::DivUIOp>(loc, sum, bounds.step[dim]);
}

/// The induction variables of task `task`: the first loop varies fastest, the
/// last varies slowest and counts down.
static SmallVector<Value> buildInductionVars(OpBuilder &builder, Location loc,
                                             const LoopBounds &bounds,
                                             Value task) {
  SmallVector<Value> inductionVars;
  Value rest =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), task);
  size_t rank = bounds.lower.size();
  for (size_t dim = 0; dim < rank; ++dim) {
    Value count = buildTripCount(builder, loc, bounds, dim);
    Value index;
    if (dim + 1 < rank) {
      index = builder.createOrFold<arith::RemUIOp>(loc, rest, count);
      rest = builder.createOrFold<arith::DivUIOp>(loc, rest, count);
    } else {
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      Value last = builder.createOrFold<arith::SubIOp>(loc, count, one);
      index = builder.createOrFold<arith::SubIOp>(loc, last, rest);
    }
    Value scaled =
        builder.createOrFold<arith::MulIOp>(loc, index, bounds.step[dim]);
    inductionVars.push_back(
        builder.createOrFold<arith::AddIOp>(loc, scaled, bounds.lower[dim]));
  }
  return inductionVars;
}

LogicalResult FunctionOutliner::outline(scf::ForallOp forall) {
  if (failed(makeInnerLoopsSequential(forall)))
    return failure();
  FailureOr<WorkspacePlan> plan = WorkspacePlan::create(forall);
  if (failed(plan))
    return failure();
  FailureOr<Captures> captures = collectCaptures(forall);
  if (failed(captures) || failed(declareParallelFor(forall.getLoc())))
    return failure();
  OpBuilder builder(forall);
  Location loc = forall.getLoc();
  Value bytes = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                           plan->buildBytes(builder, loc));
  workspaceBytes.push_back(bytes);
  Value arguments = storeCaptures(builder, loc, *captures);
  func::FuncOp task = createTask(loc);
  callParallelFor(builder, forall, task, bytes, arguments);
  numSlices += plan->size();
  fillTask(forall, task, *captures, *plan);
  forall.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Captured values
//===----------------------------------------------------------------------===//

FailureOr<Captures> FunctionOutliner::collectCaptures(scf::ForallOp forall) {
  SetVector<Value> used;
  getUsedValuesDefinedAbove(forall.getRegion(), used);
  used.insert_range(forall->getOperands());
  Captures captures;
  for (Value value : used) {
    Operation *op = value.getDefiningOp();
    if (op && op->getNumOperands() == 0 && isPure(op)) {
      captures.cloned.insert(value);
      continue;
    }
    Type type = converter.convertType(value.getType());
    if (!type || !LLVM::isCompatibleType(type))
      return forall.emitOpError("expected to use values that have an LLVM "
                                "form, got ")
             << value.getType();
    captures.loaded.insert(value);
  }
  numCaptures += captures.loaded.size();
  return captures;
}

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// The address of element `index` of the array of pointers.
static Value getArgumentSlot(OpBuilder &builder, Location loc, Value arguments,
                             size_t index) {
  Type pointer = arguments.getType();
  return LLVM::GEPOp::create(builder, loc, pointer, pointer, arguments,
                             LLVM::GEPArg(static_cast<int32_t>(index)));
}

Value FunctionOutliner::storeCaptures(OpBuilder &builder, Location loc,
                                      const Captures &captures) {
  // On the stack of the whole function: the loop may stand in another one.
  OpBuilder entry = OpBuilder::atBlockBegin(&func.getBody().front());
  auto allocate = [&](Type type, int64_t count) -> Value {
    Value size =
        LLVM::ConstantOp::create(entry, loc, entry.getI64IntegerAttr(count));
    return LLVM::AllocaOp::create(entry, loc, pointer, type, size);
  };
  Value arguments =
      allocate(pointer, std::max<int64_t>(1, captures.loaded.size()));
  for (auto [index, value] : llvm::enumerate(captures.loaded)) {
    Type type = converter.convertType(value.getType());
    Value address = allocate(type, 1);
    LLVM::StoreOp::create(builder, loc, castTo(builder, loc, type, value),
                          address);
    Value slot = getArgumentSlot(builder, loc, arguments, index);
    LLVM::StoreOp::create(builder, loc, address, slot);
  }
  return arguments;
}

void FunctionOutliner::loadCaptures(OpBuilder &builder, Location loc,
                                    Value arguments, const Captures &captures,
                                    IRMapping &mapping) {
  for (Value value : captures.cloned)
    builder.clone(*value.getDefiningOp(), mapping);
  for (auto [index, value] : llvm::enumerate(captures.loaded)) {
    Value slot = getArgumentSlot(builder, loc, arguments, index);
    Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
    Value loaded = LLVM::LoadOp::create(
        builder, loc, converter.convertType(value.getType()), address);
    mapping.map(value, castTo(builder, loc, value.getType(), loaded));
  }
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

func::FuncOp FunctionOutliner::createTask(Location loc) {
  MLIRContext *context = func.getContext();
  auto i64 = IntegerType::get(context, 64);
  auto type = FunctionType::get(context, {pointer, i64, pointer}, {});
  std::string name = (func.getName() + "_task" + Twine(numTasks++)).str();
  auto task = func::FuncOp::create(loc, name, type);
  task.setPrivate();
  task->setAttr("llvm.linkage",
                LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  // Nothing else reaches the arguments or this worker's workspace meanwhile.
  for (unsigned index : {0, 2})
    task.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                    UnitAttr::get(context));
  symbols.insert(task, std::next(func->getIterator()));
  task.addEntryBlock();
  return task;
}

void FunctionOutliner::fillTask(scf::ForallOp forall, func::FuncOp task,
                                const Captures &captures,
                                const WorkspacePlan &plan) {
  Location loc = forall.getLoc();
  Block *body = &task.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  IRMapping mapping;
  loadCaptures(builder, loc, task.getArgument(0), captures, mapping);
  LoopBounds bounds = getBounds(builder, forall);
  // As the task has them: folding must not find what they were computed from.
  for (auto *values : {&bounds.lower, &bounds.upper, &bounds.step})
    for (Value &value : *values)
      value = mapping.lookupOrDefault(value);
  SmallVector<Value> inductionVars =
      buildInductionVars(builder, loc, bounds, task.getArgument(1));
  // What follows is moved; the workspace is placed in front of it.
  auto ret = func::ReturnOp::create(builder, loc);
  for (auto [from, to] :
       llvm::zip_equal(forall.getInductionVars(), inductionVars))
    from.replaceAllUsesWith(to);
  forall.getTerminator().erase();
  Block *source = forall.getBody();
  Operation *first = source->empty() ? ret : &source->front();
  body->getOperations().splice(ret->getIterator(), source->getOperations());
  builder.setInsertionPoint(first);
  plan.place(builder, loc, task.getArgument(2));
  for (auto [from, to] : mapping.getValueMap())
    replaceAllUsesInRegionWith(from, to, task.getBody());
}

LogicalResult FunctionOutliner::declareParallelFor(Location loc) {
  MLIRContext *context = func.getContext();
  auto i64 = IntegerType::get(context, 64);
  auto type = FunctionType::get(context, {pointer, i64, i64, pointer}, {});
  if (Operation *known = symbols.lookup(kParallelFor)) {
    auto declared = dyn_cast<func::FuncOp>(known);
    if (declared && declared.getFunctionType() == type)
      return success();
    return known->emitOpError("expected the type ") << type;
  }
  auto declaration = func::FuncOp::create(loc, kParallelFor, type);
  declaration.setPrivate();
  symbols.insert(declaration);
  return success();
}

void FunctionOutliner::callParallelFor(OpBuilder &builder, scf::ForallOp forall,
                                       func::FuncOp task, Value bytes,
                                       Value arguments) {
  Location loc = forall.getLoc();
  LoopBounds bounds = getBounds(builder, forall);
  Value count = arith::ConstantIndexOp::create(builder, loc, 1);
  for (size_t dim = 0; dim < bounds.lower.size(); ++dim)
    count = builder.createOrFold<arith::MulIOp>(
        loc, count, buildTripCount(builder, loc, bounds, dim));
  Value tasks =
      arith::IndexCastOp::create(builder, loc, builder.getI64Type(), count);
  Value function = func::ConstantOp::create(
      builder, loc, task.getFunctionType(), FlatSymbolRefAttr::get(task));
  func::CallOp::create(builder, loc, kParallelFor, TypeRange(),
                       ValueRange{castTo(builder, loc, pointer, function),
                                  tasks, bytes, arguments});
}

LogicalResult FunctionOutliner::createWorkspaceFunction() {
  Location loc = func.getLoc();
  auto workspace = func::FuncOp::create(
      loc, (func.getName() + "_workspace").str(), getWorkspaceType());
  symbols.insert(workspace, std::next(func->getIterator()));
  OpBuilder builder = OpBuilder::atBlockBegin(workspace.addEntryBlock());
  IRMapping mapping;
  mapping.map(func.getArguments(), workspace.getArguments());
  Value most;
  for (Value bytes : workspaceBytes) {
    FailureOr<Value> cloned = cloneSlice(builder, bytes, mapping);
    if (failed(cloned))
      return bytes.getDefiningOp()->emitOpError(
          "expected the workspace of a parallel loop to follow from the "
          "function's arguments, got something computed from other values");
    most = most ? builder.createOrFold<arith::MaxSIOp>(loc, most, *cloned)
                : *cloned;
  }
  if (!most)
    most = arith::ConstantIntOp::create(builder, loc, 0, 64);
  func::ReturnOp::create(builder, loc, most);
  return success();
}
