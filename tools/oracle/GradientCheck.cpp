//===- GradientCheck.cpp - the accuracy rule for gradients ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/GradientCheck.h"

#include "tools/oracle/RowError.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The position of flat element `index`: "[1, 4]".
std::string placeOf(int64_t index, const std::vector<int64_t> &shape) {
  std::string place;
  for (size_t axis = shape.size(); axis-- > 0; index /= shape[axis])
    place = std::to_string(index % shape[axis]) + (place.empty() ? "" : ", ") +
            place;
  return "[" + place + "]";
}

/// What all items of one check share.
struct Rule {
  double tol, e, unit, rounding, smallest, keys;

  /// What an element may be off by, besides tol and the rounding of terms.
  double shift(const GradientPart &part, size_t n) const {
    return (e + weightRoundoffs * unit) * part.sensitivity[n] + part.open[n];
  }
  /// The same with that rounding.
  double allowance(const GradientPart &part, size_t n) const {
    double sum = shift(part, n) + rounding * part.terms[n];
    return std::isnan(sum) ? infinity : sum;
  }

  CheckItem compare(const std::string &name, const GradientPart &expected,
                    const GradientValue &value,
                    const std::vector<int64_t> &shape, double reach) const;
};

double largestOf(const std::vector<double> &values) {
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::fabs(value));
  return largest;
}

/// |a - b|, infinite where either is not finite.
double difference(double a, double b) {
  double d = std::fabs(a - b);
  return std::isfinite(d) ? d : infinity;
}

/// Whether rounding of the terms leaves as much as any of the values, or
/// workers flush them.
bool isZero(const GradientPart &part, double roundoff, double smallest) {
  for (size_t n = 0; n < part.values.size(); ++n)
    if (std::fabs(part.values[n]) >
            std::max(roundoff * part.terms[n], smallest) ||
        !std::isfinite(part.terms[n]))
      return false;
  return true;
}

CheckItem Rule::compare(const std::string &name, const GradientPart &expected,
                        const GradientValue &value,
                        const std::vector<int64_t> &shape, double reach) const {
  CheckItem item;
  item.name = name;
  item.tol = tol;
  item.isZero = isZero(expected, rounding, smallest);
  item.magnitude = item.isZero ? 0 : largestOf(expected.values);
  double flushed =
      smallest *
      std::max(1.0, keys * std::max(reach, largestOf(expected.sensitivity)));
  double error = 0, excess = -infinity;
  for (size_t n = 0; n < expected.values.size(); ++n) {
    double err = difference(expected.values[n], value(n));
    double allowed = allowance(expected, n), over = err - allowed - flushed;
    error = std::max(error, err);
    if (double beyond = err - flushed - shift(expected, n);
        item.isZero && beyond > 0)
      item.roundings =
          std::max(item.roundings, beyond / unit / expected.terms[n]);
    double fromScores = e * expected.sensitivity[n];
    item.scoreError = std::max(item.scoreError,
                               std::isnan(fromScores) ? infinity : fromScores);
    if (over > excess) {
      excess = over;
      item.where = placeOf(n, shape);
    }
  }
  item.err = item.magnitude > 0 ? error / item.magnitude : error;
  item.judge(std::isfinite(error) && excess <= tol * item.magnitude);
  return item;
}

/// Tokens that some row sees, by id.
std::vector<bool> seenTokens(const Problem &p) {
  std::vector<bool> seen(p.vocab, false);
  for (int64_t b = 0; b < p.batch; ++b) {
    int64_t end = std::min(p.queryOffset + p.numQueries, p.length(b));
    for (int64_t j = 0; end > p.queryOffset && j < end; ++j)
      seen[p.sequence(b)[j]] = true;
  }
  return seen;
}

/// Elements that receive nothing: those of rows beyond their sequence and of
/// tokens that no row sees. Nothing if there are none.
class Padding {
public:
  explicit Padding(const Problem &problem) : p(problem) {}

  void compareAll(const ComputedGradients &computed) {
    for (RowId id : allRows(p))
      if (p.visibleKeys(id.batch, id.row) == 0)
        compareRow("dq", computed.queries, id.batch * p.numQueries + id.row,
                   {p.batch, p.numQueries, p.dModel});
    std::vector<bool> seen = seenTokens(p);
    for (int64_t v = 0; v < p.vocab; ++v)
      if (!seen[v])
        compareRow("dtable", computed.table, v, {p.vocab, p.dModel});
  }

  CheckItem item;

private:
  void compareRow(const char *name, const GradientValue &value, int64_t row,
                  const std::vector<int64_t> &shape) {
    if (item.name.empty())
      item.verdict = Verdict::Passed;
    item.name = "gradient padding";
    for (int64_t n = row * p.dModel; n < (row + 1) * p.dModel; ++n) {
      double err = difference(value(n), 0);
      if (err > item.err) {
        item.err = err;
        item.verdict = Verdict::Failed;
        item.where = name + placeOf(n, shape);
      }
    }
  }

  const Problem &p;
};

} // namespace

double oracle::gradientTolerance(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 1e-10;
  case DType::F32:
    return 1e-4;
  case DType::BF16:
    break;
  }
  return 1e-2;
}

double oracle::largestTerms(DType dtype) {
  return dtype == DType::F64 ? 0x1p1000 : 0x1p120;
}

Error oracle::checkGradients(const Problem &problem,
                             const std::vector<RowId> &rows,
                             const SignalGradient &dSignals,
                             const ComputedGradients &computed,
                             const CheckOptions &options,
                             const std::function<void()> &progress,
                             CheckReport &report) {
  BackwardOptions backwardOptions;
  backwardOptions.threads = options.threads;
  backwardOptions.progress = progress;
  if (Error error = validate(problem, rows))
    return error;
  ScoreScales scales = measureScales(problem, rows, options);
  backwardOptions.arithmetic = oracleArithmetic(options.dtype);
  backwardOptions.choice = computed.indices;
  backwardOptions.scoreError = scales.keyError;
  backwardOptions.smallestWeight = smallestNormal(options.dtype);
  Gradients expected;
  if (Error error =
          backward(problem, rows, dSignals, backwardOptions, expected))
    return error;
  report = {};
  report.numRows = rows.size();
  report.e = scales.e;
  double unit = unitRoundoff(options.dtype);
  Rule rule = {options.tol > 0 ? options.tol : gradientTolerance(options.dtype),
               report.e,
               unit,
               termRoundoffs(problem.dModel, problem.numKeys) * unit,
               smallestNormal(options.dtype),
               static_cast<double>(problem.numKeys)};
  // What a factor that is flushed is multiplied by.
  double reach = largestOf(problem.queries) + largestOf(problem.table);
  auto compare = [&](const char *name, const GradientPart &part,
                     const GradientValue &value, std::vector<int64_t> shape,
                     double reach) {
    if (!part.values.empty())
      report.add(rule.compare(name, part, value, shape, reach));
  };
  compare("dq", expected.queries, computed.queries,
          {problem.batch, problem.numQueries, problem.dModel}, reach);
  compare("dtable", expected.table, computed.table,
          {problem.vocab, problem.dModel}, reach);
  compare("dtau", expected.tau, computed.tau, {1}, 0);
  compare("dgammas", expected.gammas, computed.gammas,
          {static_cast<int64_t>(problem.gammas.size())}, 0);
  Padding padding(problem);
  padding.compareAll(computed);
  if (!padding.item.name.empty())
    report.add(padding.item);
  return std::nullopt;
}
