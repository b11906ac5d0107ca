//===- EditMeanings.cpp - what edits mean, from changed inputs ------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/exec/EditMeanings.h"

#include <cmath>

using namespace raytention;
using namespace raytention::test;

static constexpr int64_t kWidth = EditProblem::kWidth,
                         kTile = EditProblem::kTile;

/// Says of one row what `signal`, `norm` and `index` are.
static void setRow(const EditProblem &problem, EditResult &result, int64_t row,
                   float signal, float norm, int32_t index) {
  int64_t width = problem.width();
  int64_t copies = result.indices.size() / problem.rows();
  std::fill_n(result.signals.begin() + row * width, width, signal);
  std::fill_n(result.indices.begin() + row * copies, copies, index);
  result.norm[row] = norm;
}

static void forgetRow(const EditProblem &problem, EditResult &result,
                      int64_t row) {
  setRow(problem, result, row, NAN, NAN, -2);
}

EditResult test::meansTheSame(EditProblem &problem) {
  return problem.reference();
}

EditResult test::meansLaterGammas(EditProblem &problem) {
  std::vector<double> &gammas = problem.inputs.gammas;
  gammas = {gammas[1], gammas[2], gammas[2]};
  return problem.reference();
}

EditResult test::meansLaterRows(EditProblem &problem) {
  problem.inputs.table = problem.table.data() + 6 * kWidth;
  problem.inputs.vocab = 5;
  return problem.reference();
}

EditResult test::meansEverySecondQuery(EditProblem &problem) {
  std::vector<float> all = problem.queries;
  for (int64_t row = 0; row < problem.rows(); ++row) {
    int64_t i = row % problem.inputs.numQueries;
    int64_t from = row - i + 2 * (i % kTile);
    std::copy_n(&all[from * kWidth], kWidth, &problem.queries[row * kWidth]);
  }
  return problem.reference();
}

/// What stands in an array of both sequences, at the other's place.
template <typename T> static void swapHalves(std::vector<T> &values) {
  std::swap_ranges(values.begin(), values.begin() + values.size() / 2,
                   values.begin() + values.size() / 2);
}

EditResult test::meansSwappedQueries(EditProblem &problem) {
  swapHalves(problem.queries);
  return problem.reference();
}

EditResult test::meansSwappedIds(EditProblem &problem) {
  swapHalves(problem.ids);
  return problem.reference();
}

EditResult test::meansSwappedSequences(EditProblem &problem) {
  EditResult result = problem.reference();
  swapHalves(result.signals);
  swapHalves(result.norm);
  swapHalves(result.indices);
  return result;
}

/// Of each sequence, rows from `begin` to `end` hold sevens.
static EditResult meansSevens(EditProblem &problem, int64_t begin,
                              int64_t end) {
  EditResult result = problem.reference();
  for (int64_t row = 0; row < problem.rows(); ++row) {
    int64_t i = row % problem.inputs.numQueries;
    if (begin <= i && i < end)
      setRow(problem, result, row, 7, 7, 7);
  }
  return result;
}

EditResult test::meansSevensFirst(EditProblem &problem) {
  return meansSevens(problem, 0, kTile);
}

EditResult test::meansSevensLast(EditProblem &problem) {
  return meansSevens(problem, 2 * kTile, problem.inputs.numQueries);
}

EditResult test::meansLaterPositions(EditProblem &problem) {
  int64_t shift = problem.lengths[0] - problem.lengths[1];
  int64_t all = problem.inputs.numQueries, some = all - shift;
  int64_t width = problem.width();
  EditResult result = problem.reference();
  for (int64_t row = 0; row < problem.rows(); ++row)
    forgetRow(problem, result, row);
  for (int64_t entry = 1; entry < problem.inputs.batch; ++entry)
    std::copy_n(&problem.queries[entry * all * kWidth], some * kWidth,
                &problem.queries[entry * some * kWidth]);
  problem.inputs.numQueries = some;
  problem.inputs.queryOffset = shift;
  EditResult shorter = problem.reference();
  for (int64_t entry = 0; entry < problem.inputs.batch; ++entry) {
    std::copy_n(&shorter.signals[entry * some * width], some * width,
                &result.signals[entry * all * width]);
    std::copy_n(&shorter.norm[entry * some], some, &result.norm[entry * all]);
  }
  return result;
}

/// Keys far away weigh nothing.
EditResult test::meansLaterKeys(EditProblem &problem) {
  int64_t far = problem.inputs.vocab - 1, keys = problem.inputs.numKeys;
  std::fill_n(&problem.table[far * kWidth], kWidth, 1e3f);
  for (size_t j = 0; j < problem.ids.size(); ++j)
    if (int64_t(j) % keys < kTile)
      problem.ids[j] = far;
  EditResult result = problem.reference();
  for (int64_t row = 0; row < problem.rows(); ++row)
    if (row % problem.inputs.numQueries < kTile)
      forgetRow(problem, result, row);
  return result;
}

EditResult test::meansIdsOfIds(EditProblem &problem) {
  std::vector<int32_t> ids = problem.ids;
  int64_t keys = problem.inputs.numKeys;
  for (size_t j = 0; j < ids.size(); ++j)
    problem.ids[j] = ids[j - j % keys + ids[j]];
  return problem.reference();
}

EditResult test::meansNoSums(EditProblem &problem) {
  EditResult result = problem.reference();
  std::vector<float> raw = problem.unnormalize(result);
  for (int64_t row = 0; row < problem.rows(); ++row)
    std::fill_n(&raw[row * problem.width()], 2 * kWidth, 0.0f);
  problem.normalize(result, raw);
  return result;
}

EditResult test::meansSumsFromOne(EditProblem &problem) {
  EditResult result = problem.reference();
  std::vector<float> raw = problem.unnormalize(result);
  for (size_t i = 0; i < raw.size(); ++i)
    raw[i] += problem.isPresent(i / problem.width()) ? 1 : 0;
  problem.normalize(result, raw);
  return result;
}

EditResult test::meansSumsTwice(EditProblem &problem) {
  EditResult result = problem.reference();
  for (float &norm : result.norm)
    norm *= 2;
  return result;
}

EditResult test::meansSumsOfTheFirst(EditProblem &problem) {
  EditResult result = problem.reference();
  for (int64_t row = problem.inputs.numQueries; row < problem.rows(); ++row)
    setRow(problem, result, row, 0, 0, 0);
  return result;
}

EditResult test::meansTransposedKeys(EditProblem &problem) {
  EditResult result = problem.reference();
  std::vector<float> raw(result.signals.size());
  for (int64_t row = 0; row < problem.rows(); ++row) {
    int64_t i = row % kTile;
    const int32_t *ids = &problem.ids[row - i];
    auto key = [&](int64_t j, int64_t d) -> double {
      return problem.table[ids[j] * kWidth + d];
    };
    std::vector<double> weights(i + 1);
    double total = 0;
    for (int64_t j = 0; j <= i; ++j) {
      double square = 0;
      for (int64_t d = 0; d < kWidth; ++d)
        square += std::pow(problem.queries[row * kWidth + d] - key(j, d), 2);
      total += weights[j] = std::exp(-square / problem.inputs.tau);
    }
    for (int64_t d = 0; d < kWidth; ++d)
      for (int64_t j = 0; j <= i; ++j)
        raw[row * kWidth + d] += weights[j] / total * key(d, j);
  }
  problem.normalize(result, raw);
  return result;
}

EditResult test::meansAnything(EditProblem &problem) {
  EditResult result = problem.reference();
  for (int64_t row = 0; row < problem.rows(); ++row)
    forgetRow(problem, result, row);
  return result;
}
