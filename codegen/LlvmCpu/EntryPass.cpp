//===- EntryPass.cpp - entry points with one array of pointers --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Passes.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/SymbolTable.h"

namespace raytention {
#define GEN_PASS_DEF_CPUENTRYPASS
#include "codegen/LlvmCpu/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// Public, with a body, returning nothing or one i64, and no entry itself.
static bool wantsEntry(func::FuncOp func) {
  if (func.isExternal() || func.isPrivate())
    return false;
  ArrayRef<Type> results = func.getFunctionType().getResults();
  if (!results.empty() && !(results.size() == 1 && results[0].isInteger(64)))
    return false;
  ArrayRef<Type> inputs = func.getFunctionType().getInputs();
  return inputs.size() != 1 || !isa<LLVM::LLVMPointerType>(inputs[0]);
}

/// The argument that slot `index` of `arguments` points to.
static Value loadArgument(OpBuilder &builder, Location loc, Value arguments,
                          int32_t index, Type type, Type converted) {
  Type pointer = arguments.getType();
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, arguments,
                                   LLVM::GEPArg(index));
  Value address = LLVM::LoadOp::create(builder, loc, pointer, slot);
  Value value = LLVM::LoadOp::create(builder, loc, converted, address);
  if (type == converted)
    return value;
  return UnrealizedConversionCastOp::create(builder, loc, type, value)
      .getResult(0);
}

/// Builds the entry of `func`, whose argument types all have an LLVM form.
static void createEntry(func::FuncOp func, StringRef name,
                        ArrayRef<Type> converted, SymbolTable &symbols) {
  Location loc = func.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(func.getContext());
  auto type = FunctionType::get(func.getContext(), {pointer},
                                func.getFunctionType().getResults());
  auto entry = func::FuncOp::create(loc, name, type);
  symbols.insert(entry, std::next(func->getIterator()));
  OpBuilder builder = OpBuilder::atBlockBegin(entry.addEntryBlock());
  SmallVector<Value> arguments;
  for (auto [index, pair] :
       llvm::enumerate(llvm::zip_equal(func.getArgumentTypes(), converted)))
    arguments.push_back(loadArgument(builder, loc, entry.getArgument(0), index,
                                     std::get<0>(pair), std::get<1>(pair)));
  auto call = func::CallOp::create(builder, loc, func, arguments);
  func::ReturnOp::create(builder, loc, call.getResults());
}

static LogicalResult convertTypes(func::FuncOp func,
                                  SmallVectorImpl<Type> &converted) {
  LLVMTypeConverter converter(func.getContext());
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    converted.push_back(converter.convertType(type));
    if (!converted.back() || !LLVM::isCompatibleType(converted.back()))
      return func.emitOpError("expected buffers and scalars as arguments of "
                              "an entry point, got ")
             << type << " as argument " << index;
  }
  return success();
}

/// Whether an earlier run of this pass made the entry `name` of `func`; an
/// error where something else has that name.
static FailureOr<bool> hasEntry(func::FuncOp func, StringRef name,
                                SymbolTable &symbols) {
  Operation *known = symbols.lookup(name);
  if (!known)
    return false;
  Type pointer = LLVM::LLVMPointerType::get(func.getContext());
  auto type = FunctionType::get(func.getContext(), {pointer},
                                func.getFunctionType().getResults());
  auto entry = dyn_cast<func::FuncOp>(known);
  if (entry && entry.isPublic() && entry.getFunctionType() == type)
    return true;
  return known->emitOpError("expected another name than that of the entry "
                            "point of @")
         << func.getName();
}

namespace {

struct CpuEntryPass : public raytention::impl::CpuEntryPassBase<CpuEntryPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    auto funcs = llvm::to_vector(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp func : funcs) {
      std::string name = (func.getName() + "_entry").str();
      if (!wantsEntry(func))
        continue;
      FailureOr<bool> known = hasEntry(func, name, symbols);
      if (failed(known))
        return signalPassFailure();
      if (*known)
        continue;
      SmallVector<Type> converted;
      if (failed(convertTypes(func, converted)))
        return signalPassFailure();
      createEntry(func, name, converted, symbols);
      ++numEntries;
    }
  }
};

} // namespace
