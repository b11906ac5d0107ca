//===- Gradient.cpp - the float64 gradient --------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A few rows of one sequence at a time. First each row is computed, any worker
// taking any row; then each worker serves a range of columns of all keys. So an
// element of a gradient has one order of additions, whatever the threads do.
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Gradient.h"

#include "tools/oracle/GradientLoops.h"
#include "tools/oracle/RowBackward.h"
#include "tools/oracle/RowForward.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;

namespace {

constexpr size_t rowsPerBlock = 16;
constexpr int64_t columnsPerPart = 64;

std::vector<double> normsOf(const Problem &p) {
  std::vector<double> norms;
  for (int64_t v = 0; v < p.vocab; ++v) {
    double square = 0;
    for (int64_t col = 0; col < p.dModel; ++col)
      square += p.table[v * p.dModel + col] * p.table[v * p.dModel + col];
    norms.push_back(std::sqrt(square));
  }
  return norms;
}

/// A gradient while it is added up.
template <typename Real> struct Total {
  explicit Total(size_t size)
      : values(size, Real(0)), sensitivity(size, 0.0), terms(size, 0.0),
        open(size, 0.0) {}

  /// Writes `part`: NaNs of bounds that overflow are infinite.
  void round(GradientPart &part) const {
    part.values.assign(values.begin(), values.end());
    part.sensitivity = sensitivity;
    part.terms = terms;
    part.open = open;
    for (std::vector<double> *bounds :
         {&part.sensitivity, &part.terms, &part.open})
      for (double &bound : *bounds)
        if (std::isnan(bound))
          bound = std::numeric_limits<double>::infinity();
  }

  std::vector<Real> values;
  std::vector<double> sensitivity, terms, open;
};

template <typename Real> class Accumulator {
public:
  Accumulator(const Problem &problem, const SignalGradient &dSignals,
              const BackwardOptions &options)
      : p(problem), dSignals(dSignals),
        options(options), hooks{options.scoreShift, options.choice,
                                options.scoreError},
        tableNorms(normsOf(problem)), queries(p.queries.size()),
        table(p.table.size()), tau(1), gammas(p.gammas.size()),
        rows(rowsPerBlock, RowBackward<Real>(problem, tableNorms, options)),
        forward(workerCount(options.threads),
                RowForward<Real>(problem, &hooks)),
        dy(forward.size(), std::vector<double>(problem.signalWidth())) {}

  void addAll(const std::vector<RowId> &rows);
  void round(Gradients &gradients) const;

private:
  void add(const RowId *ids, size_t count);
  void computeRow(RowId id, int worker, RowBackward<Real> &row);
  void storeRow(const RowBackward<Real> &row);
  void serveKeys(size_t count, int64_t begin, int64_t end);
  void serveCopies(const RowBackward<Real> &row, int64_t begin, int64_t end);
  void addOpen(const RowBackward<Real> &row);

  const Problem &p;
  const SignalGradient &dSignals;
  const BackwardOptions &options;
  RowHooks hooks;
  std::vector<double> tableNorms; ///< [V]
  Total<Real> queries, table, tau, gammas;
  std::vector<RowBackward<Real>> rows;
  std::vector<RowForward<Real>> forward; ///< one per worker
  std::vector<std::vector<double>> dy;   ///< one per worker
};

/// Rows of one sequence, at most rowsPerBlock at a time.
template <typename Real>
void Accumulator<Real>::addAll(const std::vector<RowId> &all) {
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin + 1;
    while (end < all.size() && end - begin < rowsPerBlock &&
           all[end].batch == all[begin].batch)
      ++end;
    add(all.data() + begin, end - begin);
    begin = end;
  }
}

template <typename Real>
void Accumulator<Real>::round(Gradients &gradients) const {
  queries.round(gradients.queries);
  table.round(gradients.table);
  tau.round(gradients.tau);
  gammas.round(gradients.gammas);
}

template <typename Real>
void Accumulator<Real>::add(const RowId *ids, size_t count) {
  forEachIndex(count, options.threads, [&](size_t n, int worker) {
    computeRow(ids[n], worker, rows[n]);
  });
  for (size_t n = 0; n < count; ++n) {
    storeRow(rows[n]);
    addOpen(rows[n]);
  }
  int64_t parts = (p.dModel + columnsPerPart - 1) / columnsPerPart;
  forEachIndex(parts, options.threads, [&](size_t part, int) {
    int64_t begin = part * columnsPerPart;
    serveKeys(count, begin, std::min(begin + columnsPerPart, p.dModel));
  });
}

template <typename Real>
void Accumulator<Real>::computeRow(RowId id, int worker,
                                   RowBackward<Real> &row) {
  dSignals(id, dy[worker].data());
  row.compute(forward[worker].compute(id), dy[worker].data());
  if (options.progress)
    options.progress();
}

