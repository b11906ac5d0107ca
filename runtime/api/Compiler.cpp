//===- Compiler.cpp - from a spec or a text to machine code -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Compiler.h"
#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/SweepLayout.h"
#include "passes/Pipelines/Passes.h"
#include "runtime/api/AttendBuilder.h"
#include "runtime/api/ChooseSchedule.h"
#include "runtime/api/CompileTarget.h"
#include "runtime/api/CompilerContext.h"
#include "runtime/api/Signature.h"
#include "runtime/api/StatusError.h"
#include "runtime/support/Crew.h"
#include "runtime/support/FloatEnvironment.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace raytention;

/// Where the number of keys is not known, and where it is small.
static constexpr int64_t kAnyKeys = 0, kFewKeys = 1;

namespace {

/// One attention on its way through the stages of its target.
class Lowering {
public:
  /// All outlive it. `channels` are those of `spec`.
  Lowering(ArrayAttr channels, const AttentionSpec &spec,
           const CompileOptions &options)
      : channels(channels), spec(spec), options(options),
        target(getCompileTarget(options.target)) {}

  llvm::Expected<Schedules> chooseSchedules(const KeyStatistics &keys) const {
    return target.chooseSchedules(channels, spec, options, keys);
  }
  /// Those for the expected number of keys; where there is none, or nothing
  /// fits it, those for `otherwise`.
  llvm::Expected<Schedules> chooseExpected(int64_t otherwise) const;
  /// The module of the spec, before any pass.
  llvm::Error build(const Schedules &schedules);
  /// The module of `text`, with a schedule where it is at a stage without one.
  llvm::Error parse(StringRef text);
  /// Runs the stages that the module still needs, up to and with `last`; empty:
  /// all of them.
  llvm::Error runStages(StringRef last);
  llvm::Expected<CompiledModule> compile();
  void print(llvm::raw_ostream &os) { module->print(os); }

private:
  /// The streaming gradient reads what the forward pass knows of its sums; the
  /// reference computes them again.
  bool savesLogSums() const { return options.backward && target.isStreaming(); }
  llvm::Error checkFunctions(func::FuncOp forward);
  llvm::Error addSchedule(func::FuncOp func);
  llvm::Error isolateSymbols();
  llvm::Error checkBuffers();

  ArrayAttr channels;
  const AttentionSpec &spec;
  const CompileOptions &options;
  const CompileTarget &target;
  OwningOpRef<ModuleOp> module;
};

} // namespace

//===----------------------------------------------------------------------===//
// The module at its first stage
//===----------------------------------------------------------------------===//

llvm::Expected<Schedules> Lowering::chooseExpected(int64_t otherwise) const {
  if (options.expectedKeys == 0)
    return chooseSchedules({otherwise});
  auto expected = chooseSchedules(
      estimateKeys(options.expectedKeys, options.expectedTokens, kFoldRows));
  if (expected)
    return expected;
  auto fallback = chooseSchedules({otherwise});
  if (!fallback) {
    llvm::consumeError(fallback.takeError());
    return expected;
  }
  llvm::consumeError(expected.takeError());
  return fallback;
}

llvm::Error Lowering::build(const Schedules &schedules) {
  DiagnosticCapture diagnostics(channels.getContext());
  module = buildAttendModule(channels, schedules, spec, savesLogSums());
  if (failed(verify(*module)))
    return diagnostics.takeError("expected a valid attention");
  return llvm::Error::success();
}

/// Only what a run calls keeps its name; what that does not use is dropped.
llvm::Error Lowering::isolateSymbols() {
  DiagnosticCapture diagnostics(module->getContext());
  PassManager manager(module->getContext());
  IsolateSymbolsPassOptions passOptions;
  passOptions.entries = {kAttendName.str(), kBackwardName.str()};
  manager.addPass(createIsolateSymbolsPass(passOptions));
  manager.addPass(createSymbolDCEPass());
  if (failed(manager.run(*module)))
    return diagnostics.takeError("expected names that can be changed");
  return llvm::Error::success();
}

llvm::Error Lowering::addSchedule(func::FuncOp func) {
  if (!target.isStreaming() || func->hasAttr(kScheduleName))
    return llvm::Error::success();
  auto schedules = chooseExpected(kAnyKeys);
  if (!schedules)
    return schedules.takeError();
  schedules->set(func);
  return llvm::Error::success();
}

llvm::Error Lowering::checkFunctions(func::FuncOp forward) {
  if (llvm::Error error = checkForward(forward, channels, spec, savesLogSums()))
    return error;
  if (llvm::Error error = isolateSymbols())
    return error;
  auto backward = module->lookupSymbol<func::FuncOp>(kBackwardName);
  return backward ? checkBackward(backward, channels, spec, savesLogSums())
                  : llvm::Error::success();
}

llvm::Error Lowering::parse(StringRef text) {
  MLIRContext *context = channels.getContext();
  DiagnosticCapture diagnostics(context);
  module = parseSourceString<ModuleOp>(text, ParserConfig(context), "module");
  if (!module)
    return diagnostics.takeError("expected a module of MLIR text");
  Operation *symbol = module->lookupSymbol(kAttendName);
  if (!symbol)
    return llvm::createStringError(
        "expected a function @attend in the module, got none");
  llvm::Expected<bool> isFinished = target.isFinished(*module);
  if (!isFinished || *isFinished)
    return isFinished.takeError();
  auto func = dyn_cast<func::FuncOp>(symbol);
  if (!func)
    return isolateSymbols();
  if (llvm::Error error = checkFunctions(func))
    return error;
  return addSchedule(func);
}

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

