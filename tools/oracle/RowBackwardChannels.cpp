//===- RowBackwardChannels.cpp - what each channel adds to dz -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowBackward.h"

#include "tools/oracle/Sum.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

template <typename Real> static double size(Real value) {
  return std::fabs(static_cast<double>(value));
}

/// |g| as a path may have it that rounds `terms`, where all of them cancel.
static double roundedSize(double size, double terms) {
  return size + 0x1p-24 * terms;
}

template <typename Real>
void RowBackward<Real>::addWeighted(const RowWeights<Real> &channel) {
  WeightTerms terms(visible);
  for (int64_t j = 0; j < visible; ++j) {
    Real h = channel.h(j);
    double v = static_cast<double>(channel.v[j]);
    terms.parts[j] = channel.v[j] * h;
    terms.absolute[j] = size(terms.parts[j]);
    terms.change[j] =
        v * (alongMove * channel.moveNorm * channel.reach[j] +
             alongY * std::fabs(channel.yDot(j)) + alongGradient * size(h));
    scores.terms[j] += v * std::max(channel.absoluteH(j), size(h));
  }
  if (channel.isNormalised()) {
    addNormalised(channel, terms.parts, terms.change);
    return;
  }
  std::vector<double> bounds(visible);
  for (int64_t j = 0; j < visible; ++j)
    bounds[j] = 2 * rest(j) * size(terms.parts[j]) + terms.change[j];
  addFlushed(channel.v, terms.parts);
  addGamma(channel, terms.parts, bounds);
  addSoftmaxed(terms);
}

/// v_j h_j sums to 0 over the keys, and its v_j depend on no other weights: no
/// softmax is left to be applied.
template <typename Real>
void RowBackward<Real>::addNormalised(const RowWeights<Real> &channel,
                                      const std::vector<Real> &parts,
                                      const std::vector<double> &change) {
  double value = 0; // how much G . value changes as the v_j do
  for (Real part : parts)
    value += size(part);
  std::vector<double> bounds(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double v = static_cast<double>(channel.v[j]);
    bounds[j] =
        2 * std::max(0.0, 1 - v) * size(parts[j]) + change[j] + v * value;
    scores.values[j] += parts[j];
    scores.sensitivity[j] += bounds[j];
  }
  addFlushed(channel.v, parts);
  addGamma(channel, parts, bounds);
}

/// Where normalised, parts and their changes sum to 0 over the keys: there the
/// powers count from their mean.
template <typename Real>
void RowBackward<Real>::addGamma(const RowWeights<Real> &channel,
                                 const std::vector<Real> &parts,
                                 const std::vector<double> &bounds) {
  if (!channel.channel.isDecay())
    return;
  Sum<Real> mean, value;
  for (int64_t j = 0; channel.isNormalised() && j < visible; ++j)
    mean.add(channel.v[j] * channel.powerFactor(j));
  double bound = 0, terms = 0, open = 0;
  for (int64_t j = 0; j < visible; ++j) {
    Real factor = channel.powerFactor(j), fromMean = factor - mean.value();
    value.add(parts[j] * fromMean);
    bound += bounds[j] * size(fromMean);
    open += isFlushed(channel.v[j]) ? size(parts[j] * fromMean) : 0;
    terms += static_cast<double>(channel.v[j]) *
             std::max(channel.absoluteH(j), size(channel.h(j))) * size(factor);
  }
  int64_t n = channel.channel.arg;
  gammas.values[n] += value.value();
  gammas.sensitivity[n] += bound;
  gammas.terms[n] += terms;
  gammas.open[n] += open;
}

