//===- Oracle.cpp - the float64 forward pass, row by row ------------------===//
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

/// One scratch per worker.
static void
runWorkers(const Problem &problem, const std::vector<RowId> &rows, int threads,
           const std::function<void(size_t, const Row &, int)> &callback) {
  std::vector<RowForward> scratch(workerCount(threads), RowForward(problem));
  forEachIndex(rows.size(), threads, [&](size_t n, int worker) {
    callback(n, scratch[worker].compute(rows[n]), worker);
  });
}

double oracle::logSmallestWeight() {
  static const double value = std::log(1e-10);
  return value;
}

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
                         int threads, const RowCallback &callback) {
  if (Error error = validate(problem, rows))
    return error;
  runWorkers(problem, rows, threads, [&](size_t, const Row &row, int worker) {
    callback(row, worker);
  });
  return std::nullopt;
}

Error oracle::forward(const Problem &problem, const std::vector<RowId> &rows,
                      int threads, std::vector<Row> &results) {
  if (Error error = validate(problem, rows))
    return error;
  results.assign(rows.size(), {});
  runWorkers(problem, rows, threads, [&](size_t n, const Row &row, int) {
    results[n] = {row.id, row.x, row.y, row.norm, row.indices, row.lse, {}};
  });
  return std::nullopt;
}
