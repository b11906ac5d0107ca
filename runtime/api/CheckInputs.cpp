//===- CheckInputs.cpp - are the inputs of a run in range -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <charconv>
#include <cmath>
#include <limits>

using namespace llvm;
using namespace raytention;

/// Positions are 32-bit integers in compiled code.
static constexpr int64_t kMostPositions = std::numeric_limits<int32_t>::max();
/// As many as rt run --threads takes.
static constexpr int kMostThreads = 1024;
/// Smallest base of a decay: its powers stay clear of denormals.
static const double kSmallestGamma = std::ldexp(1.0, -100);

/// A number as in the message of an error, in any locale.
static std::string format(double value) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), value,
                           std::chars_format::general, 9);
  return std::string(text, end.ptr);
}

static Error checkSize(const char *name, int64_t size, int64_t most) {
  if (size >= 0 && size <= most)
    return Error::success();
  return createStringError(Twine("expected ") + name + " in [0, " +
                           Twine(most) + "], got " + Twine(size));
}

/// Bytes of any array are counted in 63 bits.
static Error checkBytes(const AttentionSpec &spec, const Inputs &inputs) {
  // No array has more numbers per row than this, of 8 bytes at most.
  uint64_t channels = spec.channels.size() + 1;
  uint64_t width = SaturatingMultiplyAdd(channels, uint64_t(spec.dModel) + 8,
                                         uint64_t(spec.numGammas));
  auto count = [&](int64_t rows, int64_t columns) {
    return SaturatingMultiply(
        SaturatingMultiply(uint64_t(rows), uint64_t(columns)), 8 * width);
  };
  constexpr uint64_t most = std::numeric_limits<int64_t>::max();
  if (count(inputs.batch, inputs.numQueries) <= most &&
      count(inputs.batch, inputs.numKeys) <= most &&
      count(inputs.vocab, 1) <= most)
    return Error::success();
  return createStringError(
      "expected arrays of less than 2^63 bytes, got B = " +
      Twine(inputs.batch) + ", Tq = " + Twine(inputs.numQueries) +
      ", T = " + Twine(inputs.numKeys) + ", V = " + Twine(inputs.vocab) +
      ", D = " + Twine(spec.dModel));
}

static Error checkSizes(const AttentionSpec &spec, const Inputs &inputs,
                        int threads) {
  constexpr int64_t any = std::numeric_limits<int32_t>::max();
  if (Error error = checkSize("a batch", inputs.batch, any))
    return error;
  if (Error error = checkSize("a number of queries Tq", inputs.numQueries,
                              kMostPositions))
    return error;
  if (Error error =
          checkSize("a number of keys T", inputs.numKeys, kMostPositions))
    return error;
  if (Error error = checkSize("a vocabulary V", inputs.vocab,
                              std::numeric_limits<int64_t>::max()))
    return error;
  if (Error error = checkSize("a query offset", inputs.queryOffset,
                              kMostPositions - inputs.numQueries))
    return error;
  if (threads < 0 || threads > kMostThreads)
    return createStringError("expected threads in [0, " + Twine(kMostThreads) +
                             "] (0: all cores), got " + Twine(threads));
  return checkBytes(spec, inputs);
}

static Error missing(const char *name) {
  return createStringError(Twine("expected a pointer to ") + name +
                           ", got null");
}

static Error checkPointers(const Inputs &inputs, const Outputs &outputs) {
  if (inputs.batch == 0 || inputs.numQueries == 0)
    return Error::success();
  if (!outputs.signals)
    return missing("the signals");
  if (inputs.numKeys == 0)
    return Error::success();
  if (!inputs.queries)
    return missing("the queries");
  if (!inputs.ids)
    return missing("the ids");
  if (!inputs.table && inputs.vocab > 0)
    return missing("the table");
  return Error::success();
}

template <typename Id> static Error checkIds(const Inputs &inputs) {
  const Id *ids = static_cast<const Id *>(inputs.ids);
  for (int64_t b = 0; b < inputs.batch; ++b)
    for (int64_t j = 0; j < inputs.numKeys; ++j) {
      int64_t id = ids[b * inputs.numKeys + j];
      if (id < 0 || id >= inputs.vocab)
        return createStringError("expected ids in [0, " + Twine(inputs.vocab) +
                                 "), got " + Twine(id) + " at batch " +
                                 Twine(b) + ", position " + Twine(j));
    }
  return Error::success();
}

