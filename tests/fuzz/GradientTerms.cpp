//===- GradientTerms.cpp - how large a gradient's terms are --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/GradientTerms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace raytention;
using namespace raytention::fuzz;

namespace {

using Real = long double; // holds every product of three doubles used here
using Reals = std::vector<Real>;

/// One row: its weights, what its channels give, and what their gradient is
/// made of.
class RowTerms {
public:
  RowTerms(const Case &c, int64_t b, int64_t row, Reals &table, Reals &gammas,
           Real &tauTerms)
      : c(c), b(b), row(row), position(row + c.offset), numKeys(position + 1),
        table(table), gammas(gammas), tauTerms(tauTerms) {}

  /// Adds the row's terms; those of its query's gradient are returned.
  Reals add();

private:
  /// A weighted sum of keys: its weights v and powers p.
  struct Weighted {
    Reals v;
    std::vector<int64_t> p;
    Real floored = 1; ///< u of the formulas
    int64_t gamma = -1;
  };

  Real value(const std::vector<double> &values, int64_t index) const {
    return roundTo(c.type, values[index]);
  }
  Real key(int64_t j, int64_t d) const {
    return value(c.table, id(j) * c.width + d);
  }
  Real query(int64_t d) const {
    return value(c.queries, (b * c.numQueries + row) * c.width + d);
  }
  int64_t id(int64_t j) const { return c.ids[b * c.numKeys + j]; }
  void score();
  int64_t chooseKey(const std::string &channel) const;
  Weighted weigh(const std::string &channel) const;
  void computeChannels();
  void differentiateOutput();
  void addChannel(const std::string &channel, const Real *g);
  void addWeighted(const Weighted &sum, const Real *g);
  void addCopy(int64_t j, const Real *g);
  Reals addDistances();

  const Case &c;
  int64_t b, row, position, numKeys;
  Reals &table, &gammas;
  Real &tauTerms;
  Real t = 1, tau = 1;
  Reals dist, z, w, x, dx;
  /// Terms of w_j dw_j, of dz_j and of ddist_j beside those through dz_j.
  Reals weightTerms, scoreTerms, distTerms;
};

} // namespace

void RowTerms::score() {
  tau = roundTo(c.type == Type::F64 ? Type::F64 : Type::F32, c.tau);
  t = std::max<Real>(tau, 0.01);
  dist.assign(numKeys, 0);
  for (int64_t j = 0; j < numKeys; ++j) {
    for (int64_t d = 0; d < c.width; ++d)
      dist[j] += (query(d) - key(j, d)) * (query(d) - key(j, d));
    if (c.metric == "l2")
      dist[j] = std::sqrt(dist[j]);
    z.push_back(-dist[j] / t);
  }
  Real most = *std::max_element(z.begin(), z.end()), sum = 0;
  for (Real score : z)
    w.push_back(std::exp(score - most));
  sum = std::accumulate(w.begin(), w.end(), Real(0));
  for (Real &weight : w)
    weight /= sum;
}

/// The key that a copying channel takes.
int64_t RowTerms::chooseKey(const std::string &channel) const {
  if (channel == "predecessor")
    return numKeys - 1;
  std::vector<int64_t> order(numKeys);
  std::iota(order.begin(), order.end(), 0);
  bool isTop = channel.rfind("top:", 0) == 0;
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    return isTop ? z[i] > z[j] : z[i] < z[j];
  });
  if (isTop)
    return order[std::min<int64_t>(numKeys, std::stoll(channel.substr(4))) - 1];
  for (int64_t j : order)
    if (w[j] > 1e-10)
      return j;
  return order.back();
}

RowTerms::Weighted RowTerms::weigh(const std::string &channel) const {
  Weighted sum;
  sum.v = w;
  sum.p.assign(numKeys, 0);
  if (channel == "centroid")
    return sum;
  sum.gamma = std::stoll(channel.substr(channel.rfind(':') + 1));
  Real gamma =
      roundTo(c.type == Type::F64 ? Type::F64 : Type::F32, c.gammas[sum.gamma]);
  int64_t origin = c.origin == "query" ? position : c.length(b) - 1;
  Real mass = 0;
  for (int64_t j = 0; j < numKeys; ++j) {
    sum.p[j] = channel[6] == 'f' ? j : origin - j;
    sum.v[j] *= std::pow(gamma, Real(sum.p[j]));
    mass += sum.v[j];
  }
  sum.floored = mass >= 1e-8;
  for (Real &weight : sum.v)
    weight /= std::max<Real>(mass, 1e-8);
  return sum;
}

void RowTerms::computeChannels() {
  for (const std::string &channel : c.channels) {
    Real scalar = 0;
    for (int64_t j = 0; j < numKeys; ++j)
      scalar += channel == "spread" ? tau * w[j] * dist[j]
                : channel == "entropy"
                    ? -w[j] * std::log(std::max<Real>(w[j], 1e-10))
                : getMoment(channel) > 0
                    ? w[j] * std::pow(dist[j], Real(getMoment(channel)))
                    : 0;
    if (channel == "max_score")
      scalar = *std::max_element(z.begin(), z.end());
    if (isScalar(channel)) {
      x.push_back(scalar);
      continue;
    }
    bool isSum = channel == "centroid" || channel[0] == 'd';
    Weighted sum = isSum ? weigh(channel) : Weighted();
    int64_t chosen = isSum ? 0 : chooseKey(channel);
    for (int64_t d = 0; d < c.width; ++d) {
      Real total = isSum ? 0 : key(chosen, d);
      for (int64_t j = 0; isSum && j < numKeys; ++j)
        total += sum.v[j] * key(j, d);
      x.push_back(total);
    }
  }
}

