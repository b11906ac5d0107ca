//===- Compiler.cpp - from a spec or a text to machine code -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Compiler.h"
#include "codegen/Pipelines/CpuPipeline.h"
#include "codegen/Pipelines/Registration.h"
#include "dialect/RayTention/Differentiable.h"
#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/SweepLayout.h"
#include "passes/Pipelines/Passes.h"
#include "passes/Pipelines/ReferencePipeline.h"
#include "runtime/api/AttendBuilder.h"
#include "runtime/device/cpu/ParallelFor.h"
#include "runtime/support/Crew.h"
#include "runtime/support/FloatEnvironment.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace raytention;

namespace {

/// Keeps the first error instead of printing any.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (first.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            first = describe(diagnostic);
          return success();
        }) {}

  /// The error, or `otherwise` where a failure left none.
  llvm::Error takeError(const Twine &otherwise) {
    return llvm::createStringError(first.empty() ? otherwise : Twine(first));
  }

private:
  /// One line: where, then what.
  static std::string describe(Diagnostic &diagnostic) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      stream << place.getFilename().getValue() << ":" << place.getLine() << ":"
             << place.getColumn() << ": ";
    stream << diagnostic;
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
  }

  std::string first;
  ScopedDiagnosticHandler handler;
};

/// A context that knows every dialect and starts no threads.
class CompilerContext {
public:
  CompilerContext() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registerDialects(registry);
    registerLlvmTranslations(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }
  MLIRContext context;
};

} // namespace

/// The stages of a target; with gradients, one of them differentiates.
static SmallVector<PipelineStage> getStages(const CompileOptions &options) {
  if (options.target == TargetKind::Cpu)
    return SmallVector<PipelineStage>(options.backward ? getCpuGradientStages()
                                                       : getCpuStages());
  SmallVector<PipelineStage> stages(getReferenceStages());
  if (options.backward)
    stages.front().build = buildReferenceGradientPipeline;
  return stages;
}

/// The streaming gradient reads what the forward pass knows of its sums; the
/// reference computes them again.
static bool savesLogSums(const CompileOptions &options) {
  return options.backward && options.target == TargetKind::Cpu;
}

/// The module of the spec, before any pass.
static llvm::Expected<OwningOpRef<ModuleOp>>
buildModule(ArrayAttr channels, const AttentionSpec &spec,
            const CompileOptions &options) {
  ScheduleAttr schedule;
  if (options.target == TargetKind::Cpu) {
    auto chosen = buildSchedule(channels, spec, options);
    if (!chosen)
      return chosen.takeError();
    schedule = *chosen;
  }
  DiagnosticCapture diagnostics(channels.getContext());
  OwningOpRef<ModuleOp> module =
      buildAttendModule(channels, schedule, spec, savesLogSums(options));
  if (failed(verify(*module)))
    return diagnostics.takeError("expected a valid attention");
  return module;
}

//===----------------------------------------------------------------------===//
// A module given as text
//===----------------------------------------------------------------------===//

/// What a function takes and gives while it stands on tensors.
struct Signature {
  SmallVector<Type> inputs, results;
  SmallVector<Type> scratch; ///< what it takes besides, on buffers
};

static Signature getForwardSignature(ArrayAttr channels,
                                     const AttentionSpec &spec,
                                     const CompileOptions &options) {
  OwningOpRef<ModuleOp> model =
      buildAttendModule(channels, {}, spec, savesLogSums(options));
  auto func = model->lookupSymbol<func::FuncOp>(kAttendName);
  return {SmallVector<Type>(func.getArgumentTypes()),
          SmallVector<Type>(func.getResultTypes())};
}

/// As `--rt-differentiate` makes it.
static Signature getBackwardSignature(const Signature &forward,
                                      const CompileOptions &options) {
  Signature backward;
  backward.inputs = forward.inputs;
  llvm::append_range(backward.inputs, forward.results);
  backward.inputs.push_back(getAdjointType(forward.results.front()));
  for (Type type : forward.inputs)
    if (isa<RankedTensorType>(type) && getAdjointType(type))
      backward.results.push_back(getAdjointType(type));
  // Streaming: each row's part in the gradients of tau and the gammas, and the
  // gradients of the keys.
  if (options.target == TargetKind::Cpu) {
    auto queries = cast<RankedTensorType>(backward.results.front());
    auto gammas = cast<RankedTensorType>(backward.results.back());
    backward.scratch = {
        queries.clone({ShapedType::kDynamic, ShapedType::kDynamic,
                       1 + gammas.getDimSize(0)}),
        queries};
  }
  return backward;
}

