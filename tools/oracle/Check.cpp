//===- Check.cpp - the accuracy rule, against the oracle ------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Check.h"

#include "tools/oracle/RowError.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;

namespace {

std::string describePlace(const ChannelError &error) {
  if (error.element < 0)
    return "";
  return "[" + std::to_string(error.row.batch) + ", " +
         std::to_string(error.row.row) + "], element " +
         std::to_string(error.element);
}

CheckItem makeItem(const std::string &name, const ChannelError &error,
                   double tol) {
  CheckItem item;
  item.name = name;
  item.tol = tol;
  item.scoreError = error.scoreError;
  item.isZero = error.element >= 0 && !error.significant;
  item.magnitude = error.significant ? error.magnitude : 0;
  item.err = item.magnitude > 0 ? error.error / item.magnitude : error.error;
  // Rounding of terms that cancel is all there is of such a value.
  double rounding = item.isZero ? 4 * error.rounding : 0;
  item.judge(
      std::isfinite(error.error) &&
      (error.element < 0 || error.excess <= tol * item.magnitude + rounding));
  item.where = describePlace(error);
  item.nearTies = error.nearTies;
  return item;
}

void fillReport(const Problem &problem, const std::vector<ChannelError> &errors,
                double tol, CheckReport &report) {
  for (size_t c = 0; c < problem.channels.size(); ++c)
    report.add(makeItem(problem.channels[c].name(), errors[c], tol));
  if (errors.back().element >= 0)
    report.add(makeItem("padding", errors.back(), 0));
}

/// The next number of a stream (splitmix64): the state is a counter.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

} // namespace

double oracle::forwardTolerance(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 1e-12;
  case DType::F32:
    return 2e-5;
  case DType::BF16:
    break;
  }
  return 1e-4;
}

double oracle::unitRoundoff(DType dtype) {
  return dtype == DType::F64 ? 0x1p-53 : 0x1p-24;
}

double oracle::temperatureFloor(DType dtype) {
  return dtype == DType::F64 ? 0.01 : static_cast<double>(0.01f);
}

Arithmetic oracle::oracleArithmetic(DType dtype) {
  return dtype == DType::F64 ? Arithmetic::Extended : Arithmetic::Double;
}

double oracle::smallestNormal(DType dtype) {
  return dtype == DType::F64 ? std::numeric_limits<double>::min()
                             : std::numeric_limits<float>::min();
}

void CheckItem::judge(bool withinBound) {
  bool says = isZero || !(scoreError > magnitude / 2);
  verdict = !withinBound ? Verdict::Failed
            : says       ? Verdict::Passed
                         : Verdict::Unchecked;
}

void CheckReport::add(CheckItem item) {
  verdict = std::max(verdict, item.verdict);
  items.push_back(std::move(item));
}

Error oracle::check(const Problem &problem, const std::vector<RowId> &rows,
                    const RowValues &values, const CheckOptions &options,
                    CheckReport &report) {
  if (Error error = validate(problem, rows))
    return error;
  ScoreScales scales = measureScales(problem, rows, options);
  int workers = workerCount(options.threads);
  std::vector<RowComparer> comparers(workers,
                                     RowComparer(problem, scales, options));
  std::vector<std::vector<double>> scratch(
      workers, std::vector<double>(problem.signalWidth()));
  auto compare = [&](const Row &row, int worker) {
    values(row.id, scratch[worker].data());
    comparers[worker].compare(row, scratch[worker].data());
  };
  if (Error error = forEachRow(problem, rows, workers, compare,
                               oracleArithmetic(options.dtype)))
    return error;

  std::vector<ChannelError> errors(problem.channels.size() + 1);
  for (const RowComparer &comparer : comparers)
    for (size_t c = 0; c < errors.size(); ++c)
      errors[c].merge(comparer.errors[c]);
  report = {};
  report.numRows = rows.size();
  report.e = scales.e;
  fillReport(problem, errors,
             options.tol > 0 ? options.tol : forwardTolerance(options.dtype),
             report);
  return std::nullopt;
}

bool oracle::needsSampling(int64_t numKeys, int64_t dModel) {
  return double(numKeys) * double(numKeys) * double(dModel) > 1e12;
}

std::vector<RowId> oracle::sampleRows(int64_t batch, int64_t numQueries,
                                      uint64_t seed, int64_t count,
                                      int64_t tile) {
  std::vector<RowId> rows;
  if (batch <= 0 || numQueries <= 0)
    return rows;
  for (int64_t n = 0; n < count; ++n) {
    int64_t flat = nextRandom(seed) % uint64_t(batch * numQueries);
    rows.push_back({flat / numQueries, flat % numQueries});
  }
  int64_t boundaries = tile > 0 ? (numQueries - 1) / tile : 0;
  int64_t taken = std::min(boundaries, std::max<int64_t>(count, 1));
  for (int64_t b = 0; b < batch; ++b) {
    rows.push_back({b, 0});
    rows.push_back({b, numQueries - 1});
    for (int64_t n = 0; n < taken; ++n) {
      // The first boundary is always among them, and so is the last.
      int64_t boundary = taken > 1 ? 1 + n * (boundaries - 1) / (taken - 1) : 1;
      rows.push_back({b, boundary * tile - 1});
      rows.push_back({b, boundary * tile});
    }
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}
