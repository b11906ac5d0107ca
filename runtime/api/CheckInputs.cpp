//===- CheckInputs.cpp - are the inputs of a run in range -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"

#include "llvm/ADT/Twine.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace raytention;

/// Positions are 32-bit integers in compiled code.
static constexpr int64_t kMostPositions = std::numeric_limits<int32_t>::max();
/// Smallest base of a decay: its powers stay clear of denormals.
static const double kSmallestGamma = std::ldexp(1.0, -100);

/// A number as in the message of an error.
static std::string format(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

static Error checkSize(const char *name, int64_t size, int64_t most) {
  if (size >= 0 && size <= most)
    return Error::success();
  return createStringError(Twine("expected ") + name + " in [0, " +
                           Twine(most) + "], got " + Twine(size));
}

static Error checkSizes(const Inputs &inputs, int threads) {
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
  if (threads < 0)
    return createStringError("expected threads >= 0 (0: all cores), got " +
                             Twine(threads));
  return Error::success();
}

static Error checkPointers(const Inputs &inputs, const Outputs &outputs) {
  auto missing = [](const char *name) {
    return createStringError(Twine("expected a pointer to ") + name +
                             ", got null");
  };
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
  if (Error error = checkSizes(inputs, threads))
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
