//===- Oracle.cpp - the forward pass, row by row --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Oracle.h"

#include "tools/oracle/RowForward.h"
#include "tools/oracle/Workers.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

using IndexedCallback = std::function<void(size_t, const Row &, int)>;

/// One scratch per worker.
template <typename Real>
static void runWorkers(const Problem &problem, const std::vector<RowId> &rows,
                       int threads, const IndexedCallback &callback) {
  std::vector<RowForward<Real>> scratch(workerCount(threads),
                                        RowForward<Real>(problem));
  std::vector<Row> rounded(scratch.size());
  forEachIndex(rows.size(), threads, [&](size_t n, int worker) {
    scratch[worker].compute(rows[n]).round(rounded[worker]);
    callback(n, rounded[worker], worker);
  });
}

static void run(const Problem &problem, const std::vector<RowId> &rows,
                int threads, Arithmetic arithmetic,
                const IndexedCallback &callback) {
  if (arithmetic == Arithmetic::Double)
    runWorkers<double>(problem, rows, threads, callback);
  else
    runWorkers<long double>(problem, rows, threads, callback);
}

template <typename Real> Real oracle::logSmallestWeight() {
  static const Real value = std::log(Real(1e-10L));
  return value;
}

template double oracle::logSmallestWeight<double>();
template long double oracle::logSmallestWeight<long double>();

std::vector<RowId> oracle::allRows(const Problem &problem) {
  std::vector<RowId> rows;
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t i = 0; i < problem.numQueries; ++i)
      rows.push_back({b, i});
  return rows;
}

Error oracle::validate(const Problem &problem, const std::vector<RowId> &rows) {
  if (Error error = validate(problem))
    return error;
  for (RowId id : rows)
    if (id.batch < 0 || id.batch >= problem.batch || id.row < 0 ||
        id.row >= problem.numQueries)
      return "expected rows in [" + std::to_string(problem.batch) + ", " +
             std::to_string(problem.numQueries) + "], got [" +
             std::to_string(id.batch) + ", " + std::to_string(id.row) + "]";
  return std::nullopt;
}

Error oracle::forEachRow(const Problem &problem, const std::vector<RowId> &rows,
                         int threads, const RowCallback &callback,
                         Arithmetic arithmetic) {
  if (Error error = validate(problem, rows))
    return error;
  run(problem, rows, threads, arithmetic,
      [&](size_t, const Row &row, int worker) { callback(row, worker); });
  return std::nullopt;
}

Error oracle::forward(const Problem &problem, const std::vector<RowId> &rows,
                      int threads, std::vector<Row> &results,
                      Arithmetic arithmetic) {
  if (Error error = validate(problem, rows))
    return error;
  results.assign(rows.size(), {});
  run(problem, rows, threads, arithmetic, [&](size_t n, const Row &row, int) {
    results[n] = row;
    results[n].scores = {};
    results[n].shifted = {};
  });
  return std::nullopt;
}
