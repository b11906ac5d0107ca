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
#include "tools/oracle/Sum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace raytention;
using namespace raytention::oracle;

template <typename Real>
RowBackward<Real>::RowBackward(const Problem &problem,
                               const std::vector<double> &tableNorms,
                               const BackwardOptions &options)
    : p(problem), tableNorms(tableNorms), scoreError(options.scoreError),
      smallestWeight(options.smallestWeight) {
  int64_t offset = 0;
  for (const Channel &channel : p.channels) {
    if (!channel.isCopy() && !channel.isScalar())
      weighted.emplace_back(channel, offset);
    offset += channel.width(p.dModel);
  }
}

template <typename Real>
void RowBackward<Real>::compute(const RowState<Real> &computed,
                                const double *dy) {
  row = &computed;
  id = row->id;
  visible = row->shifted.size();
  indices = row->indices;
  queries.resize(p.dModel);
  tau = {};
  gammas.resize(p.gammas.size());
  open.clear();
  if (visible == 0)
    return;
  computeWeights();
  computeMeans();
  project(dy);
  for (RowWeights<Real> &channel : weighted)
    channel.compute(p, *row, gradient);
  boundProjection();

  for (const RowWeights<Real> &channel : weighted)
    addWeighted(channel);
  int64_t offset = 0;
  for (const Channel &channel : p.channels) {
    if (channel.kind == ChannelKind::Spread)
      addSpread(offset);
    else if (channel.kind == ChannelKind::Entropy)
      addEntropy(offset);
    else if (channel.kind == ChannelKind::MaxScore)
      addLargest(offset);
    else if (channel.kind == ChannelKind::Moment)
      addMoment(channel.arg, offset);
    offset += channel.width(p.dModel);
  }
  applyTemperature();
  applyDistance();
  openNearest();
  openFlushed();
}

template <typename Real> void RowBackward<Real>::computeWeights() {
  scores.resize(visible);
  distances.resize(visible);
  factors.resize(visible);
  ownTerms.assign(visible, 0.0);
  own = largest = {};
  gradient.weights.resize(visible);
  for (int64_t j = 0; j < visible; ++j) {
    Real w = row->weight(j);
    gradient.weights[j] = w < smallestUsedWeight ? 0 : w;
  }
}

template <typename Real> void RowBackward<Real>::computeMeans() {
  const double *query = p.query(id.batch, id.row);
  querySquare = 0;
  for (int64_t col = 0; col < p.dModel; ++col)
    querySquare += query[col] * query[col];
  Sum<Real> distance, log;
  for (int64_t j = 0; j < visible; ++j) {
    distance.add(gradient.weights[j] * row->dist[j]);
    log.add(gradient.weights[j] * (logWeight(j) + isAbove(j)));
  }
  meanDistance = distance.value();
  meanLog = log.value();
  centroid.resize(p.dModel);
  weightedSum(gradient.weights.data(), p.sequence(id.batch), visible,
              p.table.data(), p.dModel, centroid.data());
  narrowCentroid.assign(centroid.begin(), centroid.end());
}

template <typename Real> bool RowBackward<Real>::isAbove(int64_t j) const {
  return row->shifted[j] - row->logSum >= logSmallestWeight<Real>();
}

/// log max(w_j, 1e-10).
template <typename Real> Real RowBackward<Real>::logWeight(int64_t j) const {
  return std::max(row->shifted[j] - row->logSum, logSmallestWeight<Real>());
}

//===----------------------------------------------------------------------===//
// The normalisation of the row
//===----------------------------------------------------------------------===//

template <typename Real> void RowBackward<Real>::project(const double *dy) {
  size_t width = row->y.size();
  std::vector<Real> &values = gradient.values;
  gradient.y.assign(row->y.begin(), row->y.end());
  values.assign(dy, dy + width);
  gradient.terms.resize(width);
  bool free = row->norm > Real(1e-10L);
  Sum<Real> dot;
  for (size_t s = 0; s < width; ++s)
    dot.add(row->y[s] * dy[s]);
  along = dot.value();
  // A dot product of S terms, a difference and a quotient round, and then a
  // product with each key.
  constexpr double roundings = 4;
  double norm = std::max(static_cast<double>(row->norm), 1e-10);
  for (size_t s = 0; s < width; ++s) {
    Real projected = row->y[s] * along;
    values[s] = free ? (dy[s] - projected) / row->norm : dy[s] / Real(1e-10L);
    double absolute = std::fabs(dy[s]);
    if (free)
      absolute += std::fabs(static_cast<double>(projected));
    gradient.terms[s] = roundings * (absolute / norm);
  }
}

