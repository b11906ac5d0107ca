//===- RunAttention.cpp - one forward run -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"
#include "runtime/api/CompiledAttention.h"
#include "runtime/api/MemRefArgument.h"
#include "runtime/support/FloatEnvironment.h"

#include <algorithm>
#include <chrono>
#include <new>

using namespace llvm;
using namespace raytention;

Scalars::Scalars(const AttentionSpec &spec, const Inputs &inputs)
    : isDouble(spec.dtype == DType::F64), doubles(inputs.gammas) {
  doubles.push_back(inputs.tau);
  floats.assign(doubles.begin(), doubles.end());
}

const void *Scalars::gammas() const {
  return isDouble ? static_cast<const void *>(doubles.data()) : floats.data();
}

const void *Scalars::tau() const {
  return isDouble ? static_cast<const void *>(&doubles.back()) : &floats.back();
}

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
  if (outputs.logSums)
    std::fill_n(static_cast<char *>(outputs.logSums),
                rows * numLogSums() * outputBytes(), 0);
}

static Error refuseMemory() {
  return createStringError(
      std::make_error_code(std::errc::not_enough_memory),
      "expected memory for the arrays that were not given, got a refusal from "
      "the system");
}

Error CompiledAttention::allocateLengths(const Inputs &inputs,
                                         Scratch &scratch) const {
  if (inputs.lengths)
    return Error::success();
  scratch.lengths.reset(new (std::nothrow) int64_t[inputs.batch]);
  if (!scratch.lengths)
    return refuseMemory();
  std::fill_n(scratch.lengths.get(), inputs.batch, inputs.numKeys);
  return Error::success();
}

Expected<CompiledAttention::Scratch>
CompiledAttention::allocateScratch(const Inputs &inputs,
                                   const Outputs &outputs) const {
  Scratch scratch;
  if (Error error = allocateLengths(inputs, scratch))
    return error;
  int64_t rows = inputs.batch * inputs.numQueries;
  if (!outputs.norm)
    scratch.norm.reset(new (std::nothrow) char[rows * outputBytes()]);
  if (!outputs.indices)
    scratch.indices.reset(new (std::nothrow) int32_t[rows * numIndices() + 1]);
  if (!outputs.logSums)
    scratch.logSums.reset(
        new (std::nothrow) char[rows * numLogSums() * outputBytes() + 1]);
  if ((!outputs.norm && !scratch.norm) ||
      (!outputs.indices && !scratch.indices) ||
      (!outputs.logSums && !scratch.logSums))
    return refuseMemory();
  return scratch;
}

Error CompiledAttention::checkWorkspace(const EntryPoint &entry,
                                        void **arguments,
                                        const Inputs &inputs) const {
  int64_t needed = entry.workspace ? entry.workspace(arguments) : 0;
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
  if (!pool || pool->wanted() != wanted)
    pool = std::make_unique<cpu::WorkerPool>(wanted);
}

Expected<RunReport> CompiledAttention::call(const EntryPoint &entry,
                                            void **arguments,
                                            const Inputs &inputs) {
  if (Error error = checkWorkspace(entry, arguments, inputs))
    return error;
  using Clock = std::chrono::steady_clock;
  RunReport report;
  cpu::RunContext context(*pool);
  auto start = Clock::now();
  entry.run(arguments);
  std::chrono::duration<double, std::milli> elapsed = Clock::now() - start;
  report.runMs = elapsed.count();
  if (Error error = context.takeError())
    return error;
  report.threads = pool->threads(); // known only now
  report.workspaceBytes = context.bytesInTotal();
  report.workspaceBytesPerThread = context.bytesPerWorker();
  return report;
}

Expected<RunReport> CompiledAttention::run(const Inputs &inputs,
                                           const Outputs &outputs,
                                           int threads) {
  FloatEnvironment environment;
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
  MemRefArgument logSums(either(outputs.logSums, scratch->logSums.get()),
                         {b, tq, numLogSums()});
  // Code that saves no log-sums does not look for the last one.
  void *arguments[] = {queries.address(), table.address(),   ids.address(),
                       tau.address(),     gammas.address(),  &offset,
                       lengths.address(), signals.address(), norm.address(),
                       indices.address(), logSums.address()};
  return call(forward, arguments, inputs);
}
