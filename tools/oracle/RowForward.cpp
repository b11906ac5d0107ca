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

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

const Row &RowForward::compute(RowId id) {
  row.id = id;
  ids = p.sequence(id.batch);
  position = id.row + p.queryOffset;
  visible = p.visibleKeys(id.batch, id.row);
  row.x.assign(p.signalWidth(), 0.0);
  row.indices.clear();
  if (visible > 0) {
    computeScores();
    rankKeys();
    if (hooks && hooks->choice) {
      choices.resize(p.numIndices());
      hooks->choice(id, choices.data());
    }
  } else {
    row.lse = 0;
    row.scores.clear();
  }
  double *value = row.x.data();
  for (const Channel &channel : p.channels) {
    if (visible > 0)
      computeChannel(channel, value);
    else if (channel.isCopy())
      row.indices.push_back(-1);
    value += channel.width(p.dModel);
  }
  normalize();
  return row;
}

void RowForward::computeScores() {
  dist.resize(visible);
  row.scores.resize(visible);
  squaredDistances(p.query(row.id.batch, row.id.row), p.table.data(), ids,
                   visible, p.dModel, dist.data());
  double t = p.temperature();
  for (int64_t j = 0; j < visible; ++j) {
    if (p.metric == Metric::L2)
      dist[j] = std::sqrt(dist[j]);
    if (hooks && hooks->shift) // a wrong score comes of a wrong distance
      dist[j] -= t * hooks->shift(row.id, j);
    row.scores[j] = -dist[j] / t;
  }
  double best = *std::max_element(row.scores.begin(), row.scores.end());
  double sum = 0;
  for (double z : row.scores)
    sum += std::exp(z - best);
  row.lse = best + std::log(sum);
}

/// Finds the largest scores, as many as any top:K wants. Positions come in
/// order and go behind their equals, so ties fall to the lowest position.
void RowForward::rankKeys() {
  size_t wanted = 0;
  for (const Channel &channel : p.channels)
    if (channel.kind == ChannelKind::Top)
      wanted = std::max<size_t>(wanted, channel.arg);
  ranking.clear();
  if (wanted == 0)
    return;
  auto larger = [&](int64_t a, int64_t b) {
    return row.scores[a] > row.scores[b];
  };
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

void RowForward::computeChannel(const Channel &channel, double *value) {
  if (channel.isCopy()) {
    int64_t index = otherChoice(channel, chooseKey(channel));
    const double *key = p.key(row.id.batch, index);
    std::copy(key, key + p.dModel, value);
    row.indices.push_back(index);
    return;
  }
  switch (channel.kind) {
  case ChannelKind::Centroid:
    logs = row.scores;
    weightedMean(value);
    break;
  case ChannelKind::Spread:
    *value = spread();
    break;
  case ChannelKind::Entropy:
    *value = entropy();
    break;
  case ChannelKind::MaxScore:
    *value = *std::max_element(row.scores.begin(), row.scores.end());
    break;
  default:
    computeDecay(channel, value);
  }
}

int64_t RowForward::chooseKey(const Channel &channel) const {
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
int64_t RowForward::otherChoice(const Channel &channel, int64_t index) const {
  if (!hooks || !hooks->choice || channel.kind == ChannelKind::Predecessor)
    return index;
  int64_t other = choices[row.indices.size()];
  if (other < 0 || other >= visible)
    return index;
  ScoreRange range = acceptedRange(row, channel, index, hooks->scoreError);
  return range.holds(row.scores[other]) ? other : index;
}

int64_t RowForward::antitopKey() const {
  int64_t worst = -1;
  for (int64_t j = 0; j < visible; ++j)
    if (row.scores[j] - row.lse > logSmallestWeight() &&
        (worst < 0 || row.scores[j] < row.scores[worst]))
      worst = j;
  return worst; // some weight is at least 1 / visible
}

/// The floor under S_i is applied to the exact normalised value:
/// N / max(S, 1e-8) = (N / S) min(1, S / 1e-8). Powers are counted from the
/// row; the factor g^(P - i) that is left enters only S.
void RowForward::computeDecay(const Channel &channel, double *value) {
  bool forward = channel.kind == ChannelKind::DecayForward;
  double logBase = std::log(p.gammas[channel.arg]);
  logs.resize(visible);
  for (int64_t j = 0; j < visible; ++j)
    logs[j] = row.scores[j] + (forward ? j : position - j) * logBase;
  double logSum = weightedMean(value) - row.lse;
  if (!forward && p.decayOrigin == DecayOrigin::SequenceEnd)
    logSum += (p.length(row.id.batch) - 1 - position) * logBase;
  double factor = std::min(1.0, std::exp(logSum) / 1e-8);
  for (int64_t col = 0; col < p.dModel; ++col)
    value[col] *= factor;
}

/// value = sum_j exp(logs_j) k_j / sum_j exp(logs_j); returns the log of the
/// lower sum. Terms that together are under 1e-18 of that sum are left out:
/// float64 would not notice them.
double RowForward::weightedMean(double *value) {
  double largest = *std::max_element(logs.begin(), logs.end());
  double smallest = largest + std::log(1e-18 / visible);
  double sum = 0;
  kept.clear();
  keptIds.clear();
  for (int64_t j = 0; j < visible; ++j) {
    if (logs[j] < smallest)
      continue;
    double weight = std::exp(logs[j] - largest);
    sum += weight;
    kept.push_back(weight);
    keptIds.push_back(ids[j]);
  }
  weightedSum(kept.data(), keptIds.data(), kept.size(), p.table.data(),
              p.dModel, value);
  for (int64_t col = 0; col < p.dModel; ++col)
    value[col] /= sum;
  return largest + std::log(sum);
}

double RowForward::spread() const {
  double sum = 0;
  for (int64_t j = 0; j < visible; ++j)
    sum += weight(j) * dist[j];
  return p.tau * sum;
}

double RowForward::entropy() const {
  double sum = 0;
  for (int64_t j = 0; j < visible; ++j)
    sum -= weight(j) * std::max(row.scores[j] - row.lse, logSmallestWeight());
  return sum;
}

void RowForward::normalize() {
  double square = 0;
  for (double x : row.x)
    square += x * x;
  row.norm = std::sqrt(square);
  row.y.resize(row.x.size());
  for (size_t n = 0; n < row.x.size(); ++n)
    row.y[n] = row.x[n] / std::max(row.norm, 1e-10);
}
