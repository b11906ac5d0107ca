//===- RowBackwardChannels.cpp - what each channel adds to dz -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowBackward.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

void RowBackward::addWeighted(const RowWeights &channel) {
  std::vector<double> terms(visible), change(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double v = channel.v[j], h = channel.h(j);
    terms[j] = v * h;
    change[j] = v * (alongMove * channel.moveNorm * channel.reach[j] +
                     alongY * std::fabs(channel.yDot(j)) +
                     alongGradient * std::fabs(h));
    rounded[j] += rounding * v * channel.absoluteH(j);
  }
  if (channel.isNormalised()) {
    addNormalised(channel, terms, change);
    return;
  }
  std::vector<double> bounds(visible);
  for (int64_t j = 0; j < visible; ++j)
    bounds[j] = 2 * rest(j) * std::fabs(terms[j]) + change[j];
  addGamma(channel, terms, bounds);
  addSoftmaxed(terms, change, std::vector<double>(visible, 0.0));
}

/// v_j h_j sums to 0 over the keys, and its v_j depend on no other weights: no
/// softmax is left to be applied.
void RowBackward::addNormalised(const RowWeights &channel,
                                const std::vector<double> &terms,
                                const std::vector<double> &change) {
  double value = 0; // how much G . value changes as the v_j do
  for (double term : terms)
    value += std::fabs(term);
  std::vector<double> bounds(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double v = channel.v[j];
    bounds[j] =
        2 * std::max(0.0, 1 - v) * std::fabs(terms[j]) + change[j] + v * value;
    scores.values[j] += terms[j];
    scores.sensitivity[j] += bounds[j];
  }
  addGamma(channel, terms, bounds);
}

/// Where normalised, terms and their changes sum to 0 over the keys: there the
/// powers count from their mean.
void RowBackward::addGamma(const RowWeights &channel,
                           const std::vector<double> &terms,
                           const std::vector<double> &bounds) {
  if (!channel.channel.isDecay())
    return;
  double mean = 0;
  for (int64_t j = 0; channel.isNormalised() && j < visible; ++j)
    mean += channel.v[j] * channel.powerFactor(j);
  for (int64_t j = 0; j < visible; ++j) {
    double factor = channel.powerFactor(j);
    gammas.values[channel.channel.arg] += terms[j] * factor;
    gammas.sensitivity[channel.channel.arg] +=
        bounds[j] * std::fabs(factor - mean) +
        rounding * channel.v[j] * channel.absoluteH(j) * std::fabs(factor);
  }
}

void RowBackward::addSpread(int64_t offset) {
  double g = gradient[offset], t = p.temperature(), tau0 = std::fabs(p.tau);
  std::vector<double> terms(visible), change(visible), own(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double w = weights[j], deviation = std::fabs(dist[j] - meanDistance);
    terms[j] = g * p.tau * w * dist[j];
    change[j] = tau0 * w * moved[offset] * deviation;
    own[j] = tau0 * w * std::fabs(g) * t;
    rounded[j] += rounding * std::fabs(terms[j]);
    tau.sensitivity[0] += std::fabs(g) * w * (deviation + t);
    distances.values[j] += g * p.tau * w;
    distances.sensitivity[j] +=
        tau0 * w * (2 * rest(j) * std::fabs(g) + moved[offset]);
  }
  tau.values[0] += g * meanDistance;
  tau.sensitivity[0] +=
      (moved[offset] + rounding * std::fabs(g)) * meanDistance;
  total += tau0 * moved[offset];
  addSoftmaxed(terms, change, own);
}

void RowBackward::addEntropy(int64_t offset) {
  double g = gradient[offset], below = 1;
  for (int64_t j = 0; j < visible; ++j)
    below -= weights[j] * isAbove(j);
  std::vector<double> terms(visible), change(visible), own(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double w = weights[j], log = logWeight(j) + isAbove(j);
    terms[j] = -g * w * log;
    // log w_j changes with the other weights too, but alike for all keys above
    // the threshold.
    change[j] = w * (moved[offset] * std::fabs(log - meanLog) +
                     std::fabs(g) * std::fabs(below));
    own[j] = std::fabs(g) * w * isAbove(j);
    rounded[j] += rounding * std::fabs(terms[j]);
  }
  addSoftmaxed(terms, change, own);
}

void RowBackward::addLargest(int64_t offset) {
  largestGradient += gradient[offset];
  largestBound += moved[offset];
}

/// Adds w_j (dw_j - sum_k w_k dw_k), given terms w_j dw_j. `change`: of dw_j
/// with G, `own`: with z_j itself, both times w_j.
void RowBackward::addSoftmaxed(const std::vector<double> &terms,
                               const std::vector<double> &change,
                               const std::vector<double> &own) {
  double sum = 0, absolute = 0, shared = 0;
  for (int64_t j = 0; j < visible; ++j) {
    sum += terms[j];
    absolute += std::fabs(terms[j]);
  }
  for (int64_t j = 0; j < visible; ++j)
    shared += std::fabs(terms[j] - weights[j] * sum) + change[j];
  for (int64_t j = 0; j < visible; ++j) {
    double value = terms[j] - weights[j] * sum;
    scores.values[j] += value;
    scores.sensitivity[j] += 2 * rest(j) * (std::fabs(value) + own[j]) +
                             change[j] + weights[j] * shared;
    rounded[j] += rounding * weights[j] * absolute;
  }
}
