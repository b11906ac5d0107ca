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

/// Squares are added in long double: no finite row overflows it.
Error checkRow(const char *name, int64_t row, const double *values,
               int64_t width) {
  long double sum = 0;
  for (int64_t col = 0; col < width; ++col)
    sum += static_cast<long double>(values[col]) * values[col];
  if (sum <= 0x1p1000L) // not where it is NaN
    return std::nullopt;
  return wrong(std::string(name) + " row " + std::to_string(row),
               "finite values with a squared norm up to 2^1000",
               std::to_string(sum));
}

/// Rows of queries that see a key, and rows of the table that they see.
Error checkVisibleRows(const Problem &p) {
  std::vector<bool> seen(p.vocab, false);
  for (int64_t b = 0; b < p.batch; ++b) {
    int64_t visible = 0;
    for (int64_t i = 0; i < p.numQueries; ++i) {
      if (p.visibleKeys(b, i) == 0)
        break; // so do all later rows
      visible = p.visibleKeys(b, i);
      if (Error error = checkRow("queries", b * p.numQueries + i, p.query(b, i),
                                 p.dModel))
        return error;
    }
    for (int64_t j = 0; j < visible; ++j)
      seen[p.sequence(b)[j]] = true;
  }
  for (int64_t v = 0; v < p.vocab; ++v)
    if (seen[v])
      if (Error error =
              checkRow("table", v, p.table.data() + v * p.dModel, p.dModel))
        return error;
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
  return checkVisibleRows(problem);
}