/// Adds up, over the channels, sum_j |d_j| in `moved`, and the products of
/// each d_j with G and y.
template <typename Real>
void RowBackward<Real>::addMoves(std::vector<double> &withGradient,
                                 std::vector<double> &withY) {
  for (const RowWeights<Real> &channel : weighted) {
    for (int64_t j = 0; j < visible; ++j) {
      withGradient[j] += channel.moveAlongGradient(j);
      withY[j] += channel.moveAlongY(j);
    }
    std::copy(channel.move.begin(), channel.move.end(),
              moved.begin() + channel.offset);
  }
  scalarMoves.clear();
  int64_t offset = 0;
  for (const Channel &channel : p.channels) {
    if (channel.isScalar()) {
      scalarMoves.emplace_back(offset, std::vector<double>(visible));
      std::vector<double> &move = scalarMoves.back().second;
      moveScalar(channel, move);
      double g = static_cast<double>(gradientAt(offset));
      for (int64_t j = 0; j < visible; ++j) {
        withGradient[j] += g * move[j];
        withY[j] += gradient.y[offset] * move[j];
        moved[offset] += std::fabs(move[j]);
      }
    }
    offset += channel.width(p.dModel);
  }
}

/// d_j of a scalar channel.
template <typename Real>
void RowBackward<Real>::moveScalar(const Channel &channel,
                                   std::vector<double> &move) {
  double mean = static_cast<double>(meanDistance), t = p.temperature();
  if (channel.kind == ChannelKind::Moment)
    return moveMoment(channel.arg, move);
  for (int64_t j = 0; j < visible; ++j)
    switch (channel.kind) {
    case ChannelKind::Spread:
      move[j] = p.tau * weight(j) * (dist(j) - mean - t);
      break;
    case ChannelKind::Entropy:
      move[j] =
          -weight(j) * static_cast<double>(logWeight(j) + isAbove(j) - meanLog);
      break;
    default:
      move[j] = j == row->nearest;
    }
}

/// A number that outweighs the rest of its row has a G that is small, and so is
/// its change: the terms of that cancel.
template <typename Real>
void RowBackward<Real>::boundScalars(const std::vector<double> &withGradient,
                                     const std::vector<double> &withY) {
  double norm = static_cast<double>(row->norm);
  double dot = static_cast<double>(along);
  for (const auto &[offset, move] : scalarMoves) {
    double y = static_cast<double>(gradient.y[offset]),
           g = static_cast<double>(gradientAt(offset)), sum = 0;
    for (int64_t j = 0; j < visible; ++j)
      sum += std::fabs((dot * withY[j] / norm - withGradient[j]) / norm * y -
                       withY[j] / norm * g - dot / (norm * norm) * move[j]);
    moved[offset] = sum;
    vectorBound[offset] = 2 * std::fabs(g) + sum;
  }
}

/// How much G changes with the normalisation of the row.
template <typename Real> void RowBackward<Real>::boundProjection() {
  size_t width = gradient.values.size();
  moved.assign(width, 0.0);
  vectorBound.assign(width, 0.0);
  alongMove = alongY = alongGradient = 0;
  bool isFree = row->norm > Real(1e-10L);
  std::vector<double> withGradient(visible, 0.0), withY(visible, 0.0);
  if (isFree) {
    addMoves(withGradient, withY);
    double norm = static_cast<double>(row->norm);
    double dot = static_cast<double>(along);
    alongMove = std::fabs(dot) / (norm * norm);
    for (int64_t j = 0; j < visible; ++j) {
      alongY += std::fabs(dot * withY[j] / norm - withGradient[j]);
      alongGradient += std::fabs(withY[j]);
    }
    alongY /= norm;
    alongGradient /= norm;
    if (scoreError * alongGradient > 0.5) // no longer of first order
      alongGradient = std::numeric_limits<double>::infinity();
  }
  for (size_t s = 0; s < width; ++s) {
    double g = std::fabs(static_cast<double>(gradient.values[s]));
    moved[s] = alongMove * moved[s] + alongY * std::fabs(gradient.y[s]) +
               alongGradient * g;
    vectorBound[s] = 2 * g + moved[s];
  }
  if (isFree && std::isfinite(alongGradient))
    boundScalars(withGradient, withY);
}

