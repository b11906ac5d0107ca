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

class Accumulator {
public:
  Accumulator(const Problem &problem, const SignalGradient &dSignals,
              const BackwardOptions &options, Gradients &gradients)
      : p(problem), dSignals(dSignals), options(options),
        gradients(gradients), hooks{options.scoreShift, options.choice,
                                    options.scoreError},
        tableNorms(normsOf(problem)),
        rows(rowsPerBlock, RowBackward(problem, tableNorms)),
        forward(workerCount(options.threads), RowForward(problem, &hooks)),
        dy(forward.size(), std::vector<double>(problem.signalWidth())) {}

  /// Adds rows of one sequence, at most rowsPerBlock.
  void add(const RowId *ids, size_t count);

private:
  void computeRow(RowId id, int worker, RowBackward &row);
  void storeRow(const RowBackward &row);
  void serveKeys(size_t count, int64_t begin, int64_t end);
  void serveCopies(const RowBackward &row, int64_t begin, int64_t end);

  const Problem &p;
  const SignalGradient &dSignals;
  const BackwardOptions &options;
  Gradients &gradients;
  RowHooks hooks;
  std::vector<double> tableNorms; ///< [V]
  std::vector<RowBackward> rows;
  std::vector<RowForward> forward;     ///< one per worker
  std::vector<std::vector<double>> dy; ///< one per worker
};

void addTo(const GradientPart &part, double *values, double *sensitivity) {
  for (size_t n = 0; n < part.values.size(); ++n) {
    values[n] += part.values[n];
    sensitivity[n] += part.sensitivity[n];
  }
}

void Accumulator::add(const RowId *ids, size_t count) {
  forEachIndex(count, options.threads, [&](size_t n, int worker) {
    computeRow(ids[n], worker, rows[n]);
  });
  for (size_t n = 0; n < count; ++n)
    storeRow(rows[n]);
  int64_t parts = (p.dModel + columnsPerPart - 1) / columnsPerPart;
  forEachIndex(parts, options.threads, [&](size_t part, int) {
    int64_t begin = part * columnsPerPart;
    serveKeys(count, begin, std::min(begin + columnsPerPart, p.dModel));
  });
}

void Accumulator::computeRow(RowId id, int worker, RowBackward &row) {
  dSignals(id, dy[worker].data());
  row.compute(forward[worker].compute(id), dy[worker].data());
  if (options.progress)
    options.progress();
}

/// What a row has to itself or adds to a scalar.
void Accumulator::storeRow(const RowBackward &row) {
  int64_t at = (row.id.batch * p.numQueries + row.id.row) * p.dModel;
  addTo(row.queries, gradients.queries.values.data() + at,
        gradients.queries.sensitivity.data() + at);
  addTo(row.tau, gradients.tau.values.data(), gradients.tau.sensitivity.data());
  addTo(row.gammas, gradients.gammas.values.data(),
        gradients.gammas.sensitivity.data());
}

/// Columns begin .. end - 1 of the gradients of all keys.
void Accumulator::serveKeys(size_t count, int64_t begin, int64_t end) {
  int64_t visible = 0;
  for (size_t n = 0; n < count; ++n)
    visible = std::max(visible, rows[n].visible);
  std::vector<VectorTerm> vectors;
  std::vector<DistanceTerm> differences;
  for (int64_t j = 0; j < visible; ++j) {
    vectors.clear();
    differences.clear();
    for (size_t n = 0; n < count; ++n) {
      const RowBackward &row = rows[n];
      if (j >= row.visible)
        continue;
      for (const RowWeights &channel : row.weighted)
        if (channel.v[j] > 0)
          vectors.push_back({channel.v[j], row.gradient.data() + channel.offset,
                             row.vectorBound.data() + channel.offset});
      if (row.factors.sensitivity[j] > 0)
        differences.push_back({row.factors.values[j],
                               row.factors.sensitivity[j],
                               p.query(row.id.batch, row.id.row)});
    }
    int64_t id = p.sequence(rows[0].id.batch)[j];
    double *sum = gradients.table.values.data() + id * p.dModel;
    double *bound = gradients.table.sensitivity.data() + id * p.dModel;
    addVectorTerms(vectors.data(), vectors.size(), begin, end, sum, bound);
    addDistanceTerms(differences.data(), differences.size(),
                     p.key(rows[0].id.batch, j), begin, end, sum, bound);
  }
  for (size_t n = 0; n < count; ++n)
    if (rows[n].visible > 0)
      serveCopies(rows[n], begin, end);
}

void Accumulator::serveCopies(const RowBackward &row, int64_t begin,
                              int64_t end) {
  int64_t offset = 0;
  const int64_t *index = row.indices.data();
  for (const Channel &channel : p.channels) {
    if (channel.isCopy()) {
      int64_t at = p.sequence(row.id.batch)[*index++] * p.dModel;
      for (int64_t col = begin; col < end; ++col) {
        gradients.table.values[at + col] += row.gradient[offset + col];
        gradients.table.sensitivity[at + col] += row.moved[offset + col];
      }
    }
    offset += channel.width(p.dModel);
  }
}

} // namespace

Error oracle::backward(const Problem &problem, const std::vector<RowId> &rows,
                       const SignalGradient &dSignals,
                       const BackwardOptions &options, Gradients &gradients) {
  if (Error error = validate(problem, rows))
    return error;
  gradients.queries.resize(problem.queries.size());
  gradients.table.resize(problem.table.size());
  gradients.tau.resize(1);
  gradients.gammas.resize(problem.gammas.size());
  Accumulator accumulator(problem, dSignals, options, gradients);
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && end - begin < rowsPerBlock &&
           rows[end].batch == rows[begin].batch)
      ++end;
    accumulator.add(rows.data() + begin, end - begin);
    begin = end;
  }
  return std::nullopt;
}