/// Whether `func` takes what a run hands over, on tensors or on buffers.
static llvm::Error checkSignature(func::FuncOp func,
                                  const Signature &signature) {
  SmallVector<Type> expected = signature.inputs;
  bool onBuffers = func.getNumResults() == 0;
  if (onBuffers) {
    llvm::append_range(expected, signature.results);
    llvm::append_range(expected, signature.scratch);
  }
  auto mismatch = [&](const Twine &what) {
    return llvm::createStringError("expected @" + func.getName() + " to have " +
                                   what);
  };
  if (func.getNumArguments() != expected.size())
    return mismatch(Twine(expected.size()) + " arguments, got " +
                    Twine(func.getNumArguments()));
  for (auto [index, type] : llvm::enumerate(func.getArgumentTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    auto model = dyn_cast<ShapedType>(expected[index]);
    bool same = shaped && model
                    ? shaped.getElementType() == model.getElementType() &&
                          shaped.hasRank() &&
                          succeeded(verifyCompatibleShape(shaped, model))
                    : type == expected[index];
    if (!same)
      return mismatch("argument " + Twine(index) + " like " +
                      llvm::to_string(expected[index]) + ", got " +
                      llvm::to_string(type));
  }
  return llvm::Error::success();
}

/// Only what a run calls keeps its name; what that does not use is dropped.
static llvm::Error isolateSymbols(ModuleOp module) {
  DiagnosticCapture diagnostics(module.getContext());
  PassManager manager(module.getContext());
  IsolateSymbolsPassOptions options;
  options.entries = {kAttendName.str(), kBackwardName.str()};
  manager.addPass(createIsolateSymbolsPass(options));
  manager.addPass(createSymbolDCEPass());
  if (failed(manager.run(module)))
    return diagnostics.takeError("expected names that can be changed");
  return llvm::Error::success();
}

/// The module of `text`, with a schedule where it is at a stage without one.
static llvm::Expected<OwningOpRef<ModuleOp>>
parseModule(StringRef text, ArrayAttr channels, const AttentionSpec &spec,
            const CompileOptions &options) {
  MLIRContext *context = channels.getContext();
  DiagnosticCapture diagnostics(context);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(context), "module");
  if (!module)
    return diagnostics.takeError("expected a module of MLIR text");
  Operation *symbol = module->lookupSymbol(kAttendName);
  if (!symbol)
    return llvm::createStringError(
        "expected a function @attend in the module, got none");
  auto func = dyn_cast<func::FuncOp>(symbol);
  if (!func) {
    if (llvm::Error error = isolateSymbols(*module))
      return error;
    return module;
  }
  Signature signature = getForwardSignature(channels, spec, options);
  if (llvm::Error error = checkSignature(func, signature))
    return error;
  if (llvm::Error error = isolateSymbols(*module))
    return error;
  if (auto backward = module->lookupSymbol<func::FuncOp>(kBackwardName))
    if (llvm::Error error =
            checkSignature(backward, getBackwardSignature(signature, options)))
      return error;
  if (options.target == TargetKind::Cpu && !func->hasAttr(kScheduleName)) {
    auto schedule = buildSchedule(channels, spec, options);
    if (!schedule)
      return schedule.takeError();
    func->setAttr(kScheduleName, *schedule);
  }
  return module;
}

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

/// The first stage that `module` has not been through. A stage that verifies
/// what it is given does not accept the result of a later one.
static StringRef findNextStage(ModuleOp module, const CompileOptions &options) {
  auto func = dyn_cast_or_null<func::FuncOp>(module.lookupSymbol(kAttendName));
  if (!func)
    return "";
  if (module.lookupSymbol((kAttendName + "_entry").str()))
    return "llvm";
  if (func.getNumResults() == 0)
    return "cpu";
  if (options.target == TargetKind::Reference)
    return "reference";
  bool hasAttend = false, hasLoop = false;
  func.walk([&](Operation *op) {
    hasAttend |= isa<AttendOp>(op);
    hasLoop |= isa<LoopLikeOpInterface>(op);
  });
  bool isDifferentiated =
      !options.backward || module.lookupSymbol(kBackwardName);
  if (!isDifferentiated)
    return "gradient";
  return hasAttend ? "sweeps" : hasLoop ? "fused" : "tiled";
}