llvm::Error Lowering::runStages(StringRef last) {
  DiagnosticCapture diagnostics(module->getContext());
  StringRef next = target.findNextStage(*module, options);
  SmallVector<PipelineStage> stages = target.getStages(options);
  for (const PipelineStage &stage : ArrayRef(stages).drop_until(
           [&](const PipelineStage &known) { return known.name == next; })) {
    PassManager manager(module->getContext());
    stage.build(manager);
    if (failed(manager.run(*module)))
      return diagnostics.takeError("expected stage '" + stage.name +
                                   "' to succeed");
    if (stage.name == last)
      break;
  }
  return llvm::Error::success();
}

/// A given module may end in functions on other buffers than a run brings:
/// results left out or added, scratch of another kind.
llvm::Error Lowering::checkBuffers() {
  if (auto func = module->lookupSymbol<func::FuncOp>(kAttendName))
    if (llvm::Error error = checkForward(func, channels, spec, savesLogSums()))
      return error;
  auto func = module->lookupSymbol<func::FuncOp>(kBackwardName);
  if (!func || !options.backward)
    return llvm::Error::success();
  return checkBackward(func, channels, spec, savesLogSums());
}

static std::string getScheduleText(ModuleOp module) {
  Operation *func = module.lookupSymbol(kAttendName);
  Attribute schedule = func ? func->getAttr(kScheduleName) : Attribute();
  if (!schedule)
    return "";
  std::string text = llvm::to_string(schedule);
  Attribute backward = func->getAttr(kBackwardScheduleName);
  return backward ? text + ", backward " + llvm::to_string(backward) : text;
}

llvm::Expected<CompiledModule> Lowering::compile() {
  CompiledModule result;
  result.scheduleText = getScheduleText(*module);
  result.signalWidth = getSignalWidth(channels, spec.dModel);
  result.numIndices = getNumCopies(channels);
  result.savesLogSums = savesLogSums();
  if (result.savesLogSums)
    result.numLogSums = GradientLayout::get(channels).numSaved;
  // Where functions are still functions, on the buffers of a run.
  if (llvm::Error error = runStages("cpu"))
    return error;
  if (llvm::Error error = checkBuffers())
    return error;
  if (llvm::Error error = runStages(""))
    return error;
  DiagnosticCapture diagnostics(module->getContext());
  auto code = target.compile(*module, options);
  if (!code)
    return code.takeError();
  result.code = std::move(*code);
  return result;
}

llvm::Expected<std::unique_ptr<AttentionCompiler>>
AttentionCompiler::create(const AttentionSpec &spec,
                          const CompileOptions &options) {
  std::unique_ptr<AttentionCompiler> created(
      new AttentionCompiler(spec, options));
  auto channels = buildChannels(created->compiler.context, spec);
  if (!channels)
    return channels.takeError();
  created->channels = *channels;
  if (llvm::Error error = getCompileTarget(options.target).check(options))
    return error;
  return created;
}

llvm::Expected<Schedules>
AttentionCompiler::chooseSchedules(const KeyStatistics &keys) const {
  return Lowering(channels, spec, options).chooseSchedules(keys);
}

llvm::Expected<Schedules> AttentionCompiler::chooseSchedules() const {
  return Lowering(channels, spec, options).chooseExpected(kFewKeys);
}

llvm::Expected<CompiledModule>
AttentionCompiler::compile(const Schedules &schedules) const {
  Lowering lowering(channels, spec, options);
  if (llvm::Error error = lowering.build(schedules))
    return error;
  auto compiled = lowering.compile();
  // The spec was checked: what is refused now, no other spelling helps.
  if (!compiled)
    return withCode(compiled.takeError(), StatusCode::Unsupported);
  return compiled;
}

llvm::Expected<CompiledModule>
AttentionCompiler::compile(StringRef text) const {
  Lowering lowering(channels, spec, options);
  if (llvm::Error error = lowering.parse(text))
    return error;
  return lowering.compile();
}

static llvm::Expected<std::string> printText(const AttentionSpec &spec,
                                             const CompileOptions &options,
                                             StringRef stage) {
  ForkGuard guard;
  FloatEnvironment environment;
  CompileOptions target = options;
  if (stage == "reference")
    target.target = TargetKind::Reference;
  SmallVector<StringRef> known = {"attention"};
  for (const PipelineStage &known_ :
       getCompileTarget(target.target).getStages(target))
    known.push_back(known_.name);
  if (!llvm::is_contained(known, stage))
    return llvm::createStringError("expected a stage out of " +
                                   llvm::join(known, ", ") + ", got '" + stage +
                                   "'");
  CompilerContext compiler;
  auto channels = buildChannels(compiler.context, spec);
  if (!channels)
    return channels.takeError();
  Lowering lowering(*channels, spec, target);
  auto schedules = lowering.chooseExpected(kAnyKeys);
  if (!schedules)
    return schedules.takeError();
  if (llvm::Error error = lowering.build(*schedules))
    return error;
  if (stage != "attention")
    if (llvm::Error error = lowering.runStages(stage))
      return error;
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  lowering.print(stream);
  return printed;
}

Result<std::string> raytention::printStage(const AttentionSpec &spec,
                                           const CompileOptions &options,
                                           std::string_view stage) {
  return toResult(printText(spec, options, stage));
}
