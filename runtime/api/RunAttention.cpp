//===- RunAttention.cpp - one forward run -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"
#include "runtime/api/ChooseSchedule.h"
#include "runtime/api/CompiledAttention.h"
#include "runtime/support/FloatEnvironment.h"

#include <algorithm>
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

/// Of all keys, where none are given.
Expected<std::unique_ptr<int64_t[]>>
CompiledAttention::makeLengths(const Inputs &inputs) {
  if (inputs.lengths)
    return nullptr;
  std::unique_ptr<int64_t[]> lengths(new (std::nothrow) int64_t[inputs.batch]);
  if (!lengths)
    return createStringError(std::make_error_code(std::errc::not_enough_memory),
                             "expected memory for the lengths of " +
                                 Twine(inputs.batch) +
                                 " sequences, got a refusal from the system");
  std::fill_n(lengths.get(), inputs.batch, inputs.numKeys);
  return lengths;
}

std::vector<CallArgument>
CompiledAttention::describeInputs(const Inputs &inputs, const Scalars &scalars,
                                  const int64_t *lengths) const {
  int64_t b = inputs.batch, t = inputs.numKeys, d = spec.dModel;
  int64_t element = spec.dtype == DType::BF16 ? 2 : outputBytes();
  CallArgument offset;
  offset.index = inputs.queryOffset;
  return {readArray(inputs.queries, element, {b, inputs.numQueries, d}),
          readArray(inputs.table, element, {inputs.vocab, d}),
          readArray(inputs.ids, spec.idBits / 8, {b, t}),
          readArray(scalars.tau(), outputBytes(), {}),
          readArray(scalars.gammas(), outputBytes(), {spec.numGammas}),
          offset,
          readArray(inputs.lengths ? inputs.lengths : lengths, 8, {b})};
}

RunReport CompiledAttention::reportNothing(int threads) const {
  RunReport report;
  report.threads = module().code->chooseThreads(threads);
  return report;
}

/// Tokens are counted where it matters.
KeyStatistics CompiledAttention::countKeys(const Inputs &inputs) const {
  if (!mayFold || inputs.numKeys < 2 * kFoldRows)
    return {inputs.numKeys};
  return raytention::countKeys(spec, inputs, kFoldRows);
}

Expected<RunReport> CompiledAttention::call(BackEnd::Function function,
                                            ArrayRef<CallArgument> arguments,
                                            const Inputs &inputs, int threads) {
  Expected<double> compileMs = variants.select(countKeys(inputs));
  if (!compileMs)
    return compileMs.takeError();
  module().code->chooseThreads(threads);
  Expected<RunReport> report =
      module().code->call(function, arguments, inputs.numKeys);
  if (report)
    report->compileMs = *compileMs;
  return report;
}

Expected<RunReport> CompiledAttention::runForward(const Inputs &inputs,
                                                  const Outputs &outputs,
                                                  int threads) {
  FloatEnvironment environment;
  if (Error error = checkInputs(spec, inputs, outputs, threads))
    return error;
  if (inputs.batch == 0 || inputs.numQueries == 0)
    return reportNothing(threads);
  if (inputs.numKeys == 0) {
    fillEmpty(inputs, outputs);
    return reportNothing(threads);
  }
  auto lengths = makeLengths(inputs);
  if (!lengths)
    return lengths.takeError();
  Scalars scalars(spec, inputs);
  std::vector<CallArgument> arguments =
      describeInputs(inputs, scalars, lengths->get());
  int64_t b = inputs.batch, tq = inputs.numQueries;
  arguments.push_back(
      writeArray(outputs.signals, outputBytes(), {b, tq, signalWidth()}));
  arguments.push_back(writeArray(outputs.norm, outputBytes(), {b, tq}));
  arguments.push_back(writeArray(outputs.indices, 4, {b, tq, numIndices()}));
  if (module().savesLogSums)
    arguments.push_back(
        writeArray(outputs.logSums, outputBytes(), {b, tq, numLogSums()}));
  return call(BackEnd::Function::Forward, arguments, inputs, threads);
}
