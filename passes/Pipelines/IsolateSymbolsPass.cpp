//===- IsolateSymbolsPass.cpp - names that nobody else has ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Pipelines/Passes.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/RuntimeLibcalls.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace raytention {
#define GEN_PASS_DEF_ISOLATESYMBOLSPASS
#include "passes/Pipelines/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

/// No library and no pass makes a name that begins so.
static constexpr llvm::StringLiteral kOwnPrefix = "own.";

static bool isDeclaration(SymbolOpInterface symbol) {
  Operation *op = symbol;
  if (auto data = dyn_cast<memref::GlobalOp>(op))
    return data.isExternal();
  if (auto data = dyn_cast<LLVM::GlobalOp>(op))
    return !data.getValueOrNull() && data.getInitializerRegion().empty();
  if (auto func = dyn_cast<FunctionOpInterface>(op))
    return func.isExternal();
  return symbol.isDeclaration();
}

/// What a function takes and gives, before or after its lowering.
static FunctionType getFunctionType(Operation *op) {
  if (auto func = dyn_cast_or_null<func::FuncOp>(op))
    return func.getFunctionType();
  auto func = dyn_cast_or_null<LLVM::LLVMFuncOp>(op);
  if (!func)
    return {};
  SmallVector<Type> results;
  if (!isa<LLVM::LLVMVoidType>(func.getFunctionType().getReturnType()))
    results.push_back(func.getFunctionType().getReturnType());
  return FunctionType::get(op->getContext(), func.getFunctionType().getParams(),
                           results);
}

static bool isLibraryName(StringRef name) {
  static const llvm::TargetLibraryInfoImpl libraries{
      llvm::Triple(llvm::sys::getProcessTriple())};
  llvm::LibFunc ignored;
  return libraries.getLibFunc(name, ignored) ||
         !llvm::RTLIB::RuntimeLibcallsInfo::lookupLibcallImplName(name).empty();
}

namespace {

/// Functions of one module that keep their names, and those that passes make
/// beside them.
class SymbolIsolator {
public:
  SymbolIsolator(ModuleOp module, ArrayRef<std::string> entries)
      : table(module), symbols(module.getOps<SymbolOpInterface>()),
        onlyEntries(!entries.empty()) {
    for (StringRef entry : entries)
      roots.insert(entry);
    if (!onlyEntries)
      for (SymbolOpInterface symbol : symbols)
        if (symbol.isPublic() && getFunctionType(symbol))
          roots.insert(symbol.getName());
  }

  /// The number of symbols renamed.
  FailureOr<unsigned> run();

private:
  LogicalResult checkDeclaration(SymbolOpInterface symbol);
  FailureOr<bool> keepsName(SymbolOpInterface symbol);
  bool isMade(SymbolOpInterface symbol, StringRef root, StringRef suffix);
  LogicalResult rename(SymbolOpInterface symbol);
  /// The function beside which passes make one called `name`.
  std::optional<StringRef> findRoot(StringRef name, StringRef &suffix) const;

  SymbolTable table;
  SmallVector<SymbolOpInterface> symbols;
  bool onlyEntries;
  llvm::StringSet<> roots;
};

struct IsolateSymbolsPass
    : public raytention::impl::IsolateSymbolsPassBase<IsolateSymbolsPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<unsigned> renamed =
        SymbolIsolator(getOperation(), *entries).run();
    if (failed(renamed))
      return signalPassFailure();
    numRenamed += *renamed;
  }
};

} // namespace

FailureOr<unsigned> SymbolIsolator::run() {
  unsigned numRenamed = 0;
  for (SymbolOpInterface symbol : symbols) {
    if (isDeclaration(symbol)) {
      if (failed(checkDeclaration(symbol)))
        return failure();
      continue;
    }
    FailureOr<bool> keeps = keepsName(symbol);
    if (failed(keeps) || (!*keeps && failed(rename(symbol))))
      return failure();
    numRenamed += !*keeps;
  }
  return numRenamed;
}

