//===- RowError.cpp - errors of one row, and their maxima -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowError.h"

#include "tools/oracle/AcceptedKeys.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// |a - b|, infinite where either is not finite.
double difference(double a, double b) {
  double d = std::fabs(a - b);
  return std::isfinite(d) ? d : infinity;
}

/// The largest difference of two vectors, and where it is.
struct Distance {
  double value = 0;
  int64_t element = 0;
};

Distance largestDifference(const double *a, const double *b, int64_t width) {
  Distance largest;
  for (int64_t col = 0; col < width; ++col)
    if (double d = difference(a[col], b[col]); d > largest.value)
      largest = {d, col};
  return largest;
}

} // namespace

void ChannelError::add(RowId id, int64_t at, double err, double allowance) {
  error = std::max(error, err);
  double over = err - allowance;
  if (element < 0 || over > excess || (over == excess && id < row)) {
    excess = over;
    row = id;
    element = at;
  }
}

void ChannelError::merge(const ChannelError &other) {
  magnitude = std::max(magnitude, other.magnitude);
  error = std::max(error, other.error);
  scoreError = std::max(scoreError, other.scoreError);
  rounding = std::max(rounding, other.rounding);
  significant |= other.significant;
  nearTies += other.nearTies;
  if (other.element >= 0 && (element < 0 || other.excess > excess ||
                             (other.excess == excess && other.row < row))) {
    excess = other.excess;
    row = other.row;
    element = other.element;
  }
}

RowComparer::RowComparer(const Problem &problem, const ScoreScales &scales,
                         const CheckOptions &options)
    : errors(problem.channels.size() + 1), p(problem), scales(scales),
      tol(options.tol > 0 ? options.tol : forwardTolerance(options.dtype)),
      roundoff(unitRoundoff(options.dtype)),
      smallest(smallestNormal(options.dtype)) {}

void RowComparer::compare(const Row &row, const double *x) {
  if (p.visibleKeys(row.id.batch, row.id.row) == 0)
    return comparePadding(row, x);
  const double *expected = row.x.data();
  double farthest = -p.temperature() *
                    *std::min_element(row.scores.begin(), row.scores.end());
  size_t copies = 0;
  for (size_t c = 0; c < p.channels.size(); ++c) {
    const Channel &channel = p.channels[c];
    int64_t width = channel.width(p.dModel);
    measure(row, c, expected, width);
    if (channel.isCopy())
      compareCopy(row, channel, row.indices[copies++], x, errors[c]);
    else
      compareValues(row, c, farthest, expected, x, width);
    expected += width;
    x += width;
  }
}

/// How large the channel is in this row.
void RowComparer::measure(const Row &row, size_t c, const double *expected,
                          int64_t width) {
  double largest = 0;
  for (int64_t col = 0; col < width; ++col)
    largest = std::max(largest, std::fabs(expected[col]));
  double rounding = roundoff * scales.cancelling(p.channels[c], row.floors[c]);
  ChannelError &error = errors[c];
  error.magnitude = std::max(error.magnitude, largest);
  error.rounding = std::max(error.rounding, rounding);
  error.significant |= largest > std::max(rounding, smallest); // flushed
}

void RowComparer::compareValues(const Row &row, size_t c, double farthest,
                                const double *expected, const double *values,
                                int64_t width) {
  Distance d = largestDifference(expected, values, width);
  double scoreError = scales.scoreError(
      p.channels[c], {p.length(row.id.batch), row.floors[c], farthest});
  errors[c].scoreError = std::max(errors[c].scoreError, scoreError);
  errors[c].add(row.id, d.element, d.value, scoreError + flushed(row));
}

/// A copy carries no score error of its own: it is some key, exactly. Its
/// error is its distance from the nearest key that it may be.
void RowComparer::compareCopy(const Row &row, const Channel &channel,
                              int64_t index, const double *values,
                              ChannelError &error) {
  const double *key = p.key(row.id.batch, index);
  Distance best = largestDifference(key, values, p.dModel);
  double largest = 0;
  for (int64_t col = 0; col < p.dModel; ++col)
    largest = std::max(largest, std::fabs(key[col]));
  // The search below is only for rows that this key alone would fail.
  if (best.value > tol * largest && channel.kind != ChannelKind::Predecessor) {
    ScoreRange range =
        acceptedRange(row.shifted, row.logSum, channel, index, scales.keyError);
    double first = best.value;
    for (size_t j = 0; j < row.shifted.size(); ++j) {
      if (!range.holds(row.shifted[j]))
        continue;
      Distance d = largestDifference(p.key(row.id.batch, j), values, p.dModel);
      if (d.value < best.value)
        best = d;
    }
    error.nearTies += best.value < first;
  }
  error.add(row.id, best.element, best.value, flushed(row));
}

void RowComparer::comparePadding(const Row &row, const double *x) {
  Distance d = largestDifference(row.x.data(), x, row.x.size());
  errors.back().add(row.id, d.element, d.value, 0);
}

/// What may be lost by flushing the output: x is y ||x|| where ||x|| > 1.
double RowComparer::flushed(const Row &row) const {
  return smallest * std::max(1.0, row.norm);
}
