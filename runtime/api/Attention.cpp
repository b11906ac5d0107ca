//===- Attention.cpp - compile and run --------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "runtime/api/CheckInputs.h"
#include "runtime/api/Compiler.h"
#include "runtime/api/MemRefArgument.h"
#include "runtime/device/cpu/ParallelFor.h"

#include <algorithm>
#include <chrono>
#include <new>

using namespace llvm;
using namespace raytention;

namespace {

using Clock = std::chrono::steady_clock;
using Entry = void(void **arguments);
using WorkspaceEntry = int64_t(void **arguments);

/// Arrays that the caller did not give but compiled code reads or writes.
struct Scratch {
  std::unique_ptr<int64_t[]> lengths;
  std::unique_ptr<char[]> norm;
  std::unique_ptr<int32_t[]> indices;
};

class CompiledAttention : public Attention {
public:
  CompiledAttention(AttentionSpec spec, CompileOptions options,
                    CompiledModule module, Entry *entry,
                    WorkspaceEntry *workspace, double milliseconds)
      : spec(std::move(spec)), options(options), module(std::move(module)),
        entry(entry), workspace(workspace), milliseconds(milliseconds) {}

  Expected<RunReport> run(const Inputs &inputs, const Outputs &outputs,
                          int threads) override;

  Expected<RunReport> runBackward(const Inputs &inputs,
                                  const Residuals &residuals,
                                  const void *dSignals,
                                  const Gradients &gradients,
                                  int threads) override;

  int64_t signalWidth() const override { return module.signalWidth; }
  int64_t numLogSums() const override { return module.numLogSums; }
  int64_t numIndices() const override { return module.numIndices; }
  double compileMs() const override { return milliseconds; }
  std::string scheduleText() const override { return module.scheduleText; }

private:
  int64_t outputBytes() const { return spec.dtype == DType::F64 ? 8 : 4; }
  void fillEmpty(const Inputs &inputs, const Outputs &outputs) const;
  Expected<Scratch> allocateScratch(const Inputs &inputs,
                                    const Outputs &outputs) const;
  Error checkWorkspace(void **arguments, const Inputs &inputs) const;
  Expected<RunReport> call(void **arguments);
  void choosePool(int threads);

  AttentionSpec spec;
  CompileOptions options;
  CompiledModule module;
  Entry *entry;
  WorkspaceEntry *workspace; ///< null: the code uses none
  double milliseconds;
  std::unique_ptr<cpu::WorkerPool> pool;
};

double getMilliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since)
      .count();
}

/// tau and gammas in the type of the accumulators.
struct Scalars {
  Scalars(const AttentionSpec &spec, const Inputs &inputs)
      : isDouble(spec.dtype == DType::F64), doubles(inputs.gammas) {
    doubles.push_back(inputs.tau);
    floats.assign(doubles.begin(), doubles.end());
  }
  const void *gammas() const {
    return isDouble ? static_cast<const void *>(doubles.data()) : floats.data();
  }
  const void *tau() const {
    return isDouble ? static_cast<const void *>(&doubles.back())
                    : &floats.back();
  }
  bool isDouble;
  std::vector<double> doubles;
  std::vector<float> floats;
};

} // namespace

/// No key is visible: every row is zero and chooses nothing.
void CompiledAttention::fillEmpty(const Inputs &inputs,
                                  const Outputs &outputs) const {
  int64_t rows = inputs.batch * inputs.numQueries;
  std::fill_n(static_cast<char *>(outputs.signals),
              rows * signalWidth() * outputBytes(), 0);
  if (outputs.norm)
    std::fill_n(static_cast<char *>(outputs.norm), rows * outputBytes(), 0);
  if (outputs.indices)
    std::fill_n(outputs.indices, rows * numIndices(), -1);
}

Expected<Scratch>
CompiledAttention::allocateScratch(const Inputs &inputs,
                                   const Outputs &outputs) const {
  Scratch scratch;
  int64_t rows = inputs.batch * inputs.numQueries;
  if (!inputs.lengths)
    scratch.lengths.reset(new (std::nothrow) int64_t[inputs.batch]);
  if (!outputs.norm)
    scratch.norm.reset(new (std::nothrow) char[rows * outputBytes()]);
  if (!outputs.indices)
    scratch.indices.reset(new (std::nothrow) int32_t[rows * numIndices() + 1]);
  if ((!inputs.lengths && !scratch.lengths) ||
      (!outputs.norm && !scratch.norm) ||
      (!outputs.indices && !scratch.indices))
    return createStringError("expected memory for the outputs that were not "
                             "asked for, got a refusal from the system");
  if (scratch.lengths)
    std::fill_n(scratch.lengths.get(), inputs.batch, inputs.numKeys);
  return scratch;
}

Error CompiledAttention::checkWorkspace(void **arguments,
                                        const Inputs &inputs) const {
  int64_t needed = workspace ? workspace(arguments) : 0;
  if (needed <= options.workspaceCap)
    return Error::success();
  return createStringError(
      "expected at most " + Twine(options.workspaceCap) +
      " bytes of workspace per worker, got a need of " + Twine(needed) +
      " for T = " + Twine(inputs.numKeys) +
      "; compile with max_keys of at least T or with recomputed scores, use a "
      "smaller query tile, or raise the cap");
}

