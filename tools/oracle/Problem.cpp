//===- Problem.cpp - what the oracle is asked -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Problem.h"

#include <cmath>

using namespace raytention::oracle;

int64_t Problem::signalWidth() const {
  int64_t width = 0;
  for (const Channel &channel : channels)
    width += channel.width(dModel);
  return width;
}

int64_t Problem::numIndices() const {
  int64_t count = 0;
  for (const Channel &channel : channels)
    count += channel.isCopy();
  return count;
}

namespace {

/// "`what`: expected `expected`, got `got`".
std::string wrong(const std::string &what, const std::string &expected,
                  const std::string &got) {
  return what + ": expected " + expected + ", got " + got;
}

Error checkSize(const char *name, size_t got, int64_t expected) {
  if (got == static_cast<size_t>(expected))
    return std::nullopt;
  return wrong(std::string("elements of ") + name, std::to_string(expected),
               std::to_string(got));
}

Error checkShapes(const Problem &p) {
  if (p.batch < 0 || p.numQueries < 0 || p.numKeys < 0 || p.vocab < 0 ||
      p.queryOffset < 0)
    return "expected sizes and query_offset of at least 0";
  if (p.dModel < 1)
    return wrong("d_model", "at least 1", std::to_string(p.dModel));
  if (Error error = checkSize("queries", p.queries.size(),
                              p.batch * p.numQueries * p.dModel))
    return error;
  if (Error error = checkSize("table", p.table.size(), p.vocab * p.dModel))
    return error;
  if (Error error = checkSize("ids", p.ids.size(), p.batch * p.numKeys))
    return error;
  return p.lengths.empty() ? std::nullopt
                           : checkSize("lengths", p.lengths.size(), p.batch);
}

Error checkTokens(const Problem &p) {
  for (size_t n = 0; n < p.ids.size(); ++n)
    if (p.ids[n] < 0 || p.ids[n] >= p.vocab)
      return wrong("token id at [" + std::to_string(n / p.numKeys) + ", " +
                       std::to_string(n % p.numKeys) + "]",
                   "0 <= id < " + std::to_string(p.vocab),
                   std::to_string(p.ids[n]));
  for (size_t b = 0; b < p.lengths.size(); ++b)
    if (p.lengths[b] < 0 || p.lengths[b] > p.numKeys)
      return wrong("length of sequence " + std::to_string(b),
                   "0 to " + std::to_string(p.numKeys),
                   std::to_string(p.lengths[b]));
  return std::nullopt;
}

Error checkNorms(const char *name, const std::vector<double> &values,
                 int64_t width) {
  for (size_t begin = 0; begin < values.size(); begin += width) {
    double sum = 0;
    for (int64_t col = 0; col < width; ++col)
      sum += values[begin + col] * values[begin + col];
    if (!(sum <= 1e300)) // also where it is NaN
      return wrong(std::string(name) + " row " + std::to_string(begin / width),
                   "finite values with a squared norm up to 1e300",
                   std::to_string(sum));
  }
  return std::nullopt;
}

Error checkScalars(const Problem &p) {
  if (!std::isfinite(p.tau))
    return wrong("tau", "a finite number", std::to_string(p.tau));
  for (double gamma : p.gammas)
    if (!(gamma >= 0x1p-100 && gamma <= 1))
      return wrong("gamma", "2^-100 to 1", std::to_string(gamma));
  return std::nullopt;
}

Error checkChannels(const Problem &p) {
  for (const Channel &channel : p.channels) {
    if (channel.arg < (channel.kind == ChannelKind::Top ? 1 : 0))
      return "expected a number from 1 for top, from 0 for a decay, got " +
             channel.name();
    if (channel.isDecay() &&
        channel.arg >= static_cast<int64_t>(p.gammas.size()))
      return wrong("gammas for " + channel.name(),
                   "at least " + std::to_string(channel.arg + 1),
                   std::to_string(p.gammas.size()));
  }
  return std::nullopt;
}

} // namespace

Error raytention::oracle::validate(const Problem &problem) {
  if (Error error = checkShapes(problem))
    return error;
  if (Error error = checkTokens(problem))
    return error;
  if (Error error = checkScalars(problem))
    return error;
  if (Error error = checkChannels(problem))
    return error;
  if (Error error = checkNorms("queries", problem.queries, problem.dModel))
    return error;
  return checkNorms("table", problem.table, problem.dModel);
}