std::optional<StringRef> SymbolIsolator::findRoot(StringRef name,
                                                  StringRef &suffix) const {
  for (StringRef made : {"_workspace_entry", "_workspace", "_scratch_entry",
                         "_scratch", "_entry"})
    if (name.ends_with(made) && roots.contains(name.drop_back(made.size()))) {
      suffix = made;
      return name.drop_back(made.size());
    }
  return std::nullopt;
}

static InFlightDiagnostic refuse(SymbolOpInterface symbol) {
  return symbol->emitOpError("@") << symbol.getName() << ' ';
}

LogicalResult SymbolIsolator::checkDeclaration(SymbolOpInterface symbol) {
  StringRef name = symbol.getName(), suffix;
  if (std::optional<StringRef> root = findRoot(name, suffix))
    return refuse(symbol) << "expected another name: the compiler makes a "
                             "function of this one beside @"
                          << *root;
  if (name.starts_with("llvm."))
    return refuse(symbol) << "expected a name that does not begin with llvm.";
  if (!getFunctionType(symbol))
    return refuse(symbol) << "expected a value, got data from outside of the "
                             "module";
  if (name != kParallelFor)
    return success();
  MLIRContext *context = symbol->getContext();
  Type pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = IntegerType::get(context, 64);
  auto type = FunctionType::get(context, {pointer, i64, i64, pointer}, {});
  if (getFunctionType(symbol) == type)
    return success();
  return refuse(symbol) << "expected the type " << type;
}

/// Whether `symbol` is what passes make beside `root`, which then stands on
/// buffers.
bool SymbolIsolator::isMade(SymbolOpInterface symbol, StringRef root,
                            StringRef suffix) {
  FunctionType from = getFunctionType(table.lookup(root));
  FunctionType type = getFunctionType(symbol);
  if (!type || !from || from.getNumResults() != 0 || !symbol.isPublic())
    return false;
  Type pointer = LLVM::LLVMPointerType::get(symbol->getContext());
  bool isEntry = suffix.ends_with("_entry");
  bool isScratch = suffix.starts_with("_scratch");
  bool givesBytes = isScratch || suffix.starts_with("_workspace");
  // The scratch itself comes last, in one argument or in its parts.
  ArrayRef<Type> inputs = from.getInputs();
  if (isEntry)
    inputs = pointer;
  else if (isScratch)
    inputs = inputs.take_front(type.getNumInputs());
  if (type.getInputs() != inputs)
    return false;
  return givesBytes
             ? type.getNumResults() == 1 && type.getResult(0).isInteger(64)
             : type.getNumResults() == 0;
}

FailureOr<bool> SymbolIsolator::keepsName(SymbolOpInterface symbol) {
  StringRef name = symbol.getName(), suffix;
  if (onlyEntries && roots.contains(name)) {
    if (symbol.isPublic())
      return true;
    return refuse(symbol) << "expected to be public, since it is called from "
                             "outside, got a private one";
  }
  if (!symbol.isPublic())
    return false;
  if (std::optional<StringRef> root = findRoot(name, suffix)) {
    if (isMade(symbol, *root, suffix))
      return true;
    return refuse(symbol) << "expected another name, or private: the compiler "
                             "makes a function of this one beside @"
                          << *root;
  }
  if (onlyEntries)
    return false;
  if (isLibraryName(name) || name == kParallelFor || name.starts_with("llvm."))
    return refuse(symbol) << "expected another name, or private: compiled code "
                             "calls a library's function of this one";
  return true;
}

LogicalResult SymbolIsolator::rename(SymbolOpInterface symbol) {
  symbol.setPrivate();
  if (isa<func::FuncOp>(symbol))
    symbol->setAttr(
        "llvm.linkage",
        LLVM::LinkageAttr::get(symbol->getContext(), LLVM::Linkage::Internal));
  std::string wanted = symbol.getName().str();
  if (!StringRef(wanted).starts_with(kOwnPrefix))
    wanted.insert(0, kOwnPrefix);
  std::string name = wanted;
  for (unsigned count = 0; Operation *other = table.lookup(name); ++count) {
    if (other == symbol)
      return success();
    name = wanted + "." + std::to_string(count);
  }
  if (succeeded(table.rename(symbol, name)))
    return success();
  return symbol->emitOpError("expected uses that can be renamed");
}