void CompiledAttention::choosePool(int threads) {
  int wanted = threads ? threads : cpu::getDefaultThreads();
  if (!pool || pool->threads() != wanted)
    pool = std::make_unique<cpu::WorkerPool>(wanted);
}

Expected<RunReport> CompiledAttention::call(void **arguments) {
  RunReport report;
  report.threads = pool->threads();
  cpu::RunContext context(*pool);
  auto start = Clock::now();
  entry(arguments);
  report.runMs = getMilliseconds(start);
  if (Error error = context.takeError())
    return error;
  report.workspaceBytes = context.bytesInTotal();
  report.workspaceBytesPerThread = context.bytesPerWorker();
  return report;
}

Expected<RunReport> CompiledAttention::run(const Inputs &inputs,
                                           const Outputs &outputs,
                                           int threads) {
  if (Error error = checkInputs(spec, inputs, outputs, threads))
    return error;
  choosePool(threads);
  RunReport report;
  report.threads = pool->threads();
  if (inputs.batch == 0 || inputs.numQueries == 0)
    return report;
  if (inputs.numKeys == 0) {
    fillEmpty(inputs, outputs);
    return report;
  }
  Expected<Scratch> scratch = allocateScratch(inputs, outputs);
  if (!scratch)
    return scratch.takeError();
  Scalars scalars(spec, inputs);
  int64_t b = inputs.batch, tq = inputs.numQueries, t = inputs.numKeys;
  int64_t offset = inputs.queryOffset;
  auto either = [](const void *given, const void *own) {
    return given ? given : own;
  };
  MemRefArgument queries(inputs.queries, {b, tq, spec.dModel});
  MemRefArgument table(inputs.table, {inputs.vocab, spec.dModel});
  MemRefArgument ids(inputs.ids, {b, t});
  MemRefArgument tau(scalars.tau(), {});
  MemRefArgument gammas(scalars.gammas(), {spec.numGammas});
  MemRefArgument lengths(either(inputs.lengths, scratch->lengths.get()), {b});
  MemRefArgument signals(outputs.signals, {b, tq, signalWidth()});
  MemRefArgument norm(either(outputs.norm, scratch->norm.get()), {b, tq});
  MemRefArgument indices(either(outputs.indices, scratch->indices.get()),
                         {b, tq, numIndices()});
  void *arguments[] = {queries.address(), table.address(),   ids.address(),
                       tau.address(),     gammas.address(),  &offset,
                       lengths.address(), signals.address(), norm.address(),
                       indices.address()};
  if (Error error = checkWorkspace(arguments, inputs))
    return error;
  return call(arguments);
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

Expected<RunReport> CompiledAttention::runBackward(const Inputs &,
                                                   const Residuals &,
                                                   const void *,
                                                   const Gradients &, int) {
  return createStringError("gradients are not supported yet");
}

Attention::~Attention() = default;

static Error checkOptions(const CompileOptions &options) {
  if (options.workspaceCap < 0)
    return createStringError("expected a workspace cap >= 0 bytes, got " +
                             Twine(options.workspaceCap));
  if (options.maxKeys < 0)
    return createStringError("expected a longest sequence >= 0, got " +
                             Twine(options.maxKeys));
  return Error::success();
}

static Expected<std::unique_ptr<Attention>>
compileModuleOrSpec(const AttentionSpec &spec, const CompileOptions &options,
                    const StringRef *text) {
  auto start = Clock::now();
  if (Error error = checkOptions(options))
    return error;
  Expected<CompiledModule> module = compileAttend(spec, options, text);
  if (!module)
    return module.takeError();
  Jit &jit = *module->jit;
  auto entry = jit.lookup<Entry>("attend_entry");
  if (!entry)
    return entry.takeError();
  WorkspaceEntry *workspace = nullptr;
  if (jit.contains("attend_workspace_entry")) {
    auto found = jit.lookup<WorkspaceEntry>("attend_workspace_entry");
    if (!found)
      return found.takeError();
    workspace = *found;
  }
  return std::make_unique<CompiledAttention>(spec, options, std::move(*module),
                                             *entry, workspace,
                                             getMilliseconds(start));
}

Expected<std::unique_ptr<Attention>>
Attention::compile(const AttentionSpec &spec, const CompileOptions &options) {
  return compileModuleOrSpec(spec, options, nullptr);
}

Expected<std::unique_ptr<Attention>>
Attention::compileModule(StringRef mlirText, const AttentionSpec &spec,
                         const CompileOptions &options) {
  return compileModuleOrSpec(spec, options, &mlirText);
}

std::vector<std::string> raytention::defaultChannels() {
  return {"centroid",
          "decay:forward:0",
          "decay:backward:1",
          "decay:backward:2",
          "decay:backward:3",
          "predecessor",
          "top:1",
          "top:2",
          "decay:backward:4",
          "antitop",
          "spread",
          "entropy"};
}

std::vector<std::string> raytention::sevenChannels() {
  return {"centroid", "decay:backward:0", "predecessor", "top:1",
          "top:2",    "spread",           "entropy"};
}