//===----------------------------------------------------------------------===//
// Temperature and distance
//===----------------------------------------------------------------------===//

/// dz_j and its changes sum to 0: distances count from the smallest, those of
/// the changes from their mean.
template <typename Real> void RowBackward<Real>::applyTemperature() {
  double t = p.temperature(), mean = static_cast<double>(meanDistance);
  int64_t m = row->nearest;
  Real least = row->dist[m];
  Sum<Real> value;
  value.add(largest.value * least);
  double bound = largest.sensitivity * dist(m) +
                 std::fabs(static_cast<double>(largest.value)) * t;
  double terms = largest.terms * dist(m);
  for (int64_t j = 0; j < visible; ++j) {
    Real beyond = row->dist[j] - least;
    value.add(scores.values[j] * beyond);
    bound += scores.sensitivity[j] * std::fabs(dist(j) - mean) +
             std::fabs(static_cast<double>(scores.values[j])) * t;
    terms += scores.terms[j] * static_cast<double>(beyond);
    distances.values[j] -= scores.values[j] / Real(t);
    distances.sensitivity[j] += scores.sensitivity[j] / t;
    distances.terms[j] += scores.terms[j] / t;
  }
  distances.values[m] -= largest.value / Real(t);
  distances.sensitivity[m] += largest.sensitivity / t;
  ownTerms[m] += largest.terms / t;
  own.value -= largest.value / Real(t);
  own.sensitivity += largest.sensitivity / t;
  own.terms += largest.terms / t;
  if (p.tau >= p.tauFloor) {
    tau.value += value.value() / Real(t) / Real(t);
    tau.sensitivity += bound / t / t;
    tau.terms += terms / t / t;
  }
}

/// Whether the distance of a pair is not small beside its norms.
template <typename Real> bool RowBackward<Real>::isFar(int64_t j) const {
  double norm = tableNorms[p.sequence(id.batch)[j]], square = dist(j);
  if (p.metric == Metric::L2)
    square *= square;
  return square >= 0x1p-10 * (querySquare + norm * norm);
}

template <typename Real> void RowBackward<Real>::applyDistance() {
  const double *query = p.query(id.batch, id.row);
  for (int64_t j = 0; j < visible; ++j) {
    Real value = distances.values[j];
    double bound = distances.sensitivity[j];
    double terms = distances.terms[j] + ownTerms[j];
    if (p.metric == Metric::SqL2) {
      factors.values[j] = 2 * value;
      factors.sensitivity[j] = 2 * bound;
      factors.terms[j] = 2 * terms;
    } else if (row->dist[j] > 0) {
      // Short distances are recomputed by differences: those are right.
      double d = dist(j);
      if (isFar(j))
        bound += std::fabs(static_cast<double>(value)) * p.temperature() / d;
      factors.values[j] = value / row->dist[j];
      factors.sensitivity[j] = bound / d;
      factors.terms[j] = terms / d;
    }
  }
  farTerms.resize(visible);
  for (int64_t j = 0; j < visible; ++j)
    farTerms[j] = isFar(j) ? factors.terms[j] : 0;
  computeQueries(query);
  boundQueries(query);
}

/// Squared, f_j sums to twice the channels' own part: only that is multiplied
/// by q, the rest by the keys' distance from their mean.
template <typename Real>
void RowBackward<Real>::computeQueries(const double *query) {
  std::vector<Real> centre(query, query + p.dModel);
  if (p.metric == Metric::SqL2) {
    for (int64_t col = 0; col < p.dModel; ++col)
      queries.values[col] = 2 * own.value * (centre[col] - centroid[col]);
    centre = centroid;
  }
  weightedDifferences(factors.values.data(), p.sequence(id.batch), visible,
                      centre.data(), p.table.data(), p.dModel,
                      queries.values.data());
}

