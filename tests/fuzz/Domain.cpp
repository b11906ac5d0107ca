//===- Domain.cpp - what rt has to accept -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Domain.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::fuzz;

std::vector<bool> fuzz::findReadRows(const Case &c) {
  std::vector<bool> read(c.vocab, false);
  for (int64_t b = 0; b < c.batch; ++b) {
    int64_t seen = std::min(c.length(b), c.offset + c.numQueries);
    if (c.offset >= c.length(b))
      seen = 0; // no row is visible
    for (int64_t j = 0; j < seen; ++j)
      read[c.ids[b * c.numKeys + j]] = true;
  }
  return read;
}

static double squaredNorm(const Case &c, const std::vector<double> &values,
                          int64_t row) {
  double sum = 0;
  for (int64_t d = 0; d < c.width; ++d) {
    double value = roundTo(c.type, values[row * c.width + d]);
    sum += value * value;
  }
  return sum;
}

/// The larger one, or the one that is no number.
static void raise(double &largest, double value) {
  if (!std::isnan(largest) && !(value <= largest))
    largest = value;
}

Norms fuzz::findNorms(const Case &c) {
  Norms norms;
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t row = 0; row < c.numQueries; ++row)
      if (c.isVisible(b, row))
        raise(norms.queries, squaredNorm(c, c.queries, b * c.numQueries + row));
  std::vector<bool> read = findReadRows(c);
  for (int64_t row = 0; row < c.vocab; ++row)
    if (read[row])
      raise(norms.keys, squaredNorm(c, c.table, row));
  return norms;
}

static double findLargestGradient(const Case &c) {
  double largest = 0;
  int64_t width = c.signalWidth();
  for (int64_t b = 0; c.backward && b < c.batch; ++b)
    for (int64_t row = 0; row < c.numQueries; ++row)
      for (int64_t s = 0; c.isVisible(b, row) && s < width; ++s)
        raise(largest, std::abs(roundTo(
                           c.type == Type::F64 ? Type::F64 : Type::F32,
                           c.gradient[(b * c.numQueries + row) * width + s])));
  return largest;
}

namespace {

/// Keeps the place of the limit that is passed by most.
class Limits {
public:
  /// `value` may reach `limit`.
  void add(const char *name, double value, double limit) {
    double ratio = value / limit;
    if (ratio <= largest)
      return;
    largest = std::isnan(ratio) ? INFINITY : ratio;
    domain.limit = name;
    domain.place = largest > 1 + 1e-5   ? Domain::Outside
                   : largest > 1 - 1e-5 ? Domain::Border
                                        : Domain::Inside;
  }
  Domain domain;

private:
  double largest = 0;
};

} // namespace

Domain fuzz::findDomain(const Case &c) {
  bool isDouble = c.type == Type::F64;
  double limit = isDouble ? 0x1p1000 : 0x1p120;
  double tau = roundTo(isDouble ? Type::F64 : Type::F32, c.tau);
  double t = std::max(tau, 0.01);
  Norms norms = findNorms(c);
  double reach = std::sqrt(norms.queries) + std::sqrt(norms.keys);
  double dist = c.metric == "l2" ? reach : reach * reach;
  double output = 0;
  for (const std::string &channel : c.channels)
    output += channel == "spread"      ? tau * dist * (tau * dist)
              : channel == "max_score" ? dist / t * (dist / t)
              : channel == "entropy"   ? 0
              : getMoment(channel) > 0 ? std::pow(dist, 2 * getMoment(channel))
                                       : norms.keys;
  Limits limits;
  limits.add("(max ||q|| + max ||k||)^2", reach * reach, limit);
  limits.add("d / t", dist / t, limit);
  limits.add("||x||^2", output, limit);
  limits.add("|dy|", findLargestGradient(c), isDouble ? 0x1p500 : 0x1p60);
  if (!(tau > 0) || !std::isfinite(tau))
    limits.add("tau", INFINITY, 1);
  for (double gamma : c.gammas)
    if (!(gamma >= 0x1p-100 && gamma <= 1))
      limits.add("gamma", INFINITY, 1);
  return limits.domain;
}