static Error checkLengths(const Inputs &inputs) {
  for (int64_t b = 0; inputs.lengths && b < inputs.batch; ++b)
    if (inputs.lengths[b] < 0 || inputs.lengths[b] > inputs.numKeys)
      return createStringError(
          "expected lengths in [0, " + Twine(inputs.numKeys) + "], got " +
          Twine(inputs.lengths[b]) + " at batch " + Twine(b));
  return Error::success();
}

static Error checkScalars(const AttentionSpec &spec, const Inputs &inputs) {
  if (!std::isfinite(inputs.tau))
    return createStringError("expected a finite tau, got " +
                             Twine(format(inputs.tau)));
  if (static_cast<int64_t>(inputs.gammas.size()) != spec.numGammas)
    return createStringError("expected " + Twine(spec.numGammas) +
                             " gammas, got " + Twine(inputs.gammas.size()));
  for (size_t index = 0; index < inputs.gammas.size(); ++index) {
    double gamma = inputs.gammas[index];
    if (!(gamma >= kSmallestGamma && gamma <= 1))
      return createStringError("expected gammas in [2^-100, 1], got " +
                               Twine(format(gamma)) + " at index " +
                               Twine(index));
  }
  return Error::success();
}

Error raytention::checkInputs(const AttentionSpec &spec, const Inputs &inputs,
                              const Outputs &outputs, int threads) {
  if (Error error = checkSizes(spec, inputs, threads))
    return error;
  if (Error error = checkPointers(inputs, outputs))
    return error;
  if (Error error = checkScalars(spec, inputs))
    return error;
  if (Error error = checkLengths(inputs))
    return error;
  if (!inputs.ids)
    return Error::success();
  return spec.idBits == 32 ? checkIds<int32_t>(inputs)
                           : checkIds<int64_t>(inputs);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

static Error checkGradients(const AttentionSpec &spec, const Inputs &inputs,
                            const Gradients &gradients) {
  if (!gradients.queries && inputs.batch * inputs.numQueries > 0)
    return missing("the gradient of the queries");
  if (!gradients.table && inputs.vocab > 0)
    return missing("the gradient of the table");
  if (!gradients.tau)
    return missing("the gradient of tau");
  if (!gradients.gammas && spec.numGammas > 0)
    return missing("the gradient of the gammas");
  return Error::success();
}

static Error checkResiduals(const Residuals &residuals, const void *dSignals,
                            int64_t numIndices, int64_t numLogSums) {
  if (!residuals.norm)
    return missing("the norms of the forward run");
  if (!residuals.indices && numIndices > 0)
    return missing("the indices of the forward run");
  if (!residuals.logSums && numLogSums > 0)
    return missing("the log-sums of the forward run");
  if (!dSignals)
    return missing("the gradient of the signals");
  return Error::success();
}

/// A gradient is added at these positions; -1 where a row chose none.
static Error checkIndices(const Inputs &inputs, const int32_t *indices,
                          int64_t numIndices) {
  int64_t perSequence = inputs.numQueries * numIndices;
  for (int64_t n = 0; n < inputs.batch * perSequence; ++n)
    if (indices[n] < -1 || indices[n] >= inputs.numKeys)
      return createStringError("expected indices of the forward run in [-1, " +
                               Twine(inputs.numKeys) + "), got " +
                               Twine(indices[n]) + " at batch " +
                               Twine(n / perSequence) + ", row " +
                               Twine(n % perSequence / numIndices));
  return Error::success();
}

Error raytention::checkBackward(const AttentionSpec &spec, const Inputs &inputs,
                                const Residuals &residuals,
                                const void *dSignals,
                                const Gradients &gradients, int64_t numIndices,
                                int64_t numLogSums, int threads) {
  Outputs outputs;
  outputs.signals = const_cast<void *>(residuals.signals);
  if (Error error = checkInputs(spec, inputs, outputs, threads))
    return error;
  if (Error error = checkGradients(spec, inputs, gradients))
    return error;
  if (inputs.batch == 0 || inputs.numQueries == 0 || inputs.numKeys == 0)
    return Error::success();
  if (Error error = checkResiduals(residuals, dSignals, numIndices, numLogSums))
    return error;
  return checkIndices(inputs, residuals.indices, numIndices);
}
