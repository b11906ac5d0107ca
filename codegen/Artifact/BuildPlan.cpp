//===- BuildPlan.cpp - a plan from its IR ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Artifact/BuildPlan.h"
#include "codegen/Artifact/KernelTable.h"
#include "codegen/Artifact/PlanTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;
using plan::Instruction;
using plan::Opcode;
using plan::ValueId;

bool raytention::isPlan(ModuleOp module) {
  return !module.getOps<gpu::GPUModuleOp>().empty();
}

namespace {

/// Writes one host function into a plan.
class PlanBuilder {
public:
  explicit PlanBuilder(ModuleOp module) : kernels(module) {}

  LogicalResult run(func::FuncOp func);
  BuiltPlan take() {
    plan.kernels = kernels.takeKernels();
    return {std::move(plan), kernels.takeModules()};
  }

private:
  LogicalResult addArguments(func::FuncOp func);
  LogicalResult addBlock(Block &from, plan::Block &to);
  LogicalResult add(Operation *op, plan::Block &to);
  LogicalResult addConstant(arith::ConstantOp op, plan::Block &to);
  LogicalResult addBinary(Operation *op, Opcode kind, plan::Block &to);
  LogicalResult addCompare(arith::CmpIOp op, plan::Block &to);
  LogicalResult addSelect(arith::SelectOp op, plan::Block &to);
  LogicalResult addCast(Operation *op, Opcode kind, plan::Block &to);
  LogicalResult addAlloc(memref::AllocOp op, plan::Block &to);
  LogicalResult addLaunch(gpu::LaunchFuncOp op, plan::Block &to);
  LogicalResult addIf(scf::IfOp op, plan::Block &to);
  LogicalResult addFor(scf::ForOp op, plan::Block &to);
  LogicalResult addYield(scf::YieldOp op, plan::Block &to);

  /// An instruction with the operands and results of `op`, of the plan's type
  /// of `typed`; an error at `op` where that has none.
  FailureOr<Instruction> make(Operation *op, Opcode kind, Type typed);
  ValueId define(Value value) {
    ids[value] = plan.numValues;
    return plan.numValues++;
  }
  SmallVector<ValueId> use(ValueRange values) {
    return llvm::map_to_vector(values,
                               [&](Value value) { return ids.at(value); });
  }
  LogicalResult checkIntegers(Operation *op, TypeRange types);

  plan::Plan plan;
  KernelTable kernels;
  DenseMap<Value, ValueId> ids;
};

} // namespace

static InFlightDiagnostic refuseType(Operation *op, Type type) {
  return op->emitOpError("expected index, an integer of 1, 8, 32 or 64 bits, "
                         "f32, f64, or a memref of them or of bf16 with the "
                         "identity layout in the default memory space, got ")
         << type;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult PlanBuilder::run(func::FuncOp func) {
  if (func.isExternal() || !func.getBody().hasOneBlock() ||
      func.getNumResults() != 0)
    return func.emitOpError("expected a function of one block without results "
                            "as a plan's host program");
  plan.name = func.getName().str();
  if (failed(addArguments(func)))
    return failure();
  return addBlock(func.getBody().front(), plan.program);
}

LogicalResult PlanBuilder::addArguments(func::FuncOp func) {
  for (BlockArgument argument : func.getArguments()) {
    std::optional<plan::Type> type = getPlanType(argument.getType());
    bool fits = type && (type->isBuffer || argument.getType().isIndex());
    if (!fits)
      return func.emitOpError("expected argument ")
             << argument.getArgNumber()
             << " to be index or a memref with the identity layout in the "
                "default memory space, got "
             << argument.getType();
    plan.arguments.push_back(*type);
    define(argument);
  }
  return success();
}

LogicalResult PlanBuilder::addBlock(Block &from, plan::Block &to) {
  for (Operation &op : from)
    if (failed(add(&op, to)))
      return failure();
  return success();
}

/// What the two have under one name.
static std::optional<Opcode> findBinary(StringRef name) {
  return llvm::StringSwitch<std::optional<Opcode>>(name)
#define RT_PLAN_BINARY(NAME, SPELLING) .Case("arith." SPELLING, Opcode::NAME)
#include "runtime/plan/Ops.def"
      .Default(std::nullopt);
}

static std::optional<Opcode> findCast(Operation *op) {
  if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
    return Opcode::CastS;
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return Opcode::CastU;
  return std::nullopt;
}

LogicalResult PlanBuilder::add(Operation *op, plan::Block &to) {
  if (std::optional<Opcode> kind = findBinary(op->getName().getStringRef()))
    return addBinary(op, *kind, to);
  if (std::optional<Opcode> kind = findCast(op))
    return addCast(op, *kind, to);
  auto simple = [&](Opcode kind, Type typed) -> LogicalResult {
    FailureOr<Instruction> made = make(op, kind, typed);
    if (succeeded(made))
      to.code.push_back(std::move(*made));
    return made;
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp op) { return addConstant(op, to); })
      .Case([&](arith::CmpIOp op) { return addCompare(op, to); })
      .Case([&](arith::SelectOp op) { return addSelect(op, to); })
      .Case([&](memref::DimOp op) {
        return simple(Opcode::Dim, op.getSource().getType());
      })
      .Case([&](memref::DeallocOp op) {
        return simple(Opcode::Free, op.getMemref().getType());
      })
      .Case([&](memref::CastOp op) {
        return simple(Opcode::Reshape, op.getType());
      })
      .Case([&](memref::AllocOp op) { return addAlloc(op, to); })
      .Case([&](gpu::LaunchFuncOp op) { return addLaunch(op, to); })
      .Case([&](scf::IfOp op) { return addIf(op, to); })
      .Case([&](scf::ForOp op) { return addFor(op, to); })
      .Case([&](scf::YieldOp op) { return addYield(op, to); })
      .Case([](func::ReturnOp) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError(
            "expected an operation of a plan's host program (integers, "
            "memref.dim, alloc, dealloc and cast, gpu.launch_func, scf.if and "
            "scf.for), got another");
      });
}

