//===- RunBackward.cpp - one backward run -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"
#include "runtime/api/CompiledAttention.h"
#include "runtime/support/FloatEnvironment.h"

#include <algorithm>

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

Expected<RunReport> CompiledAttention::runGradient(const Inputs &inputs,
                                                   const Residuals &residuals,
                                                   const void *dSignals,
                                                   const Gradients &gradients,
                                                   int threads) {
  FloatEnvironment environment;
  if (!module().code->has(BackEnd::Function::Backward))
    return createStringError("expected an attention that was compiled with "
                             "gradients, got one without");
  if (Error error = checkBackward(spec, inputs, residuals, dSignals, gradients,
                                  numIndices(), numLogSums(), threads))
    return error;
  if (inputs.batch == 0 || inputs.numQueries == 0 || inputs.numKeys == 0) {
    fillZero(inputs, gradients);
    return reportNothing(threads);
  }
  auto lengths = makeLengths(inputs);
  if (!lengths)
    return lengths.takeError();
  Scalars scalars(spec, inputs);
  int64_t b = inputs.batch, tq = inputs.numQueries;
  int64_t d = spec.dModel, n = spec.numGammas, bytes = outputBytes();
  // In the order of the compiled function: its forward's arguments and
  // results, the gradient of the signals, the gradients; streaming code has
  // log-sums among the results.
  std::vector<CallArgument> arguments =
      describeInputs(inputs, scalars, lengths->get());
  auto add = [&](CallArgument argument) {
    arguments.push_back(std::move(argument));
  };
  add(readArray(residuals.signals, bytes, {b, tq, signalWidth()}));
  add(readArray(residuals.norm, bytes, {b, tq}));
  add(readArray(residuals.indices, 4, {b, tq, numIndices()}));
  if (module().savesLogSums)
    add(readArray(residuals.logSums, bytes, {b, tq, numLogSums()}));
  add(readArray(dSignals, bytes, {b, tq, signalWidth()}));
  add(writeArray(gradients.queries, bytes, {b, tq, d}));
  add(writeArray(gradients.table, bytes, {inputs.vocab, d}));
  add(writeArray(gradients.tau, bytes, {}));
  add(writeArray(gradients.gammas, bytes, {n}));
  return call(BackEnd::Function::Backward, arguments, inputs.numKeys, threads);
}
