//===- RowForward.cpp - one row of the forward pass -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowForward.h"

#include "tools/oracle/AcceptedKeys.h"
#include "tools/oracle/Loops.h"
#include "tools/oracle/Sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;

template <typename Real> void RowState<Real>::round(Row &row) const {
  row.id = id;
  row.x.assign(x.begin(), x.end());
  row.y.assign(y.begin(), y.end());
  row.norm = static_cast<double>(norm);
  row.indices = indices;
  row.lse = static_cast<double>(best + logSum);
  row.logSum = static_cast<double>(logSum);
  row.shifted.assign(shifted.begin(), shifted.end());
  row.scores.resize(shifted.size());
  for (size_t j = 0; j < shifted.size(); ++j)
    row.scores[j] = static_cast<double>(best + shifted[j]);
  row.floors = floors;
}

template <typename Real>
const RowState<Real> &RowForward<Real>::compute(RowId id) {
  row.id = id;
  ids = p.sequence(id.batch);
  position = id.row + p.queryOffset;
  visible = p.visibleKeys(id.batch, id.row);
  row.x.assign(p.signalWidth(), Real(0));
  row.indices.clear();
  row.floors.assign(p.channels.size(), 1.0);
  row.dist.resize(visible);
  row.shifted.resize(visible);
  if (visible > 0) {
    computeScores();
    rankKeys();
    if (hooks && hooks->choice) {
      choices.resize(p.numIndices());
      hooks->choice(id, choices.data());
    }
  } else {
    row.best = row.logSum = 0;
  }
  Real *value = row.x.data();
  for (size_t c = 0; c < p.channels.size(); ++c) {
    const Channel &channel = p.channels[c];
    if (visible > 0 && channel.isDecay())
      row.floors[c] = computeDecay(channel, value);
    else if (visible > 0)
      computeChannel(channel, value);
    else if (channel.isCopy())
      row.indices.push_back(-1);
    value += channel.width(p.dModel);
  }
  normalize();
  return row;
}

/// Differences of distances, not of scores: two that are close keep their
/// digits however large both are.
template <typename Real> void RowForward<Real>::computeScores() {
  squaredDistances(p.query(row.id.batch, row.id.row), p.table.data(), ids,
                   visible, p.dModel, row.dist.data());
  Real t = p.temperature();
  for (int64_t j = 0; j < visible; ++j) {
    if (p.metric == Metric::L2)
      row.dist[j] = std::sqrt(row.dist[j]);
    if (hooks && hooks->shift) // a wrong score comes of a wrong distance
      row.dist[j] -= t * hooks->shift(row.id, j);
  }
  row.nearest =
      std::min_element(row.dist.begin(), row.dist.end()) - row.dist.begin();
  Real least = row.dist[row.nearest];
  row.best = -least / t;
  Sum<Real> others; // the nearest key adds 1
  for (int64_t j = 0; j < visible; ++j) {
    row.shifted[j] = (least - row.dist[j]) / t;
    if (j != row.nearest)
      others.add(std::exp(row.shifted[j]));
  }
  row.logSum = std::log1p(others.value());
}

/// Finds the largest scores, as many as any top:K wants. Positions come in
/// order and go behind their equals, so ties fall to the lowest position.
template <typename Real> void RowForward<Real>::rankKeys() {
  size_t wanted = 0;
  for (const Channel &channel : p.channels)
    if (channel.kind == ChannelKind::Top)
      wanted = std::max<size_t>(wanted, channel.arg);
  ranking.clear();
  if (wanted == 0)
    return;
  auto larger = [&](int64_t a, int64_t b) { return row.dist[a] < row.dist[b]; };
  for (int64_t j = 0; j < visible; ++j) {
    if (ranking.size() == wanted) {
      if (!larger(j, ranking.back()))
        continue;
      ranking.pop_back();
    }
    ranking.insert(std::upper_bound(ranking.begin(), ranking.end(), j, larger),
                   j);
  }
}

template <typename Real>
void RowForward<Real>::computeChannel(const Channel &channel, Real *value) {
  if (channel.isCopy()) {
    int64_t index = otherChoice(channel, chooseKey(channel));
    const double *key = p.key(row.id.batch, index);
    std::copy(key, key + p.dModel, value);
    row.indices.push_back(index);
    return;
  }
  switch (channel.kind) {
  case ChannelKind::Spread:
    *value = spread();
    break;
  case ChannelKind::Entropy:
    *value = entropy();
    break;
  case ChannelKind::MaxScore:
    *value = row.best;
    break;
  case ChannelKind::Moment:
    *value = moment(channel.arg);
    break;
  default: // Centroid
    logs = row.shifted;
    weightedMean(value);
  }
}

template <typename Real>
int64_t RowForward<Real>::chooseKey(const Channel &channel) const {
  switch (channel.kind) {
  case ChannelKind::Top: // with fewer keys than K, the last one found
    return ranking[std::min<size_t>(channel.arg, ranking.size()) - 1];
  case ChannelKind::Antitop:
    return antitopKey();
  default: // Predecessor: the last visible key
    return visible - 1;
  }
}