FailureOr<Instruction> PlanBuilder::make(Operation *op, Opcode kind,
                                         Type typed) {
  Instruction instruction;
  instruction.op = kind;
  std::optional<plan::Type> type = getPlanType(typed);
  if (!type) {
    refuseType(op, typed);
    return failure();
  }
  instruction.type = std::move(*type);
  SmallVector<ValueId> operands = use(op->getOperands());
  instruction.operands.assign(operands.begin(), operands.end());
  for (Value result : op->getResults()) {
    if (!getPlanType(result.getType())) {
      refuseType(op, result.getType());
      return failure();
    }
    instruction.results.push_back(define(result));
  }
  return instruction;
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

LogicalResult PlanBuilder::checkIntegers(Operation *op, TypeRange types) {
  for (Type type : types) {
    std::optional<plan::Type> known = getPlanType(type);
    if (!known || !isIntegerType(*known))
      return op->emitOpError("expected index or an integer of 1, 8, 32 or 64 "
                             "bits, got ")
             << type;
  }
  return success();
}

LogicalResult PlanBuilder::addConstant(arith::ConstantOp op, plan::Block &to) {
  FailureOr<Instruction> made = make(op, Opcode::Constant, op.getType());
  if (failed(made))
    return failure();
  if (auto value = dyn_cast<IntegerAttr>(op.getValue()))
    made->immediate = value.getValue().getSExtValue();
  else if (auto value = dyn_cast<FloatAttr>(op.getValue()))
    made->immediate = int64_t(value.getValue().bitcastToAPInt().getZExtValue());
  else
    return refuseType(op, op.getType());
  to.code.push_back(std::move(*made));
  return success();
}

LogicalResult PlanBuilder::addBinary(Operation *op, Opcode kind,
                                     plan::Block &to) {
  if (failed(checkIntegers(op, op->getResultTypes())))
    return failure();
  FailureOr<Instruction> made = make(op, kind, op->getResult(0).getType());
  if (succeeded(made))
    to.code.push_back(std::move(*made));
  return made;
}

static plan::Predicate convert(arith::CmpIPredicate predicate) {
  using From = arith::CmpIPredicate;
  using To = plan::Predicate;
  switch (predicate) {
  case From::eq:
    return To::EQ;
  case From::ne:
    return To::NE;
  case From::slt:
    return To::SLT;
  case From::sle:
    return To::SLE;
  case From::sgt:
    return To::SGT;
  case From::sge:
    return To::SGE;
  case From::ult:
    return To::ULT;
  case From::ule:
    return To::ULE;
  case From::ugt:
    return To::UGT;
  case From::uge:
    return To::UGE;
  }
  llvm_unreachable("every predicate is listed");
}

LogicalResult PlanBuilder::addCompare(arith::CmpIOp op, plan::Block &to) {
  if (failed(checkIntegers(op, op->getOperandTypes())))
    return failure();
  FailureOr<Instruction> made = make(op, Opcode::Cmp, op.getLhs().getType());
  if (failed(made))
    return failure();
  made->immediate = int64_t(convert(op.getPredicate()));
  to.code.push_back(std::move(*made));
  return success();
}

LogicalResult PlanBuilder::addSelect(arith::SelectOp op, plan::Block &to) {
  std::optional<plan::Type> type = getPlanType(op.getType());
  if (!type || type->isBuffer || !op.getCondition().getType().isInteger(1))
    return op.emitOpError("expected a choice between two scalars, got ")
           << op.getType();
  FailureOr<Instruction> made = make(op, Opcode::Select, op.getType());
  if (succeeded(made))
    to.code.push_back(std::move(*made));
  return made;
}

LogicalResult PlanBuilder::addCast(Operation *op, Opcode kind,
                                   plan::Block &to) {
  if (failed(checkIntegers(op, op->getOperandTypes())) ||
      failed(checkIntegers(op, op->getResultTypes())))
    return failure();
  FailureOr<Instruction> made = make(op, kind, op->getOperand(0).getType());
  if (failed(made))
    return failure();
  made->immediate = getBits(getPlanType(op->getResult(0).getType())->element);
  to.code.push_back(std::move(*made));
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers and kernels
//===----------------------------------------------------------------------===//

LogicalResult PlanBuilder::addAlloc(memref::AllocOp op, plan::Block &to) {
  // Every device aligns what it allocates to as much.
  constexpr uint64_t most = 256;
  if (op.getAlignment().value_or(1) > most)
    return op.emitOpError("expected an alignment of at most ")
           << most << " bytes, got " << *op.getAlignment();
  FailureOr<Instruction> made = make(op, Opcode::Alloc, op.getType());
  if (succeeded(made))
    to.code.push_back(std::move(*made));
  return made;
}

LogicalResult PlanBuilder::addLaunch(gpu::LaunchFuncOp op, plan::Block &to) {
  FailureOr<unsigned> kernel = kernels.add(op);
  if (failed(kernel))
    return failure();
  Instruction launch;
  launch.op = Opcode::Launch;
  launch.immediate = *kernel;
  gpu::KernelDim3 grid = op.getGridSizeOperandValues();
  gpu::KernelDim3 block = op.getBlockSizeOperandValues();
  Value sizes[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  if (failed(checkIntegers(op, ValueRange(sizes).getTypes())))
    return failure();
  for (ValueId id : use(sizes))
    launch.operands.push_back(id);
  if (Value shared = op.getDynamicSharedMemorySize()) {
    launch.operands.push_back(ids.at(shared));
  } else {
    Instruction zero;
    zero.results.push_back(plan.numValues++);
    launch.operands.push_back(zero.results.front());
    to.code.push_back(std::move(zero));
  }
  for (ValueId id : use(op.getKernelOperands()))
    launch.operands.push_back(id);
  to.code.push_back(std::move(launch));
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult PlanBuilder::addIf(scf::IfOp op, plan::Block &to) {
  if (failed(checkIntegers(op, op.getResultTypes())))
    return failure();
  FailureOr<Instruction> made =
      make(op, Opcode::If, op.getCondition().getType());
  if (failed(made))
    return failure();
  made->blocks.resize(2);
  if (failed(addBlock(*op.thenBlock(), made->blocks[0])) ||
      (op.elseBlock() && failed(addBlock(*op.elseBlock(), made->blocks[1]))))
    return failure();
  to.code.push_back(std::move(*made));
  return success();
}

LogicalResult PlanBuilder::addFor(scf::ForOp op, plan::Block &to) {
  if (op.getUnsignedCmp())
    return op.emitOpError("expected a signed comparison of the counter, got an "
                          "unsigned one");
  if (failed(checkIntegers(op, op->getOperandTypes())))
    return failure();
  FailureOr<Instruction> made =
      make(op, Opcode::For, op.getLowerBound().getType());
  if (failed(made))
    return failure();
  plan::Block &body = made->blocks.emplace_back();
  for (BlockArgument argument : op.getBody()->getArguments())
    body.arguments.push_back(define(argument));
  if (failed(addBlock(*op.getBody(), body)))
    return failure();
  to.code.push_back(std::move(*made));
  return success();
}

LogicalResult PlanBuilder::addYield(scf::YieldOp op, plan::Block &to) {
  Instruction yield;
  yield.op = Opcode::Yield;
  for (ValueId id : use(op.getOperands()))
    yield.operands.push_back(id);
  to.code.push_back(std::move(yield));
  return success();
}

FailureOr<BuiltPlan> raytention::buildPlan(ModuleOp module, StringRef entry) {
  auto func = module.lookupSymbol<func::FuncOp>(entry);
  if (!func)
    return module.emitOpError("expected a function @")
           << entry << " in the module, got none";
  PlanBuilder builder(module);
  if (failed(builder.run(func)))
    return failure();
  return builder.take();
}
