//===- Jit.cpp - LLVM dialect to machine code in this process ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/Jit.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <mutex>

using namespace llvm;
using namespace raytention;

void raytention::registerLlvmTranslations(mlir::DialectRegistry &registry) {
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
}

/// LLVM's table of targets is one per process and not safe to fill twice at
/// the same time.
static void initializeHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
}

static Expected<orc::JITTargetMachineBuilder> detectHost() {
  initializeHost();
  auto builder = orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  // What the linker in this process expects of x86-64 and AArch64.
  builder->setRelocationModel(Reloc::PIC_);
  builder->setCodeModel(CodeModel::Small);
  builder->setCodeGenOptLevel(CodeGenOptLevel::Default);
  return builder;
}

/// The O2 or O1 pipeline, tuned for the machine that `target` describes.
static void optimize(Module &module, TargetMachine &target,
                     OptimizationEffort effort) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(&target);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  bool isFull = effort == OptimizationEffort::Full;
  builder
      .buildPerModuleDefaultPipeline(isFull ? OptimizationLevel::O2
                                            : OptimizationLevel::O1)
      .run(module, modules);
}

/// Everything runs on one machine, so every function may use all of it.
static void setHostAttributes(Module &module, TargetMachine &target) {
  module.setDataLayout(target.createDataLayout());
  module.setTargetTriple(target.getTargetTriple());
  for (Function &function : module) {
    function.addFnAttr("target-cpu", target.getTargetCPU());
    function.addFnAttr("target-features", target.getTargetFeatureString());
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

Expected<std::unique_ptr<MemoryBuffer>>
raytention::compileToObject(mlir::ModuleOp module, OptimizationEffort effort) {
  auto builder = detectHost();
  if (!builder)
    return builder.takeError();
  if (effort == OptimizationEffort::Quick)
    builder->setCodeGenOptLevel(CodeGenOptLevel::None);
  auto target = builder->createTargetMachine();
  if (!target)
    return target.takeError();
  LLVMContext context;
  std::unique_ptr<Module> translated =
      mlir::translateModuleToLLVMIR(module, context, "raytention");
  if (!translated)
    return createStringError("expected a module of the LLVM dialect, got one "
                             "that has no translation to LLVM IR");
  setHostAttributes(*translated, **target);
  optimize(*translated, **target, effort);
  return orc::SimpleCompiler(**target)(*translated);
}

/// Names of an object's symbols, defined or not, sorted.
static Expected<std::vector<std::string>> findSymbols(MemoryBufferRef bytes,
                                                      bool wantUndefined) {
  auto object = object::ObjectFile::createObjectFile(bytes);
  if (!object)
    return object.takeError();
  std::vector<std::string> names;
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    bool isUndefined = *flags & object::SymbolRef::SF_Undefined;
    if (!name->empty() && isUndefined == wantUndefined)
      names.push_back(name->str());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Expected<std::vector<std::string>>
raytention::findUndefinedSymbols(MemoryBufferRef object) {
  return findSymbols(object, /*wantUndefined=*/true);
}

Jit::~Jit() = default;

static Error defineCallbacks(orc::LLJIT &lljit,
                             ArrayRef<JitCallback> callbacks) {
  orc::SymbolMap symbols;
  for (const JitCallback &callback : callbacks)
    symbols[lljit.mangleAndIntern(callback.name)] = {
        orc::ExecutorAddr::fromPtr(callback.address),
        JITSymbolFlags::Exported | JITSymbolFlags::Callable};
  return lljit.getMainJITDylib().define(
      orc::absoluteSymbols(std::move(symbols)));
}

Expected<std::unique_ptr<Jit>> Jit::load(std::unique_ptr<MemoryBuffer> object,
                                         ArrayRef<JitCallback> callbacks) {
  std::unique_ptr<Jit> jit(new Jit());
  auto undefined = findSymbols(object->getMemBufferRef(), true);
  if (!undefined)
    return undefined.takeError();
  auto defined = findSymbols(object->getMemBufferRef(), false);
  if (!defined)
    return defined.takeError();
  jit->undefined = std::move(*undefined);
  jit->defined = std::move(*defined);
  auto builder = detectHost();
  if (!builder)
    return builder.takeError();
  auto lljit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!lljit)
    return lljit.takeError();
  // The cause of a failed lookup is reported, not returned; LLVM would print.
  (*lljit)->getExecutionSession().setErrorReporter(
      [&reported = jit->reported](Error error) {
        reported += toString(std::move(error)) + "; ";
      });
  if (Error error = defineCallbacks(**lljit, callbacks))
    return error;
  jit->bytes = MemoryBuffer::getMemBufferCopy(object->getBuffer());
  if (Error error = (*lljit)->addObjectFile(std::move(object)))
    return error;
  jit->lljit = std::move(*lljit);
  return jit;
}

Expected<std::unique_ptr<Jit>> Jit::compile(mlir::ModuleOp module,
                                            ArrayRef<JitCallback> callbacks,
                                            OptimizationEffort effort) {
  auto object = compileToObject(module, effort);
  if (!object)
    return object.takeError();
  return load(std::move(*object), callbacks);
}

bool Jit::contains(StringRef symbol) const {
  return std::binary_search(defined.begin(), defined.end(), symbol.str());
}

Expected<void *> Jit::lookupAddress(StringRef symbol) {
  if (!contains(symbol))
    return createStringError("expected a function '" + symbol +
                             "' in the compiled code, got none");
  auto address = lljit->lookup(symbol);
  if (!address)
    return createStringError(reported + toString(address.takeError()));
  return address->toPtr<void *>();
}