template <typename Real> void RowBackward<Real>::addSpread(int64_t offset) {
  Real g = gradientAt(offset);
  double t = p.temperature(), tau0 = std::fabs(p.tau), all = size(g),
         mean = static_cast<double>(meanDistance),
         gTerms = gradient.terms[offset];
  WeightTerms terms(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double w = weight(j), deviation = std::fabs(dist(j) - mean);
    terms.parts[j] = g * p.tau * gradient.weights[j] *
                     (row->dist[j] - row->dist[row->nearest]);
    terms.absolute[j] = roundedSize(all, gTerms) * tau0 * w * dist(j);
    terms.change[j] = tau0 * w * moved[offset] * deviation;
    terms.changeTerms[j] = tau0 * w * gTerms * deviation;
    terms.own[j] = tau0 * w * all * t;
    scores.terms[j] += terms.absolute[j];
    tau.sensitivity += all * w * (deviation + t);
    distances.values[j] += g * p.tau * gradient.weights[j];
    distances.sensitivity[j] += tau0 * w * (2 * rest(j) * all + moved[offset]);
    ownTerms[j] += tau0 * w * gTerms;
    if (!isFlushed(gradient.weights[j]))
      continue;
    scores.open[j] += tau0 * w * all * t; // ddist_j as if it came through dz_j
    tau.open += all * w * dist(j);
  }
  tau.value += g * meanDistance;
  tau.sensitivity += moved[offset] * mean;
  tau.terms += (gTerms + all) * mean;
  own.value += g * p.tau;
  own.sensitivity += tau0 * moved[offset];
  own.terms += tau0 * gTerms;
  addSoftmaxed(terms);
}

template <typename Real> void RowBackward<Real>::addEntropy(int64_t offset) {
  Real g = gradientAt(offset);
  double all = size(g), below = 1;
  for (int64_t j = 0; j < visible; ++j)
    below -= weight(j) * isAbove(j);
  // Of the largest weight; it is above.
  Real base = logWeight(row->nearest) + 1;
  WeightTerms terms(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double w = weight(j);
    Real log = logWeight(j) + isAbove(j);
    double fromMean = size(log - meanLog);
    terms.parts[j] = -g * gradient.weights[j] * (log - base);
    terms.absolute[j] =
        roundedSize(all, gradient.terms[offset]) * w * size(log);
    // log w_j changes with the other weights too, but alike for all keys above
    // the threshold.
    terms.change[j] = w * (moved[offset] * fromMean + all * std::fabs(below));
    terms.changeTerms[j] = w * gradient.terms[offset] * fromMean;
    terms.own[j] = all * w * isAbove(j);
    scores.terms[j] += terms.absolute[j];
  }
  addSoftmaxed(terms);
}

template <typename Real> void RowBackward<Real>::addLargest(int64_t offset) {
  largest.value += gradientAt(offset);
  largest.sensitivity += moved[offset];
  largest.terms += gradient.terms[offset];
}

/// Adds w_j (dw_j - sum_k w_k dw_k).
template <typename Real>
void RowBackward<Real>::addSoftmaxed(const WeightTerms &terms) {
  Sum<Real> all;
  double absolute = 0, shared = 0, sharedTerms = 0;
  for (int64_t j = 0; j < visible; ++j) {
    all.add(terms.parts[j]);
    absolute += terms.absolute[j];
    sharedTerms += terms.changeTerms[j];
  }
  Real sum = all.value();
  const std::vector<Real> &w = gradient.weights;
  for (int64_t j = 0; j < visible; ++j)
    shared += size(terms.parts[j] - w[j] * sum) + terms.change[j];
  std::vector<Real> values(visible);
  for (int64_t j = 0; j < visible; ++j) {
    Real value = values[j] = terms.parts[j] - w[j] * sum;
    scores.values[j] += value;
    scores.sensitivity[j] += 2 * rest(j) * (size(value) + terms.own[j]) +
                             terms.change[j] + weight(j) * shared;
    scores.terms[j] +=
        terms.changeTerms[j] + weight(j) * (absolute + sharedTerms);
  }
  addFlushed(w, values);
}

namespace raytention {
namespace oracle {

// The rest of the class is in RowBackward.cpp and RowBackwardMoment.cpp.
template void RowBackward<double>::addWeighted(const RowWeights<double> &);
template void RowBackward<double>::addSpread(int64_t);
template void RowBackward<double>::addEntropy(int64_t);
template void RowBackward<double>::addLargest(int64_t);
template void RowBackward<double>::addSoftmaxed(const WeightTerms &);
template void
RowBackward<long double>::addWeighted(const RowWeights<long double> &);
template void RowBackward<long double>::addSpread(int64_t);
template void RowBackward<long double>::addEntropy(int64_t);
template void RowBackward<long double>::addLargest(int64_t);
template void RowBackward<long double>::addSoftmaxed(const WeightTerms &);

} // namespace oracle
} // namespace raytention
