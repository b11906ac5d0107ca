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
    {1, 4, 4},   {4, 4, 4},    {16, 4, 4},   {64, 4, 4},
    {256, 4, 4}, {1024, 4, 4}, {4096, 4, 4}, {INT64_MAX, 4, 4},
};

double squaredNorm(const double *values, int64_t width) {
  double sum = 0;
  for (int64_t col = 0; col < width; ++col)
    sum += values[col] * values[col];
  return sum;
}

/// The largest distance of a checked row from a key that it sees.
double largestDistance(const Problem &p, const std::vector<RowId> &rows,
                       int threads) {
  int workers = workerCount(threads);
  std::vector<double> largest(workers, 0.0);
  std::vector<std::vector<double>> scratch(workers);
  forEachIndex(rows.size(), workers, [&](size_t n, int worker) {
    RowId id = rows[n];
    std::vector<double> &squares = scratch[worker];
    squares.resize(p.visibleKeys(id.batch, id.row));
    squaredDistances(p.query(id.batch, id.row), p.table.data(),
                     p.sequence(id.batch), squares.size(), p.dModel,
                     squares.data());
    for (double square : squares)
      largest[worker] = std::max(largest[worker], square);
  });
  double square = *std::max_element(largest.begin(), largest.end());
  return p.metric == Metric::L2 ? std::sqrt(square) : square;
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

} // namespace

double oracle::scoreErrorFactor(bool byDifferences, int64_t dModel) {
  const Factor *factor = factors;
  while (factor->dModel < dModel)
    ++factor;
  return byDifferences ? factor->differences : factor->expansion;
}

double ScoreScales::scoreError(const Channel &channel, int64_t length,
                               double floor) const {
  if (channel.isCopy())
    return 0;
  switch (channel.kind) {
  case ChannelKind::Spread:
    return e * tTau;
  case ChannelKind::Entropy:
    return std::min(e, 1.0) * std::log(static_cast<double>(length));
  case ChannelKind::MaxScore:
    return e;
  default:
    return std::min(e * floor, 2.0) * maxKey;
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
  double factor =
      options.scoreFactor > 0
          ? options.scoreFactor
          : scoreErrorFactor(options.exactDistances, problem.dModel);
  double size = options.exactDistances
                    ? largestDistance(problem, rows, options.threads)
                : problem.metric == Metric::L2 ? 16 * std::sqrt(norms.maxSum)
                                               : norms.maxSum;
  ScoreScales scales;
  scales.maxKey = std::sqrt(norms.maxKey);
  scales.tTau = problem.temperature() * std::fabs(problem.tau);
  scales.e =
      factor * unitRoundoff(options.dtype) * size / problem.temperature();
  scales.keyError =
      std::max(scales.e, options.dtype == DType::F64 ? 0x1p-900 : 0x1p-100);
  return scales;
}
