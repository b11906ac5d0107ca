//===- ScoreError.cpp - how wrong a score may be --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/ScoreError.h"

#include "tools/oracle/Loops.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

namespace {

/// c for widths up to `dModel`, from the largest error that
/// bench/ScoreError.cpp found among random and near keys, f32 and f64.
struct Factor {
  int64_t dModel;
  double expansion, differences;
};

constexpr Factor factors[] = {
    {1, 6.5, 4.5}, {4, 7.5, 5},   {16, 6.5, 7},
    {32, 8, 7},    {128, 6, 6.5}, {200, 5.5, 5.5},
    {256, 4.5, 5}, {512, 5, 5},   {INT64_MAX, 4.5, 5},
};

double squaredNorm(const double *values, int64_t width) {
  double sum = 0;
  for (int64_t col = 0; col < width; ++col)
    sum += values[col] * values[col];
  return sum;
}

/// The pairs of a checked row and a key that it sees. Near: what l2 recomputes
/// by differences, well within its limit.
struct Pairs {
  double largest = 0, largestNear = 0; ///< squared distances
  bool allNear = true;

  void add(double square, double norms) {
    largest = std::max(largest, square);
    if (square < 0x1p-11 * norms)
      largestNear = std::max(largestNear, square);
    else
      allNear &= square == 0;
  }
  void merge(const Pairs &other) {
    largest = std::max(largest, other.largest);
    largestNear = std::max(largestNear, other.largestNear);
    allNear &= other.allNear;
  }
};

Pairs measurePairs(const Problem &p, const std::vector<RowId> &rows,
                   int threads) {
  int workers = workerCount(threads);
  std::vector<Pairs> pairs(workers);
  std::vector<std::vector<double>> scratch(workers);
  std::vector<double> norms(p.vocab, -1); // of tokens that are seen
  for (RowId id : rows)
    for (int64_t j = p.visibleKeys(id.batch, id.row); j-- > 0;)
      if (double &norm = norms[p.sequence(id.batch)[j]]; norm < 0)
        norm = squaredNorm(p.key(id.batch, j), p.dModel);
  forEachIndex(rows.size(), workers, [&](size_t n, int worker) {
    RowId id = rows[n];
    const int64_t *ids = p.sequence(id.batch);
    const double *query = p.query(id.batch, id.row);
    std::vector<double> &squares = scratch[worker];
    squares.resize(p.visibleKeys(id.batch, id.row));
    if (squares.empty())
      return;
    squaredDistances(query, p.table.data(), ids, squares.size(), p.dModel,
                     squares.data());
    double own = squaredNorm(query, p.dModel);
    for (size_t j = 0; j < squares.size(); ++j)
      pairs[worker].add(squares[j], own + norms[ids[j]]);
  });
  Pairs all;
  for (const Pairs &some : pairs)
    all.merge(some);
  return all;
}

/// The norms of the checked rows and of the keys that they see.
struct Norms {
  double maxKey = 0; ///< max ||k||^2
  double maxSum = 0; ///< max ||q||^2 + ||k||^2, over sequences
};

Norms measureNorms(const Problem &p, const std::vector<RowId> &rows) {
  std::vector<double> maxQuery(p.batch, 0.0);
  std::vector<int64_t> visible(p.batch, 0);
  for (RowId id : rows) {
    int64_t b = id.batch, seen = p.visibleKeys(b, id.row);
    if (seen == 0)
      continue;
    visible[b] = std::max(visible[b], seen);
    maxQuery[b] =
        std::max(maxQuery[b], squaredNorm(p.query(b, id.row), p.dModel));
  }
  Norms norms;
  for (int64_t b = 0; b < p.batch; ++b) {
    double maxKey = 0;
    for (int64_t j = 0; j < visible[b]; ++j)
      maxKey = std::max(maxKey, squaredNorm(p.key(b, j), p.dModel));
    norms.maxKey = std::max(norms.maxKey, maxKey);
    norms.maxSum = std::max(norms.maxSum, maxQuery[b] + maxKey);
  }
  return norms;
}

/// How wrong a distance may be, in units of rounding.
double distanceError(const Problem &p, const std::vector<RowId> &rows,
                     const Norms &norms, const CheckOptions &options) {
  auto factor = [&](bool byDifferences) {
    return options.scoreFactor > 0 ? options.scoreFactor
                                   : scoreErrorFactor(byDifferences, p.dModel);
  };
  bool isL2 = p.metric == Metric::L2;
  if (!isL2 && !options.exactDistances)
    return factor(false) * norms.maxSum;
  Pairs pairs = measurePairs(p, rows, options.threads);
  if (options.exactDistances)
    return factor(true) * (isL2 ? std::sqrt(pairs.largest) : pairs.largest);
  double near = factor(true) * std::sqrt(pairs.largestNear);
  return pairs.allNear
             ? near
             : std::max(near, 16 * factor(false) * std::sqrt(norms.maxSum));
}

} // namespace

double oracle::scoreErrorFactor(bool byDifferences, int64_t dModel) {
  const Factor *factor = factors;
  while (factor->dModel < dModel)
    ++factor;
  return byDifferences ? factor->differences : factor->expansion;
}

double ScoreScales::scoreError(const Channel &channel,
                               const RowExtent &row) const {
  if (channel.isCopy())
    return 0;
  switch (channel.kind) {
  case ChannelKind::Spread:
    return e * tTau;
  case ChannelKind::Entropy:
    return std::min(e, 1.0) * std::log(static_cast<double>(row.length));
  case ChannelKind::MaxScore:
    return e;
  case ChannelKind::Moment: // what it makes of dist counts where dist is short
    return e * t * channel.arg *
           std::pow(row.farthest + e * t, channel.arg - 1);
  default:
    return std::min(e * row.floor, 2.0) * maxKey;
  }
}

double ScoreScales::cancelling(const Channel &channel, double floor) const {
  if (channel.kind == ChannelKind::Entropy)
    return 1;
  return channel.isCopy() || channel.isScalar() ? 0 : maxKey * floor;
}

ScoreScales oracle::measureScales(const Problem &problem,
                                  const std::vector<RowId> &rows,
                                  const CheckOptions &options) {
  Norms norms = measureNorms(problem, rows);
  ScoreScales scales;
  scales.maxKey = std::sqrt(norms.maxKey);
  scales.t = problem.temperature();
  scales.tTau = problem.temperature() * std::fabs(problem.tau);
  // Workers flush squares below the smallest normal number.
  double flushed = problem.metric == Metric::SqL2
                       ? problem.dModel * smallestNormal(options.dtype)
                       : 0;
  scales.e = (distanceError(problem, rows, norms, options) *
                  unitRoundoff(options.dtype) +
              flushed) /
             problem.temperature();
  scales.keyError =
      std::max(scales.e, options.dtype == DType::F64 ? 0x1p-900 : 0x1p-100);
  return scales;
}
