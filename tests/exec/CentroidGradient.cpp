//===- CentroidGradient.cpp - a gradient written as its sums --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/CentroidGradient.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace raytention;
using namespace raytention::test;

static double dot(const std::vector<double> &a, const std::vector<double> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

CentroidGradient::CentroidGradient(const GradientProblem &problem)
    : problem(problem), numRows(problem.numQueries), width(problem.spec.dModel),
      totals(problem.batch * numRows), nearest(totals.size()),
      scales(totals.size()), means(totals.size(), Vector(width)),
      gradients(means) {
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t i = 0; i < numRows; ++i)
      if (isPresent(b, i + problem.offset))
        prepareRow(b, i);
  ofQueries.weights.resize(totals.size() * problem.numKeys);
  ofQueries.coefficients = ofQueries.weights;
  forEach(ofQueries, [&](int64_t b, int64_t i, int64_t j, double &weight,
                         double &coefficient) {
    if (isSeen(b, i, j))
      setSeen(b, i, j, weight, coefficient);
  });
  ofKeys = ofQueries;
}

void CentroidGradient::prepareRow(int64_t b, int64_t i) {
  size_t row = rowOf(b, i);
  nearest[row] = HUGE_VAL;
  for (int64_t j = 0; j < problem.numKeys; ++j)
    if (isSeen(b, i, j)) {
      totals[row] += std::exp(-getSquare(b, i, j) / problem.tau[0]);
      nearest[row] = std::min(nearest[row], getSquare(b, i, j));
    }
  Vector &mean = means[row], &gradient = gradients[row];
  for (int64_t j = 0; j < problem.numKeys; ++j)
    for (int64_t d = 0; d < width && isSeen(b, i, j); ++d)
      mean[d] += std::exp(-getSquare(b, i, j) / problem.tau[0]) / totals[row] *
                 getKey(b, j)[d];
  double norm = std::sqrt(dot(mean, mean));
  const double *dy = &problem.dSignals[row * width];
  gradient.assign(dy, dy + width);
  double along = dot(mean, gradient) / norm;
  for (int64_t d = 0; d < width; ++d)
    gradient[d] -= along * mean[d] / norm;
  scales[row] = 1 / norm;
}

void CentroidGradient::forEach(Pairs &pairs, Change change) {
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < problem.numKeys; ++j)
        change(b, i, j, pairs.weights[pairOf(b, i, j)],
               pairs.coefficients[pairOf(b, i, j)]);
}

void CentroidGradient::setSeen(int64_t b, int64_t i, int64_t j, double &weight,
                               double &coefficient) const {
  size_t row = rowOf(b, i);
  const Vector &gradient = gradients[row];
  weight = totals[row] > 0 ? scales[row] / totals[row] : 0;
  weight *= std::exp(-getSquare(b, i, j) / problem.tau[0]);
  coefficient =
      weight * (dot(gradient, getKey(b, j)) - dot(gradient, means[row]));
}

std::vector<double> CentroidGradient::sumQueries() const {
  std::vector<double> sums(totals.size() * width);
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < problem.numKeys; ++j)
        for (int64_t d = 0; d < width && isPresent(b, i + problem.offset); ++d)
          sums[rowOf(b, i) * width + d] +=
              2 / problem.tau[0] * ofQueries.coefficients[pairOf(b, i, j)] *
              (getKey(b, j)[d] - getQuery(b, i)[d]);
  return sums;
}

std::vector<double> CentroidGradient::sumKeys() const {
  std::vector<double> sums(problem.batch * problem.numKeys * width);
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < problem.numKeys; ++j)
        for (int64_t d = 0; d < width; ++d)
          if (isPresent(b, i + problem.offset) && isPresent(b, j))
            sums[(b * problem.numKeys + j) * width + d] +=
                ofKeys.weights[pairOf(b, i, j)] * gradients[rowOf(b, i)][d] +
                2 / problem.tau[0] * ofKeys.coefficients[pairOf(b, i, j)] *
                    (getQuery(b, i)[d] - getKey(b, j)[d]);
  return sums;
}

/// Scores count from the row's largest, as of all keys their gradients sum to
/// 0: it tells where some are left out.
double CentroidGradient::sumTau() const {
  double sum = 0;
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t i = 0; i < numRows; ++i)
      for (int64_t j = 0; j < problem.numKeys; ++j)
        sum += ofQueries.coefficients[pairOf(b, i, j)] *
               (getSquare(b, i, j) - nearest[rowOf(b, i)]) /
               (problem.tau[0] * problem.tau[0]);
  return sum;
}

GradientValues CentroidGradient::sum(const std::vector<int32_t> &ids) const {
  GradientValues values;
  values.queries = sumQueries();
  values.table.resize(problem.vocab * width);
  std::vector<double> keys = sumKeys();
  for (size_t position = 0; position < ids.size(); ++position)
    for (int64_t d = 0; d < width; ++d)
      values.table[ids[position] * width + d] += keys[position * width + d];
  values.tau = {sumTau()};
  values.gammas.resize(problem.gammas.size());
  return values;
}

std::vector<double> CentroidGradient::getQuery(int64_t b, int64_t i) const {
  const double *from = &problem.queries[rowOf(b, i) * width];
  return Vector(from, from + width);
}

std::vector<double> CentroidGradient::getKey(int64_t b, int64_t j) const {
  const double *from =
      &problem.table[problem.ids[b * problem.numKeys + j] * width];
  return Vector(from, from + width);
}

double CentroidGradient::getSquare(int64_t b, int64_t i, int64_t j) const {
  Vector difference = getQuery(b, i), key = getKey(b, j);
  for (int64_t d = 0; d < width; ++d)
    difference[d] -= key[d];
  return dot(difference, difference);
}

bool CentroidGradient::isPresent(int64_t b, int64_t position) const {
  return position <
         (problem.lengths.empty() ? problem.numKeys : problem.lengths[b]);
}

bool CentroidGradient::isSeen(int64_t b, int64_t i, int64_t j) const {
  return j <= i + problem.offset && isPresent(b, i + problem.offset);
}
