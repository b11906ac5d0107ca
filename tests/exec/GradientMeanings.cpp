//===- GradientMeanings.cpp - what edits of a gradient mean ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/CentroidGradient.h"
#include "tests/exec/GradientEdits.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace raytention;
using namespace raytention::test;

static constexpr int64_t kWidth = GradientSizes::kWidth,
                         kTile = GradientSizes::kTile,
                         kChunk = GradientSizes::kChunk;

GradientProblem test::makeGradientProblem(std::vector<std::string> channels) {
  using Sizes = GradientSizes;
  GradientProblem problem(
      29, std::move(channels),
      GradientShape{2, Sizes::kKeys, 0, Sizes::kWidth, Sizes::kVocab});
  for (int32_t &id : problem.ids)
    id %= 5;
  problem.lengths = {Sizes::kKeys, 13};
  return problem;
}

/// What target reference makes of the inputs, as a test has changed them.
static GradientValues getReference(const GradientProblem &problem) {
  static std::map<std::vector<std::string>, std::unique_ptr<Attention>> known;
  auto &attention = known[problem.spec.channels];
  if (!attention)
    attention = problem.compile(DType::F64);
  return problem.computeGradients(*attention, DType::F64, 1);
}

template <typename T> static void swapHalves(std::vector<T> &values) {
  std::swap_ranges(values.begin(), values.begin() + values.size() / 2,
                   values.begin() + values.size() / 2);
}

GradientValues test::gradientIsTheSame(GradientProblem &problem, bool) {
  return getReference(problem);
}

GradientValues test::gradientOfLaterRows(GradientProblem &problem, bool) {
  std::vector<double> &table = problem.table;
  table.erase(table.begin(), table.begin() + 6 * kWidth);
  problem.vocab -= 6;
  GradientValues values = getReference(problem);
  values.table.resize(values.table.size() + 6 * kWidth);
  return values;
}

GradientValues test::gradientOfSwappedDy(GradientProblem &problem, bool) {
  swapHalves(problem.dSignals);
  return getReference(problem);
}

GradientValues test::gradientIsSwapped(GradientProblem &problem, bool) {
  GradientValues values = getReference(problem);
  swapHalves(values.queries);
  return values;
}

/// The first `some` of `all` rows of each sequence.
static std::vector<double> takeRows(const std::vector<double> &values,
                                    int64_t all, int64_t some) {
  int64_t width = values.size() / 2 / all;
  std::vector<double> taken;
  for (int64_t b = 0; b < 2; ++b)
    taken.insert(taken.end(), values.begin() + b * all * width,
                 values.begin() + (b * all + some) * width);
  return taken;
}

GradientValues test::gradientOfLaterPositions(GradientProblem &problem, bool) {
  int64_t all = problem.numQueries;
  problem.offset = problem.lengths[0] - problem.lengths[1];
  problem.numQueries = all - problem.offset;
  problem.queries = takeRows(problem.queries, all, problem.numQueries);
  problem.dSignals = takeRows(problem.dSignals, all, problem.numQueries);
  GradientValues values = getReference(problem);
  // Rows beyond the last position have no key.
  for (int64_t b = 0; b < 2; ++b)
    values.queries.insert(values.queries.begin() +
                              (b * all + problem.numQueries) * kWidth,
                          problem.offset * kWidth, 0);
  return values;
}

GradientValues test::gradientOnOnes(GradientProblem &problem, bool) {
  GradientValues values = getReference(problem);
  for (double &value : values.table)
    value += 1;
  return values;
}

//===----------------------------------------------------------------------===//
// Pair by pair
//===----------------------------------------------------------------------===//

static void setAll(std::vector<double> &values, double value) {
  std::fill(values.begin(), values.end(), value);
}

GradientValues test::gradientWithoutQueries(GradientProblem &problem, bool) {
  GradientValues values = getReference(problem);
  setAll(values.queries, 0);
  return values;
}

GradientValues test::gradientWithoutKeys(GradientProblem &problem, bool) {
  GradientValues values = getReference(problem);
  setAll(values.table, 0);
  return values;
}

GradientValues test::gradientWithoutDifferences(GradientProblem &problem,
                                                bool) {
  CentroidGradient gradient(problem);
  setAll(gradient.ofKeys.coefficients, 0);
  return gradient.sum();
}

GradientValues test::gradientWithoutWeights(GradientProblem &problem, bool) {
  CentroidGradient gradient(problem);
  setAll(gradient.ofKeys.weights, 0);
  return gradient.sum();
}

GradientValues test::gradientOfTheFirst(GradientProblem &problem, bool) {
  GradientValues values = getReference(problem);
  std::fill(values.queries.begin() + values.queries.size() / 2,
            values.queries.end(), 0);
  return values;
}

GradientValues test::gradientOfLaterKeys(GradientProblem &problem,
                                         bool isStored) {
  CentroidGradient gradient(problem);
  gradient.forEach(gradient.ofQueries, [](int64_t, int64_t, int64_t j,
                                          double &weight, double &coefficient) {
    if (j < kChunk)
      weight = coefficient = 0;
  });
  GradientValues values = gradient.sum();
  // Nothing is stored of the other pairs.
  if (isStored)
    setAll(values.table, NAN);
  return values;
}

GradientValues test::gradientOfLaterTiles(GradientProblem &problem,
                                          bool isStored) {
  CentroidGradient gradient(problem);
  gradient.forEach(gradient.ofKeys, [&](int64_t, int64_t i, int64_t j,
                                        double &weight, double &coefficient) {
    int64_t first = j / kChunk * kChunk;
    // Each chunk of rows has a loop of its own.
    if (isStored)
      first = std::max(first, i / kChunk * kChunk);
    if (i < first + kTile)
      weight = coefficient = 0;
  });
  return gradient.sum();
}

GradientValues test::gradientOfSwappedPairs(GradientProblem &problem, bool) {
  CentroidGradient gradient(problem);
  // The scale of a row comes with its weights, not with the stack they meet.
  swapHalves(gradient.ofKeys.weights);
  swapHalves(gradient.ofKeys.coefficients);
  return gradient.sum();
}

GradientValues test::gradientOfAnotherMask(GradientProblem &problem, bool) {
  CentroidGradient gradient(problem);
  gradient.forEach(gradient.ofKeys, [&](int64_t b, int64_t i, int64_t j,
                                        double &weight, double &coefficient) {
    // As if row i stood at i + 1: the last is outside.
    if (i + 1 >= problem.lengths[b])
      weight = coefficient = 0;
    else if (j == i + 1)
      gradient.setSeen(b, i, j, weight, coefficient);
  });
  return gradient.sum();
}

GradientValues test::gradientBySwappedIds(GradientProblem &problem, bool) {
  std::vector<int32_t> ids = problem.ids;
  swapHalves(ids);
  return CentroidGradient(problem).sum(ids);
}