/// Runs the stages of the target that `module` still needs, up to and with
/// `last`; empty: all of them.
static llvm::Error runStages(ModuleOp module, const CompileOptions &options,
                             StringRef last) {
  DiagnosticCapture diagnostics(module.getContext());
  StringRef next = findNextStage(module, options);
  SmallVector<PipelineStage> stages = getStages(options);
  for (const PipelineStage &stage : ArrayRef(stages).drop_until(
           [&](const PipelineStage &known) { return known.name == next; })) {
    PassManager manager(module.getContext());
    stage.build(manager);
    if (failed(manager.run(module)))
      return diagnostics.takeError("expected stage '" + stage.name +
                                   "' to succeed");
    if (stage.name == last)
      break;
  }
  return llvm::Error::success();
}

static std::string getScheduleText(ModuleOp module) {
  Operation *func = module.lookupSymbol(kAttendName);
  Attribute schedule = func ? func->getAttr(kScheduleName) : Attribute();
  return schedule ? llvm::to_string(schedule) : "";
}

/// A given module may end in functions on other buffers than a run brings:
/// results left out or added, scratch of another kind.
static llvm::Error checkBuffers(ModuleOp module, ArrayAttr channels,
                                const AttentionSpec &spec,
                                const CompileOptions &options) {
  Signature forward = getForwardSignature(channels, spec, options);
  if (auto func = module.lookupSymbol<func::FuncOp>(kAttendName))
    if (llvm::Error error = checkSignature(func, forward))
      return error;
  auto func = module.lookupSymbol<func::FuncOp>(kBackwardName);
  if (!func || !options.backward)
    return llvm::Error::success();
  return checkSignature(func, getBackwardSignature(forward, options));
}

llvm::Expected<CompiledModule>
raytention::compileAttend(const AttentionSpec &spec,
                          const CompileOptions &options,
                          const StringRef *text) {
  CompilerContext compiler;
  auto channels = buildChannels(compiler.context, spec);
  if (!channels)
    return channels.takeError();
  auto module = text ? parseModule(*text, *channels, spec, options)
                     : buildModule(*channels, spec, options);
  if (!module)
    return module.takeError();
  CompiledModule result;
  result.scheduleText = getScheduleText(**module);
  result.signalWidth = getSignalWidth(*channels, spec.dModel);
  result.numIndices = getNumCopies(*channels);
  if (savesLogSums(options))
    result.numLogSums = GradientLayout::get(*channels).numSaved;
  if (llvm::Error error = runStages(**module, options, "cpu"))
    return error;
  if (llvm::Error error = checkBuffers(**module, *channels, spec, options))
    return error;
  if (llvm::Error error = runStages(**module, options, ""))
    return error;
  DiagnosticCapture diagnostics(&compiler.context);
  JitCallback callback{kParallelFor.str(),
                       reinterpret_cast<void *>(&rt_parallel_for)};
  auto jit = Jit::compile(**module, callback,
                          options.target == TargetKind::Reference
                              ? OptimizationEffort::Quick
                              : OptimizationEffort::Full);
  if (!jit)
    return jit.takeError();
  result.jit = std::move(*jit);
  return result;
}

llvm::Expected<std::string>
raytention::printStage(const AttentionSpec &spec, const CompileOptions &options,
                       StringRef stage) {
  ForkGuard guard;
  FloatEnvironment environment;
  CompileOptions target = options;
  if (stage == "reference")
    target.target = TargetKind::Reference;
  SmallVector<StringRef> known = {"attention"};
  for (const PipelineStage &known_ : getStages(target))
    known.push_back(known_.name);
  if (!llvm::is_contained(known, stage))
    return llvm::createStringError("expected a stage out of " +
                                   llvm::join(known, ", ") + ", got '" + stage +
                                   "'");
  CompilerContext compiler;
  auto channels = buildChannels(compiler.context, spec);
  if (!channels)
    return channels.takeError();
  auto module = buildModule(*channels, spec, target);
  if (!module)
    return module.takeError();
  if (stage != "attention")
    if (llvm::Error error = runStages(**module, target, stage))
      return error;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  (*module)->print(stream);
  return printed;
}