void RowTerms::differentiateOutput() {
  Real norm = 0, along = 0;
  int64_t width = int64_t(x.size()), first = (b * c.numQueries + row) * width;
  auto dy = [&](int64_t s) -> Real {
    return roundTo(c.type == Type::F64 ? Type::F64 : Type::F32,
                   c.gradient[first + s]);
  };
  for (Real number : x)
    norm += number * number;
  norm = std::sqrt(norm);
  bool isZero = norm <= 1e-10;
  for (int64_t s = 0; s < width && !isZero; ++s)
    along += x[s] / norm * dy(s);
  for (int64_t s = 0; s < width; ++s)
    dx.push_back(isZero ? dy(s) / 1e-10 : (dy(s) - x[s] / norm * along) / norm);
}

void RowTerms::addCopy(int64_t j, const Real *g) {
  for (int64_t d = 0; d < c.width; ++d)
    table[id(j) * c.width + d] += std::abs(g[d]);
}

void RowTerms::addWeighted(const Weighted &sum, const Real *g) {
  Reals along(numKeys, 0);
  Real mean = 0;
  for (int64_t j = 0; j < numKeys; ++j) {
    for (int64_t d = 0; d < c.width; ++d) {
      along[j] += g[d] * key(j, d);
      table[id(j) * c.width + d] += sum.v[j] * std::abs(g[d]);
    }
    mean += sum.v[j] * along[j];
  }
  for (int64_t j = 0; j < numKeys; ++j) {
    Real terms = sum.v[j] * (std::abs(along[j]) + sum.floored * std::abs(mean));
    weightTerms[j] += terms;
    if (sum.gamma >= 0)
      gammas[sum.gamma] += terms * sum.p[j] / c.gammas[sum.gamma];
  }
}

void RowTerms::addChannel(const std::string &channel, const Real *g) {
  Real size = std::abs(*g);
  if (channel == "centroid" || channel[0] == 'd')
    return addWeighted(weigh(channel), g);
  if (!isScalar(channel))
    return addCopy(chooseKey(channel), g);
  if (channel == "max_score") {
    int64_t best = std::max_element(z.begin(), z.end()) - z.begin();
    scoreTerms[best] += size;
    tauTerms += tau >= 0.01 ? size * dist[best] / (t * t) : 0;
    return;
  }
  for (int64_t j = 0; j < numKeys; ++j) {
    if (channel == "entropy") {
      weightTerms[j] +=
          size * w[j] * (std::abs(std::log(std::max<Real>(w[j], 1e-10))) + 1);
      continue;
    }
    if (int k = getMoment(channel)) {
      weightTerms[j] += size * w[j] * std::pow(dist[j], Real(k));
      distTerms[j] += size * w[j] * k * std::pow(dist[j], Real(k - 1));
      continue;
    }
    weightTerms[j] += size * tau * w[j] * dist[j];
    distTerms[j] += size * tau * w[j];
    tauTerms += size * w[j] * dist[j];
  }
}

Reals RowTerms::addDistances() {
  Real all = std::accumulate(weightTerms.begin(), weightTerms.end(), Real(0));
  Real nearest = *std::min_element(dist.begin(), dist.end());
  Reals query(c.width, 0);
  for (int64_t j = 0; j < numKeys; ++j) {
    Real softmax = weightTerms[j] + w[j] * all;
    if (tau >= 0.01)
      tauTerms += softmax * (dist[j] - nearest) / (t * t);
    Real terms = distTerms[j] + (softmax + scoreTerms[j]) / t;
    Real factor = c.metric == "sq_l2" ? 2 * terms
                  : dist[j] > 0       ? terms / dist[j]
                                      : 0;
    for (int64_t d = 0; d < c.width; ++d) {
      Real size = factor * std::abs(this->query(d) - key(j, d));
      query[d] += size;
      table[id(j) * c.width + d] += size;
    }
  }
  return query;
}

Reals RowTerms::add() {
  score();
  computeChannels();
  differentiateOutput();
  weightTerms = scoreTerms = distTerms = Reals(numKeys, 0);
  int64_t at = 0;
  for (const std::string &channel : c.channels) {
    addChannel(channel, dx.data() + at);
    at += isScalar(channel) ? 1 : c.width;
  }
  return addDistances();
}

long double fuzz::findLargestTerms(const Case &c) {
  if (!c.backward)
    return 0;
  Reals table(c.vocab * c.width, 0), gammas(c.gammas.size() + 1, 0);
  Real tau = 0, largest = 0;
  auto raise = [&](const Reals &terms) {
    for (Real sum : terms)
      largest = std::max(largest, sum);
  };
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t row = 0; row < c.numQueries; ++row)
      if (c.isVisible(b, row))
        raise(RowTerms(c, b, row, table, gammas, tau).add());
  raise(table);
  raise(gammas);
  raise({tau});
  return largest;
}
