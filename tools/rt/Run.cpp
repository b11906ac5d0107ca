//===- Run.cpp - the subcommand run ---------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Run.h"

#include "runtime/api/StatusError.h"
#include "runtime/device/cpu/ParallelFor.h"
#include "runtime/support/ClassicLocale.h"
#include "runtime/support/FloatEnvironment.h"
#include "tools/rt/Check.h"
#include "tools/rt/Doctor.h"
#include "tools/rt/Explain.h"
#include "tools/rt/Gradcheck.h"
#include "tools/rt/InputFile.h"
#include "tools/rt/Measure.h"
#include "tools/rt/Progress.h"
#include "tools/rt/Report.h"
#include "tools/rt/ToolError.h"

using llvm::Error;
using llvm::Expected;

namespace raytention::tool {

static CompileOptions compileOptions(const RunOptions &options,
                                     const RunInputs &inputs) {
  CompileOptions compile;
  compile.target = options.target;
  compile.schedule = options.schedule;
  compile.workspaceCap = options.workspaceCap;
  compile.expectedKeys = inputs.numKeys;
  compile.backward = options.backward;
  return compile;
}

/// What can be said before anything is compiled. The library itself judges the
/// channels: it knows their list.
static Error validate(const RunOptions &options, const RunInputs &inputs) {
  if (Error error = checkExplainRows(inputs, options.explain))
    return error;
  if (options.check)
    if (Error error = checkable(inputs.spec))
      return error;
  return toError(
      printStage(inputs.spec, compileOptions(options, inputs), "attention")
          .status());
}

/// The module of --ir; null without.
static Expected<std::unique_ptr<llvm::MemoryBuffer>>
readModule(const RunOptions &options) {
  if (options.irPath.empty())
    return nullptr;
  return readWhole(options.irPath, "--ir " + options.irPath, INT32_MAX);
}

static Expected<std::unique_ptr<Attention>>
compileFor(const RunOptions &options, const RunInputs &inputs,
           const llvm::MemoryBuffer *module, const CompileFunction &function) {
  Progress progress("compile");
  CompileOptions compile = compileOptions(options, inputs);
  if (module)
    return toExpected(
        Attention::compileModule(module->getBuffer(), inputs.spec, compile));
  return toExpected(function ? function(inputs.spec, compile)
                             : Attention::compile(inputs.spec, compile));
}

/// Runs `options.repeat` times. Memory is measured over the first run, which
/// allocates; the time is the median of all.
static Error runForwardRepeatedly(const RunOptions &options,
                                  const RunInputs &inputs, Attention &attention,
                                  RunResult &result) {
  Progress progress("run", options.repeat > 1 ? options.repeat : 0);
  Outputs outputs;
  outputs.signals = result.signals.data();
  outputs.norm = result.norm.data();
  outputs.indices = result.numIndices ? result.indices.as<int32_t>() : nullptr;
  outputs.logSums = inputs.backward ? result.logSums.data() : nullptr;
  std::vector<double> times;
  PeakMeter meter;
  for (int64_t i = 0; i < options.repeat; ++i) {
    if (i == 0)
      meter.start();
    Result<RunReport> report =
        attention.run(inputs.view(), outputs, options.threads);
    if (!report)
      return toError(report.status());
    if (i == 0)
      result.peakExtraBytes = meter.extraBytes();
    result.report = *report;
    times.push_back(report->runMs);
    progress.step();
  }
  result.report.runMs = median(std::move(times));
  return Error::success();
}

static Expected<RunResult> runAll(const RunOptions &options,
                                  const RunInputs &inputs,
                                  Attention &attention) {
  RunResult result;
  result.dtype = inputs.spec.dtype;
  result.width = attention.signalWidth();
  result.numIndices = attention.numIndices();
  result.numLogSums = attention.numLogSums();
  result.compileMs = attention.compileMs();
  result.schedule = attention.scheduleText();
  if (Error error = allocateOutputs(inputs, result))
    return error;
  if (Error error = runForwardRepeatedly(options, inputs, attention, result))
    return error;
  if (inputs.backward)
    if (Error error = runBackwardRepeatedly(attention, inputs, options.repeat,
                                            options.threads, result))
      return error;
  return result;
}

/// The checks that are wanted.
static Error checkInto(const RunOptions &options, Attention &attention,
                       RunInputs &inputs, Report &report) {
  if (options.check) {
    CheckSettings settings;
    settings.seed = options.seed;
    settings.threads =
        options.threads ? options.threads : cpu::getDefaultThreads();
    settings.queryTile = options.schedule.queryTile
                             ? options.schedule.queryTile
                             : queryTileOf(report.result.schedule);
    auto outcome = checkResult(attention, inputs, report.result, settings);
    if (!outcome)
      return outcome.takeError();
    report.check = std::move(*outcome);
  }
  if (options.gradcheck) {
    auto outcome = gradcheck(attention, inputs, report.result, options.seed,
                             options.threads);
    if (!outcome)
      return outcome.takeError();
    report.gradcheck = std::move(*outcome);
  }
  return Error::success();
}

static Expected<std::unique_ptr<OutputDir>>
openFolder(const RunOptions &options) {
  if (options.outPath.empty())
    return nullptr;
  return OutputDir::create(options.outPath, resultFiles());
}

Expected<int> runAttention(const RunOptions &options,
                           const CompileFunction &compile,
                           llvm::raw_ostream &os) {
  auto folder = openFolder(options);
  if (!folder)
    return folder.takeError();
  auto module = readModule(options);
  if (!module)
    return module.takeError();
  Expected<RunInputs> inputs = assembleInputs(options);
  if (!inputs)
    return inputs.takeError();
  if (Error error = validate(options, *inputs))
    return error;
  if (*folder)
    if (Error error = (*folder)->checkRoom(resultFileSizes(*inputs)))
      return error;
  auto attention = compileFor(options, *inputs, module->get(), compile);
  if (!attention)
    return attention.takeError();
  Expected<RunResult> result = runAll(options, *inputs, **attention);
  if (!result)
    return result.takeError();

  Report report{*inputs, *result, options.target, {}, {}, {}};
  if (Error error = checkInto(options, **attention, *inputs, report))
    return error;
  for (ExplainRow row : options.explain)
    report.explanations.push_back(explainRow(*inputs, *result, row));
  if (*folder && report.passed()) {
    if (Error error = writeResult(*inputs, *result, **folder))
      return error;
    if (Error error = (*folder)->commit())
      return error;
  }
  options.json ? printJson(report, os) : printReport(report, os);
  return report.passed() ? ExitDone : ExitCheckFailed;
}

int runTool(llvm::ArrayRef<const char *> args, llvm::raw_ostream &out,
            llvm::raw_ostream &err, const CompileFunction &compile) {
  FloatEnvironment environment;
  ClassicLocale locale;
  Expected<Command> command = parseCommandLine(args);
  if (!command)
    return reportError(command.takeError(), err);
  switch (command->kind) {
  case Command::Kind::Help:
    printHelp(out);
    return ExitDone;
  case Command::Kind::RunHelp:
    printRunHelp(out);
    return ExitDone;
  case Command::Kind::DoctorHelp:
    printDoctorHelp(out);
    return ExitDone;
  case Command::Kind::Doctor: {
    Expected<int> code = runDoctor(command->doctor, out);
    return code ? *code : reportError(code.takeError(), err);
  }
  case Command::Kind::Version:
    out << "rt 0.1\n";
    return ExitDone;
  case Command::Kind::Run:
    break;
  }
  Expected<int> code = runAttention(command->run, compile, out);
  if (!code)
    return reportError(code.takeError(), err);
  if (*code == ExitCheckFailed) {
    err << "rt: check not passed"
        << (command->run.outPath.empty() ? "" : ": nothing written to --out")
        << "\n";
  }
  return *code;
}

} // namespace raytention::tool
