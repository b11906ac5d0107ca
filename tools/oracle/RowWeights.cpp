//===- RowWeights.cpp - the weighted channels of one row ------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowWeights.h"

#include "tools/oracle/GradientLoops.h"
#include "tools/oracle/Loops.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

static double dot(const double *a, const double *b, int64_t width) {
  double sum = 0;
  for (int64_t col = 0; col < width; ++col)
    sum += a[col] * b[col];
  return sum;
}

void RowWeights::compute(const Problem &problem, const Row &row,
                         const std::vector<double> &weights,
                         const std::vector<double> &gradient,
                         const std::vector<double> &terms) {
  w = &weights;
  int64_t visible = row.scores.size(), width = problem.dModel;
  computeWeights(problem, row);

  const double *table = problem.table.data(), *value = row.x.data() + offset,
               *g = gradient.data() + offset, *y = row.y.data() + offset;
  const int64_t *ids = problem.sequence(row.id.batch);
  gradientDots.resize(visible);
  yDots.resize(visible);
  keyDots(g, table, ids, visible, width, gradientDots.data());
  keyDots(y, table, ids, visible, width, yDots.data());
  gradientValue = dot(g, value, width);
  yValue = dot(y, value, width);
  const double *all = terms.data() + offset;
  // The roundings of a dot product's D terms are independent of each other.
  termsNorm = std::sqrt(dot(all, all, width) / width);
  valueNorm = std::sqrt(dot(value, value, width));
  computeMoves(problem, row);
}

/// d_j = v_j (k_j - value) where normalised, else v_j k_j - w_j value.
void RowWeights::computeMoves(const Problem &problem, const Row &row) {
  int64_t visible = row.scores.size(), width = problem.dModel;
  const int64_t *ids = problem.sequence(row.id.batch);
  const double *value = row.x.data() + offset;
  std::vector<double> centre(width, 0.0);
  if (normalised)
    std::copy(value, value + width, centre.begin());
  reach.resize(visible);
  squaredDistances(centre.data(), problem.table.data(), ids, visible, width,
                   reach.data());
  moveNorm = normalised ? 0 : std::sqrt(dot(value, value, width));
  for (int64_t j = 0; j < visible; ++j) {
    reach[j] = std::sqrt(reach[j]);
    moveNorm += v[j] * reach[j];
  }
  move.assign(width, 0.0);
  weightedAbsDifferences(v.data(), ids, visible, centre.data(),
                         problem.table.data(), width, move.data());
  for (int64_t col = 0; col < width && !normalised; ++col)
    move[col] += std::fabs(value[col]);
}

/// Powers are counted from the row, as in the forward pass; the factor
/// g^(P - i) that is left scales S alone.
void RowWeights::computeWeights(const Problem &problem, const Row &row) {
  int64_t visible = row.scores.size(), position = visible - 1;
  bool backward = channel.kind == ChannelKind::DecayBackward;
  gamma = channel.isDecay() ? problem.gammas[channel.arg] : 1;
  powerStep = !channel.isDecay() ? 0 : backward ? -1 : 1;
  powerBase = backward ? position : 0;

  double logGamma = std::log(gamma);
  v.resize(visible);
  for (int64_t j = 0; j < visible; ++j)
    v[j] = row.scores[j] + (powerBase + powerStep * j) * logGamma;
  double largest = *std::max_element(v.begin(), v.end());
  double sum = 0;
  for (double &log : v) {
    log = std::exp(log - largest);
    sum += log;
  }
  int64_t rest = 0;
  if (backward && problem.decayOrigin == DecayOrigin::SequenceEnd)
    rest = problem.length(row.id.batch) - 1 - position;
  double s = std::exp(largest + std::log(sum) - row.lse + rest * logGamma);
  normalised = !channel.isDecay() || s >= 1e-8;
  if (!normalised)
    powerBase += rest;
  for (double &weight : v) {
    weight *= (normalised ? 1 : s / 1e-8) / sum;
    if (weight < smallestUsedWeight)
      weight = 0;
  }
}

double RowWeights::powerFactor(int64_t j) const {
  return (powerBase + powerStep * j) / gamma;
}

double RowWeights::absoluteH(int64_t j) const {
  // ||k_j|| is at most reach[j] + u ||value||.
  return termsNorm * (reach[j] + 2 * u() * valueNorm);
}
