//===- RowBackward.cpp - the gradient of one row --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowBackward.h"

#include "tools/oracle/GradientLoops.h"
#include "tools/oracle/Loops.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace raytention;
using namespace raytention::oracle;

RowBackward::RowBackward(const Problem &problem,
                         const std::vector<double> &tableNorms)
    : p(problem), tableNorms(tableNorms) {
  int64_t offset = 0;
  for (const Channel &channel : p.channels) {
    if (!channel.isCopy() && !channel.isScalar())
      weighted.emplace_back(channel, offset);
    offset += channel.width(p.dModel);
  }
}

void RowBackward::compute(const Row &computed, const double *dy) {
  row = &computed;
  id = row->id;
  visible = row->scores.size();
  indices = row->indices;
  queries.resize(p.dModel);
  tau.resize(1);
  gammas.resize(p.gammas.size());
  if (visible == 0)
    return;
  computeWeights();
  computeMeans();
  project(dy);
  for (RowWeights &channel : weighted)
    channel.compute(p, *row, weights, gradient, terms);
  boundProjection();

  for (const RowWeights &channel : weighted)
    addWeighted(channel);
  int64_t offset = 0;
  for (const Channel &channel : p.channels) {
    if (channel.kind == ChannelKind::Spread)
      addSpread(offset);
    else if (channel.kind == ChannelKind::Entropy)
      addEntropy(offset);
    else if (channel.kind == ChannelKind::MaxScore)
      addLargest(offset);
    offset += channel.width(p.dModel);
  }
  applyTemperature();
  applyDistance();
}

void RowBackward::computeWeights() {
  scores.resize(visible);
  distances.resize(visible);
  factors.resize(visible);
  rounded.assign(visible, 0.0);
  total = largestGradient = largestBound = 0;
  weights.resize(visible);
  dist.resize(visible);
  for (int64_t j = 0; j < visible; ++j) {
    double w = std::exp(row->scores[j] - row->lse);
    weights[j] = w < smallestUsedWeight ? 0 : w;
    dist[j] = -row->scores[j] * p.temperature();
  }
  largest = std::max_element(row->scores.begin(), row->scores.end()) -
            row->scores.begin();
}

void RowBackward::computeMeans() {
  const double *query = p.query(id.batch, id.row);
  double square = 0, keyNorm = 0;
  for (int64_t col = 0; col < p.dModel; ++col)
    square += query[col] * query[col];
  meanDistance = meanLog = 0;
  for (int64_t j = 0; j < visible; ++j) {
    keyNorm = std::max(keyNorm, tableNorms[p.sequence(id.batch)[j]]);
    meanDistance += weights[j] * dist[j];
    meanLog += weights[j] * (logWeight(j) + isAbove(j));
  }
  square += keyNorm * keyNorm;
  rounding = square > 0 ? p.temperature() / (4 * square) : 0;
  centroid.resize(p.dModel);
  weightedSum(weights.data(), p.sequence(id.batch), visible, p.table.data(),
              p.dModel, centroid.data());
}

bool RowBackward::isAbove(int64_t j) const {
  return row->scores[j] - row->lse >= logSmallestWeight();
}

/// log max(w_j, 1e-10).
double RowBackward::logWeight(int64_t j) const {
  return std::max(row->scores[j] - row->lse, logSmallestWeight());
}

//===----------------------------------------------------------------------===//
// The normalisation of the row
//===----------------------------------------------------------------------===//

void RowBackward::project(const double *dy) {
  gradient.assign(dy, dy + row->y.size());
  bool free = row->norm > 1e-10;
  along = 0;
  for (size_t s = 0; s < gradient.size(); ++s)
    along += row->y[s] * dy[s];
  for (size_t s = 0; s < gradient.size(); ++s)
    gradient[s] =
        free ? (dy[s] - row->y[s] * along) / row->norm : dy[s] / 1e-10;
  // A dot product of S terms, a difference and a quotient round.
  constexpr double roundings = 4;
  terms.resize(gradient.size());
  for (size_t s = 0; s < gradient.size(); ++s)
    terms[s] = free ? roundings *
                          (std::fabs(dy[s]) + std::fabs(row->y[s] * along)) /
                          row->norm
                    : std::fabs(gradient[s]);
}

/// Adds up, over the channels, sum_j |d_j| in `moved`, and the products of
/// each d_j with G and y.
void RowBackward::addMoves(std::vector<double> &withGradient,
                           std::vector<double> &withY) {
  for (const RowWeights &channel : weighted) {
    for (int64_t j = 0; j < visible; ++j) {
      withGradient[j] += channel.moveAlongGradient(j);
      withY[j] += channel.moveAlongY(j);
    }
    std::copy(channel.move.begin(), channel.move.end(),
              moved.begin() + channel.offset);
  }
  std::vector<double> move(visible);
  int64_t offset = 0;
  for (const Channel &channel : p.channels) {
    if (channel.isScalar()) {
      moveScalar(channel.kind, move);
      for (int64_t j = 0; j < visible; ++j) {
        withGradient[j] += gradient[offset] * move[j];
        withY[j] += row->y[offset] * move[j];
        moved[offset] += std::fabs(move[j]);
      }
    }
    offset += channel.width(p.dModel);
  }
}