/// As computeQueries() for what wrong scores do.
template <typename Real>
void RowBackward<Real>::boundQueries(const double *query) {
  const int64_t *ids = p.sequence(id.batch);
  auto add = [&](const std::vector<double> &weights, const double *centre,
                 std::vector<double> &sum) {
    weightedAbsDifferences(weights.data(), ids, visible, centre, p.table.data(),
                           p.dModel, sum.data());
  };
  std::vector<double> &bound = queries.sensitivity, &terms = queries.terms;
  // Not with q - k where pairs are far: the gradient may be summed as
  // q sum_j f_j - sum_j f_j k_j.
  std::vector<double> origin(p.dModel, 0.0);
  if (p.metric == Metric::L2) {
    add(factors.sensitivity, query, bound);
    add(factors.terms, query, terms);
    add(farTerms, origin.data(), terms);
    double all = std::accumulate(farTerms.begin(), farTerms.end(), 0.0);
    for (int64_t col = 0; col < p.dModel; ++col)
      terms[col] += all * std::fabs(query[col]);
    return;
  }
  const double *mean = narrowCentroid.data();
  add(distances.sensitivity, mean, bound);
  add(distances.terms, origin.data(), terms);
  if (own.terms > 0)
    add(ownTerms, mean, terms);
  double all =
      std::accumulate(distances.terms.begin(), distances.terms.end(), 0.0);
  for (int64_t col = 0; col < p.dModel; ++col) {
    double offset = std::fabs(query[col] - mean[col]);
    bound[col] = 2 * (bound[col] + own.sensitivity * offset);
    terms[col] =
        2 * (terms[col] + own.terms * offset + all * std::fabs(query[col]));
  }
}

//===----------------------------------------------------------------------===//
// What is open
//===----------------------------------------------------------------------===//

/// dz_j may be off by `size`.
template <typename Real>
void RowBackward<Real>::addOpen(int64_t j, double size) {
  double factor = size / p.temperature();
  if (p.metric == Metric::SqL2)
    factor *= 2;
  else
    factor = row->dist[j] > 0 ? factor / dist(j) : 0;
  if (factor != 0)
    open.push_back({j, factor});
}

/// Of the keys that may have the largest score, each z being off by less than
/// the score error, max_score may take any.
template <typename Real> void RowBackward<Real>::openNearest() {
  const int64_t *ids = p.sequence(id.batch);
  int64_t m = row->nearest;
  auto isNearest = [&](int64_t j) {
    return -row->shifted[j] <= Real(scoreError);
  };
  bool isOne = true;
  for (int64_t j = 0; j < visible; ++j)
    isOne &= !isNearest(j) || ids[j] == ids[m];
  double size = std::fabs(static_cast<double>(largest.value));
  for (int64_t j = 0; j < visible && !isOne; ++j)
    if (isNearest(j))
      addOpen(j, size);
}

/// Whether a path may take the weight for 0, its score being off.
template <typename Real> bool RowBackward<Real>::isFlushed(Real weight) const {
  return weight < Real(smallestWeight) * std::exp(Real(scoreError));
}

/// Takes the part of dz_j that a flushed weight makes for open.
template <typename Real>
void RowBackward<Real>::addFlushed(const std::vector<Real> &weights,
                                   const std::vector<Real> &values) {
  for (int64_t j = 0; j < visible; ++j)
    if (isFlushed(weights[j]))
      scores.open[j] += std::fabs(static_cast<double>(values[j]));
}

/// What flushed weights lose, and the nearest key's share of it, as dz_j sums
/// to 0.
template <typename Real> void RowBackward<Real>::openFlushed() {
  double t = p.temperature(), all = 0;
  for (int64_t j = 0; j < visible; ++j) {
    double size = scores.open[j];
    addOpen(j, size);
    all += size;
    if (p.tau >= p.tauFloor)
      tau.open += size * (dist(j) - dist(row->nearest)) / t / t;
  }
  addOpen(row->nearest, all);
}

template class oracle::RowBackward<double>;
template class oracle::RowBackward<long double>;
