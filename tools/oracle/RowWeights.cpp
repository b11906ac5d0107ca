//===- RowWeights.cpp - the weighted channels of one row ------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowWeights.h"

#include "tools/oracle/GradientLoops.h"
#include "tools/oracle/Sum.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

template <typename Real>
static Real dot(const Real *a, const Real *b, int64_t width) {
  Real sum = 0;
  for (int64_t col = 0; col < width; ++col)
    sum += a[col] * b[col];
  return sum;
}

/// ||values||, also where its square overflows.
static double norm(const double *values, int64_t width) {
  double largest = 0, sum = 0;
  for (int64_t col = 0; col < width; ++col)
    largest = std::max(largest, std::fabs(values[col]));
  if (largest == 0)
    return 0;
  for (int64_t col = 0; col < width; ++col)
    sum += (values[col] / largest) * (values[col] / largest);
  return largest * std::sqrt(sum);
}

template <typename Real>
void RowWeights<Real>::compute(const Problem &problem,
                               const RowState<Real> &row,
                               const RowGradient<Real> &gradient) {
  w = &gradient.weights;
  int64_t visible = row.shifted.size(), width = problem.dModel;
  const int64_t *ids = problem.sequence(row.id.batch);
  computeWeights(problem, row);

  const Real *g = gradient.values.data() + offset, *x = row.x.data() + offset;
  const double *y = gradient.y.data() + offset;
  value.assign(x, x + width);
  centre.assign(width, 0.0);
  if (normalised)
    centre = value;
  gradientDots.resize(visible);
  yDots.resize(visible);
  reach.resize(visible);
  keyProducts(g, y, centre.data(), problem.table.data(), ids, visible, width,
              gradientDots.data(), yDots.data(), reach.data());
  gradientValue = dot(g, x, width);
  if (normalised)
    countFromLargest();
  yValue = dot(y, value.data(), width);
  // The roundings of a dot product's D terms are independent of each other.
  termsNorm = norm(gradient.terms.data() + offset, width) / std::sqrt(width);
  valueNorm = norm(value.data(), width);
  computeMoves(problem, ids);
}

/// Where normalised only differences of G . k_j matter. Counted from that of
/// the largest weight, h_j keeps its digits where nearly all weight is there.
template <typename Real> void RowWeights<Real>::countFromLargest() {
  Real base = gradientDots[std::max_element(v.begin(), v.end()) - v.begin()];
  Sum<Real> mean;
  for (size_t j = 0; j < v.size(); ++j) {
    gradientDots[j] -= base;
    mean.add(v[j] * gradientDots[j]);
  }
  gradientValue = mean.value();
}

/// d_j = v_j (k_j - value) where normalised, else v_j k_j - w_j value.
template <typename Real>
void RowWeights<Real>::computeMoves(const Problem &problem,
                                    const int64_t *ids) {
  int64_t visible = v.size(), width = problem.dModel;
  std::vector<double> narrow(v.begin(), v.end());
  moveNorm = normalised ? 0 : valueNorm;
  for (int64_t j = 0; j < visible; ++j) {
    reach[j] = std::sqrt(reach[j]);
    moveNorm += narrow[j] * reach[j];
  }
  move.assign(width, 0.0);
  weightedAbsDifferences(narrow.data(), ids, visible, centre.data(),
                         problem.table.data(), width, move.data());
  for (int64_t col = 0; col < width && !normalised; ++col)
    move[col] += std::fabs(value[col]);
}

/// Powers are counted from the row, as in the forward pass; the factor
/// g^(P - i) that is left scales S alone.
template <typename Real>
void RowWeights<Real>::computeWeights(const Problem &problem,
                                      const RowState<Real> &row) {
  int64_t visible = row.shifted.size(), position = visible - 1;
  bool backward = channel.kind == ChannelKind::DecayBackward;
  gamma = channel.isDecay() ? problem.gammas[channel.arg] : 1;
  powerStep = !channel.isDecay() ? 0 : backward ? -1 : 1;
  powerBase = backward ? position : 0;

  Real logGamma = std::log(Real(gamma));
  v.resize(visible);
  for (int64_t j = 0; j < visible; ++j)
    v[j] = row.shifted[j] + (powerBase + powerStep * j) * logGamma;
  Real largest = *std::max_element(v.begin(), v.end());
  Sum<Real> sum;
  for (Real &log : v) {
    log = std::exp(log - largest);
    sum.add(log);
  }
  int64_t rest = 0;
  if (backward && problem.decayOrigin == DecayOrigin::SequenceEnd)
    rest = problem.length(row.id.batch) - 1 - position;
  Real s =
      std::exp(largest + std::log(sum.value()) - row.logSum + rest * logGamma);
  Real floor = Real(1e-8L);
  normalised = !channel.isDecay() || s >= floor;
  if (!normalised)
    powerBase += rest;
  Real factor = (normalised ? 1 : s / floor) / sum.value();
  for (Real &weight : v) {
    weight *= factor;
    if (weight < smallestUsedWeight)
      weight = 0;
  }
}

template <typename Real> Real RowWeights<Real>::powerFactor(int64_t j) const {
  return Real(powerBase + powerStep * j) / gamma;
}

template <typename Real> double RowWeights<Real>::absoluteH(int64_t j) const {
  // ||k_j|| is at most reach[j] + u ||value||.
  return termsNorm * (reach[j] + 2 * u() * valueNorm);
}

template class oracle::RowWeights<double>;
template class oracle::RowWeights<long double>;
