//===- ObjectCode.cpp - LLVM dialect to object files ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/ObjectCode.h"
#include "runtime/support/Crew.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/CompileUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <algorithm>
#include <atomic>
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

Expected<orc::JITTargetMachineBuilder> raytention::detectHost() {
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
  // What is worth vectors is written in vectors: those of the rests of rows
  // would only be more code.
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.LoopInterleaving = false;
  PassBuilder builder(&target, tuning);
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

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

using Names = std::vector<std::string>;

/// A function of as many instructions is worth a part, and so a thread, of its
/// own.
static constexpr unsigned kLargeFunction = 1000;

/// The functions with code of each part: the large ones, the largest first,
/// then all others together, which are inlined into each other alone.
static std::vector<Names> divideFunctions(const Module &module) {
  std::vector<const Function *> large;
  Names small;
  for (const Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (function.getInstructionCount() >= kLargeFunction)
      large.push_back(&function);
    else
      small.push_back(function.getName().str());
  }
  llvm::stable_sort(large, [](const Function *a, const Function *b) {
    return a->getInstructionCount() > b->getInstructionCount();
  });
  std::vector<Names> parts;
  for (const Function *function : large)
    parts.push_back({function->getName().str()});
  parts.push_back(std::move(small));
  return parts;
}

/// Whether parts may have copies of their own.
static bool isCopied(const GlobalVariable &global) {
  return global.isConstant() && global.hasLocalLinkage();
}

static void show(GlobalValue &value) {
  if (!value.hasLocalLinkage())
    return;
  value.setLinkage(GlobalValue::ExternalLinkage);
  value.setVisibility(GlobalValue::HiddenVisibility);
}

/// Parts call functions of each other and share data, so none is theirs alone;
/// outside of the linked code they stay unknown.
static void showShared(Module &module) {
  for (Function &function : module)
    show(function);
  for (GlobalVariable &global : module.globals())
    if (!isCopied(global))
      show(global);
}

/// Leaves the code of `names` alone, and data that parts share only where it
/// is asked for.
static void keepPart(Module &module, const Names &names, bool hasData) {
  for (Function &function : module)
    if (!function.isDeclaration() &&
        !llvm::is_contained(names, function.getName()))
      function.deleteBody();
  for (GlobalVariable &global : module.globals())
    if (!hasData && !isCopied(global)) {
      global.setInitializer(nullptr);
      global.setLinkage(GlobalValue::ExternalLinkage);
    }
}

/// The part of a module that has code for `names` alone.
static Expected<std::unique_ptr<MemoryBuffer>>
compilePart(MemoryBufferRef bitcode, const Names &names, bool hasData,
            OptimizationEffort effort) {
  auto builder = detectHost();
  if (!builder)
    return builder.takeError();
  if (effort == OptimizationEffort::Quick)
    builder->setCodeGenOptLevel(CodeGenOptLevel::None);
  auto target = builder->createTargetMachine();
  if (!target)
    return target.takeError();
  LLVMContext context;
  auto module = parseBitcodeFile(bitcode, context);
  if (!module)
    return module.takeError();
  keepPart(**module, names, hasData);
  setHostAttributes(**module, **target);
  optimize(**module, **target, effort);
  return orc::SimpleCompiler(**target)(**module);
}

static Expected<SmallVector<char, 0>> translate(mlir::ModuleOp module,
                                                std::vector<Names> &parts) {
  LLVMContext context;
  std::unique_ptr<Module> translated =
      mlir::translateModuleToLLVMIR(module, context, "raytention");
  if (!translated)
    return createStringError("expected a module of the LLVM dialect, got one "
                             "that has no translation to LLVM IR");
  showShared(*translated);
  parts = divideFunctions(*translated);
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(*translated, stream);
  return bitcode;
}

Expected<Objects> raytention::compileToObjects(mlir::ModuleOp module,
                                               OptimizationEffort effort,
                                               int workers) {
  std::vector<Names> parts;
  auto bitcode = translate(module, parts);
  if (!bitcode)
    return bitcode.takeError();
  MemoryBufferRef bytes(StringRef(bitcode->data(), bitcode->size()),
                        "raytention");
  Objects objects(parts.size());
  std::vector<std::string> errors(parts.size());
  std::atomic<size_t> next = 0;
  int limit = std::min<int64_t>(std::max(workers, 1), parts.size());
  runTogether(limit, [&](int) {
    for (size_t i; (i = next++) < parts.size();) {
      auto object = compilePart(bytes, parts[i], i + 1 == parts.size(), effort);
      if (object)
        objects[i] = std::move(*object);
      else
        errors[i] = toString(object.takeError());
    }
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return createStringError(error);
  return objects;
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

/// Adds an object's symbols, by name.
static Error addSymbols(MemoryBufferRef bytes, Symbols &symbols) {
  auto object = object::ObjectFile::createObjectFile(bytes);
  if (!object)
    return object.takeError();
  for (const object::SymbolRef &symbol : (*object)->symbols()) {
    Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    bool isUndefined = *flags & object::SymbolRef::SF_Undefined;
    if (!name->empty())
      (isUndefined ? symbols.undefined : symbols.defined).insert(name->str());
  }
  return Error::success();
}

Expected<Symbols> raytention::findSymbols(const Objects &objects) {
  Symbols symbols;
  for (const std::unique_ptr<MemoryBuffer> &object : objects)
    if (Error error = addSymbols(object->getMemBufferRef(), symbols))
      return error;
  for (const std::string &name : symbols.defined)
    symbols.undefined.erase(name);
  return symbols;
}