/// d_j of a scalar channel.
void RowBackward::moveScalar(ChannelKind kind, std::vector<double> &move) {
  for (int64_t j = 0; j < visible; ++j)
    switch (kind) {
    case ChannelKind::Spread:
      move[j] = p.tau * weights[j] * (dist[j] - meanDistance - p.temperature());
      break;
    case ChannelKind::Entropy:
      move[j] = -weights[j] * (logWeight(j) + isAbove(j) - meanLog);
      break;
    default:
      move[j] = j == largest;
    }
}

/// How much G changes with the normalisation of the row.
void RowBackward::boundProjection() {
  moved.assign(gradient.size(), 0.0);
  vectorBound.assign(gradient.size(), 0.0);
  alongMove = alongY = alongGradient = 0;
  if (row->norm > 1e-10) {
    std::vector<double> withGradient(visible, 0.0), withY(visible, 0.0);
    addMoves(withGradient, withY);
    alongMove = std::fabs(along) / (row->norm * row->norm);
    for (int64_t j = 0; j < visible; ++j) {
      alongY += std::fabs(along * withY[j] / row->norm - withGradient[j]);
      alongGradient += std::fabs(withY[j]);
    }
    alongY /= row->norm;
    alongGradient /= row->norm;
  }
  for (size_t s = 0; s < gradient.size(); ++s) {
    moved[s] = alongMove * moved[s] + alongY * std::fabs(row->y[s]) +
               alongGradient * std::fabs(gradient[s]);
    moved[s] += rounding * terms[s];
    vectorBound[s] = 2 * std::fabs(gradient[s]) + moved[s];
  }
}

//===----------------------------------------------------------------------===//
// Temperature and distance
//===----------------------------------------------------------------------===//

/// Changes of dz_j sum to 0: distances count from their mean.
void RowBackward::applyTemperature() {
  double t = p.temperature();
  double value = largestGradient * dist[largest];
  double bound = largestBound * dist[largest] + std::fabs(largestGradient) * t;
  for (int64_t j = 0; j < visible; ++j) {
    value += scores.values[j] * dist[j];
    bound += scores.sensitivity[j] * std::fabs(dist[j] - meanDistance) +
             std::fabs(scores.values[j]) * t + rounded[j] * dist[j];
    distances.values[j] -= scores.values[j] / t;
    distances.sensitivity[j] += scores.sensitivity[j] / t;
    rounded[j] /= t;
  }
  distances.values[largest] -= largestGradient / t;
  distances.sensitivity[largest] += largestBound / t;
  total += largestBound / t;
  if (p.tau >= 0.01) {
    tau.values[0] += value / (t * t);
    tau.sensitivity[0] += bound / (t * t);
  }
}

void RowBackward::applyDistance() {
  const double *query = p.query(id.batch, id.row);
  double square = 0;
  for (int64_t col = 0; col < p.dModel; ++col)
    square += query[col] * query[col];
  for (int64_t j = 0; j < visible; ++j) {
    double value = distances.values[j];
    double bound = distances.sensitivity[j] + rounded[j];
    if (p.metric == Metric::SqL2) {
      factors.values[j] = 2 * value;
      factors.sensitivity[j] = 2 * bound;
    } else if (dist[j] > 0) {
      // Short distances are recomputed by differences: those are right.
      double norm = tableNorms[p.sequence(id.batch)[j]];
      if (dist[j] * dist[j] >= 0x1p-10 * (square + norm * norm))
        bound += std::fabs(value) * p.temperature() / dist[j];
      factors.values[j] = value / dist[j];
      factors.sensitivity[j] = bound / dist[j];
    }
  }
  weightedDifferences(factors.values.data(), p.sequence(id.batch), visible,
                      query, p.table.data(), p.dModel, queries.values.data());
  boundQueries(query);
}

/// Squared, the changes of f_j sum to twice `total`: only what is the same for
/// all keys is multiplied by q, the rest by the keys' distance from their mean.
void RowBackward::boundQueries(const double *query) {
  const int64_t *ids = p.sequence(id.batch);
  double *bound = queries.sensitivity.data();
  if (p.metric == Metric::L2) {
    weightedAbsDifferences(factors.sensitivity.data(), ids, visible, query,
                           p.table.data(), p.dModel, bound);
    return;
  }
  weightedAbsDifferences(distances.sensitivity.data(), ids, visible,
                         centroid.data(), p.table.data(), p.dModel, bound);
  // Not with q - k: the gradient may be summed as q sum_j f_j - sum_j f_j k_j.
  std::vector<double> origin(p.dModel, 0.0);
  weightedAbsDifferences(rounded.data(), ids, visible, origin.data(),
                         p.table.data(), p.dModel, bound);
  double all = std::accumulate(rounded.begin(), rounded.end(), 0.0);
  for (int64_t col = 0; col < p.dModel; ++col)
    bound[col] =
        2 * (bound[col] + total * std::fabs(query[col] - centroid[col]) +
             all * std::fabs(query[col]));
}