/// Adds `part` to `total` from element `at` on.
template <typename Real>
void addTo(const RowPart<Real> &part, Total<Real> &total, int64_t at) {
  for (size_t n = 0; n < part.values.size(); ++n) {
    total.values[at + n] += part.values[n];
    total.sensitivity[at + n] += part.sensitivity[n];
    total.terms[at + n] += part.terms[n];
  }
}

/// What a row has to itself or adds to a scalar.
template <typename Real>
void Accumulator<Real>::storeRow(const RowBackward<Real> &row) {
  addTo(row.queries, queries,
        (row.id.batch * p.numQueries + row.id.row) * p.dModel);
  addTo(row.gammas, gammas, 0);
  tau.values[0] += row.tau.value;
  tau.sensitivity[0] += row.tau.sensitivity;
  tau.terms[0] += row.tau.terms;
}

template <typename Real>
void Accumulator<Real>::addOpen(const RowBackward<Real> &row) {
  const double *query = p.query(row.id.batch, row.id.row);
  double *queryOpen = queries.open.data() +
                      (row.id.batch * p.numQueries + row.id.row) * p.dModel;
  for (const OpenPair &pair : row.open) {
    const double *key = p.key(row.id.batch, pair.key);
    double *keyOpen =
        table.open.data() + p.sequence(row.id.batch)[pair.key] * p.dModel;
    for (int64_t col = 0; col < p.dModel; ++col) {
      double change = pair.factor * std::fabs(query[col] - key[col]);
      queryOpen[col] += change;
      keyOpen[col] += change;
    }
  }
  tau.open[0] += row.tau.open;
  for (size_t n = 0; n < gammas.open.size() && row.visible > 0; ++n)
    gammas.open[n] += row.gammas.open[n];
}

/// Columns begin .. end - 1 of the gradients of all keys.
template <typename Real>
void Accumulator<Real>::serveKeys(size_t count, int64_t begin, int64_t end) {
  int64_t visible = 0;
  for (size_t n = 0; n < count; ++n)
    visible = std::max(visible, rows[n].visible);
  std::vector<VectorTerm<Real>> vectors;
  std::vector<DistanceTerm<Real>> differences;
  for (int64_t j = 0; j < visible; ++j) {
    vectors.clear();
    differences.clear();
    for (size_t n = 0; n < count; ++n) {
      const RowBackward<Real> &row = rows[n];
      if (j >= row.visible)
        continue;
      for (const RowWeights<Real> &channel : row.weighted)
        if (channel.v[j] > 0)
          vectors.push_back({channel.v[j],
                             row.gradient.values.data() + channel.offset,
                             row.vectorBound.data() + channel.offset,
                             row.gradient.terms.data() + channel.offset});
      // Not where all are 0; a bound may be NaN.
      if (row.factors.values[j] != 0 || row.factors.sensitivity[j] != 0 ||
          row.factors.terms[j] != 0)
        differences.push_back({row.factors.values[j],
                               row.factors.sensitivity[j], row.factors.terms[j],
                               row.farTerms[j],
                               p.query(row.id.batch, row.id.row)});
    }
    int64_t at = p.sequence(rows[0].id.batch)[j] * p.dModel;
    KeySums<Real> sums = {table.values.data() + at,
                          table.sensitivity.data() + at,
                          table.terms.data() + at};
    addVectorTerms(vectors.data(), vectors.size(), begin, end, sums);
    addDistanceTerms(differences.data(), differences.size(),
                     p.key(rows[0].id.batch, j), begin, end, sums);
  }
  for (size_t n = 0; n < count; ++n)
    if (rows[n].visible > 0)
      serveCopies(rows[n], begin, end);
}

template <typename Real>
void Accumulator<Real>::serveCopies(const RowBackward<Real> &row, int64_t begin,
                                    int64_t end) {
  int64_t offset = 0;
  const int64_t *index = row.indices.data();
  for (const Channel &channel : p.channels) {
    if (channel.isCopy()) {
      int64_t at = p.sequence(row.id.batch)[*index++] * p.dModel;
      for (int64_t col = begin; col < end; ++col) {
        table.values[at + col] += row.gradient.values[offset + col];
        table.sensitivity[at + col] += row.moved[offset + col];
        table.terms[at + col] += row.gradient.terms[offset + col];
      }
    }
    offset += channel.width(p.dModel);
  }
}

template <typename Real>
void addAll(const Problem &problem, const std::vector<RowId> &rows,
            const SignalGradient &dSignals, const BackwardOptions &options,
            Gradients &gradients) {
  Accumulator<Real> accumulator(problem, dSignals, options);
  accumulator.addAll(rows);
  accumulator.round(gradients);
}

} // namespace

Error oracle::backward(const Problem &problem, const std::vector<RowId> &rows,
                       const SignalGradient &dSignals,
                       const BackwardOptions &options, Gradients &gradients) {
  if (Error error = validate(problem, rows))
    return error;
  auto add = options.arithmetic == Arithmetic::Double ? addAll<double>
                                                      : addAll<long double>;
  add(problem, rows, dSignals, options, gradients);
  return std::nullopt;
}