/// What the other side chose for the next copying channel, if it may.
template <typename Real>
int64_t RowForward<Real>::otherChoice(const Channel &channel,
                                      int64_t index) const {
  if (!hooks || !hooks->choice || channel.kind == ChannelKind::Predecessor)
    return index;
  int64_t other = choices[row.indices.size()];
  if (other < 0 || other >= visible)
    return index;
  ScoreRange range =
      acceptedRange(row.shifted, row.logSum, channel, index, hooks->scoreError);
  return range.holds(static_cast<double>(row.shifted[other])) ? other : index;
}

template <typename Real> int64_t RowForward<Real>::antitopKey() const {
  int64_t worst = -1;
  for (int64_t j = 0; j < visible; ++j)
    if (row.shifted[j] - row.logSum > logSmallestWeight<Real>() &&
        (worst < 0 || row.dist[j] > row.dist[worst]))
      worst = j;
  return worst; // some weight is at least 1 / visible
}

/// The floor under S_i is applied to the exact normalised value:
/// N / max(S, 1e-8) = (N / S) min(1, S / 1e-8). Powers are counted from the
/// row; the factor g^(P - i) that is left enters only S. Returns the factor.
template <typename Real>
double RowForward<Real>::computeDecay(const Channel &channel, Real *value) {
  bool forward = channel.kind == ChannelKind::DecayForward;
  Real logBase = std::log(Real(p.gammas[channel.arg]));
  logs.resize(visible);
  for (int64_t j = 0; j < visible; ++j)
    logs[j] = row.shifted[j] + (forward ? j : position - j) * logBase;
  Real logSum = weightedMean(value) - row.logSum;
  if (!forward && p.decayOrigin == DecayOrigin::SequenceEnd)
    logSum += (p.length(row.id.batch) - 1 - position) * logBase;
  Real factor = std::min(Real(1), std::exp(logSum) / Real(1e-8L));
  for (int64_t col = 0; col < p.dModel; ++col)
    value[col] *= factor;
  return static_cast<double>(factor);
}

/// log of the largest |k_jd|, computed once per token.
template <typename Real> Real RowForward<Real>::keySize(int64_t j) {
  if (keySizes.empty())
    keySizes.assign(p.vocab, std::numeric_limits<Real>::quiet_NaN());
  Real &size = keySizes[ids[j]];
  if (std::isnan(size)) {
    const double *key = p.table.data() + ids[j] * p.dModel;
    double largest = 0;
    for (int64_t col = 0; col < p.dModel; ++col)
      largest = std::max(largest, std::fabs(key[col]));
    size = std::log(Real(largest));
  }
  return size;
}

/// value = sum_j exp(logs_j) k_j / sum_j exp(logs_j); returns the log of the
/// lower sum. Terms that together are under a hundredth of a unit of rounding
/// of either sum's largest are left out.
template <typename Real> Real RowForward<Real>::weightedMean(Real *value) {
  constexpr Real negligible = std::numeric_limits<Real>::epsilon() / 200;
  Real largest = *std::max_element(logs.begin(), logs.end());
  Real share = std::log(negligible / visible);
  Real reach = -std::numeric_limits<Real>::infinity();
  for (int64_t j = 0; j < visible; ++j)
    reach = std::max(reach, logs[j] + keySize(j));
  Sum<Real> sum;
  kept.clear();
  keptIds.clear();
  for (int64_t j = 0; j < visible; ++j) {
    if (logs[j] < largest + share && !(logs[j] + keySize(j) >= reach + share))
      continue;
    Real weight = std::exp(logs[j] - largest);
    sum.add(weight);
    kept.push_back(weight);
    keptIds.push_back(ids[j]);
  }
  weightedSum(kept.data(), keptIds.data(), kept.size(), p.table.data(),
              p.dModel, value);
  for (int64_t col = 0; col < p.dModel; ++col)
    value[col] /= sum.value();
  return largest + std::log(sum.value());
}

template <typename Real> Real RowForward<Real>::spread() const {
  Sum<Real> sum;
  for (int64_t j = 0; j < visible; ++j)
    sum.add(row.weight(j) * row.dist[j]);
  return p.tau * sum.value();
}

template <typename Real> Real RowForward<Real>::entropy() const {
  Sum<Real> sum;
  for (int64_t j = 0; j < visible; ++j)
    sum.add(-row.weight(j) *
            std::max(row.shifted[j] - row.logSum, logSmallestWeight<Real>()));
  return sum.value();
}

template <typename Real> Real RowForward<Real>::moment(int64_t power) const {
  Sum<Real> sum;
  for (int64_t j = 0; j < visible; ++j)
    sum.add(row.weight(j) * std::pow(row.dist[j], Real(power)));
  return sum.value();
}

template <typename Real> void RowForward<Real>::normalize() {
  Sum<Real> square;
  for (Real x : row.x)
    square.add(x * x);
  row.norm = std::sqrt(square.value());
  row.y.resize(row.x.size());
  for (size_t n = 0; n < row.x.size(); ++n)
    row.y[n] = row.x[n] / std::max(row.norm, Real(1e-10L));
}

template struct oracle::RowState<double>;
template struct oracle::RowState<long double>;
template class oracle::RowForward<double>;
template class oracle::RowForward<long double>;
