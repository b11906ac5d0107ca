//===- RunBackward.cpp - one backward run -----------------------*- C++ -*-===//
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
#include <new>

using namespace llvm;
using namespace raytention;

/// No row sees a key, so nothing depends on anything.
void CompiledAttention::fillZero(const Inputs &inputs,
                                 const Gradients &gradients) const {
  auto fill = [&](void *gradient, int64_t count) {
    if (count)
      std::fill_n(static_cast<char *>(gradient), count * outputBytes(), 0);
  };
  fill(gradients.queries, inputs.batch * inputs.numQueries * spec.dModel);
  fill(gradients.table, inputs.vocab * spec.dModel);
  fill(gradients.tau, 1);
  fill(gradients.gammas, spec.numGammas);
}

Expected<RunReport> CompiledAttention::runBackward(const Inputs &inputs,
                                                   const Residuals &residuals,
                                                   const void *dSignals,
                                                   const Gradients &gradients,
                                                   int threads) {
  FloatEnvironment environment;
  if (!backward.run)
    return createStringError("expected an attention that was compiled with "
                             "gradients, got one without");
  if (Error error = checkBackward(spec, inputs, residuals, dSignals, gradients,
                                  numIndices(), numLogSums(), threads))
    return error;
  choosePool(threads);
  RunReport report;
  report.threads = pool->threads();
  if (inputs.batch == 0 || inputs.numQueries == 0 || inputs.numKeys == 0) {
    fillZero(inputs, gradients);
    return report;
  }
  Expected<Scratch> scratch = allocateBackward(inputs);
  if (!scratch)
    return scratch.takeError();
  Scalars scalars(spec, inputs);
  int64_t b = inputs.batch, tq = inputs.numQueries, t = inputs.numKeys;
  int64_t d = spec.dModel, v = inputs.vocab, n = spec.numGammas;
  int64_t offset = inputs.queryOffset;
  const void *lengths =
      inputs.lengths ? inputs.lengths : scratch->lengths.get();
  // In the order of the compiled function: its forward's arguments and
  // results, the gradient of the signals, the gradients; streaming code has
  // log-sums among the results, and ends with scratch of its own.
  std::vector<MemRefArgument> memrefs = {
      {inputs.queries, {b, tq, d}},
      {inputs.table, {v, d}},
      {inputs.ids, {b, t}},
      {scalars.tau(), {}},
      {scalars.gammas(), {n}},
      {lengths, {b}},
      {residuals.signals, {b, tq, signalWidth()}},
      {residuals.norm, {b, tq}},
      {residuals.indices, {b, tq, numIndices()}}};
  if (isStreaming())
    memrefs.push_back({residuals.logSums, {b, tq, numLogSums()}});
  memrefs.insert(memrefs.end(), {{dSignals, {b, tq, signalWidth()}},
                                 {gradients.queries, {b, tq, d}},
                                 {gradients.table, {v, d}},
                                 {gradients.tau, {}},
                                 {gradients.gammas, {n}}});
  if (isStreaming())
    memrefs.insert(memrefs.end(),
                   {{scratch->parameterParts.get(), {b, tq, 1 + n}},
                    {scratch->keyGradients.get(), {b, t, d}}});
  std::vector<void *> arguments;
  for (MemRefArgument &memref : memrefs)
    arguments.push_back(memref.address());
  arguments.insert(arguments.begin() + 5, &offset);
  Expected<RunReport> run = call(backward, arguments.data(), inputs);
  if (run)
    run->workspaceBytes += scratch->backwardBytes;
  return run;
}

Expected<CompiledAttention::Scratch>
CompiledAttention::allocateBackward(const Inputs &inputs) const {
  Scratch scratch;
  if (Error error = allocateLengths(inputs, scratch))
    return error;
  if (!isStreaming())
    return scratch;
  int64_t parts = inputs.batch * inputs.numQueries * (1 + spec.numGammas);
  int64_t keys = inputs.batch * inputs.numKeys * spec.dModel;
  scratch.backwardBytes = (parts + keys) * outputBytes();
  scratch.parameterParts.reset(new (std::nothrow) char[parts * outputBytes()]);
  scratch.keyGradients.reset(new (std::nothrow) char[keys * outputBytes()]);
  if (!scratch.parameterParts || !scratch.keyGradients)
    return createStringError(std::make_error_code(std::errc::not_enough_memory),
                             "expected " + Twine(scratch.backwardBytes) +
                                 " bytes of memory for the gradients of the "
                                 "keys, got a refusal from "
                                 "the system");
  return scratch;
}
