//===- DrawValues.cpp - values of all kinds ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/DrawValues.h"

#include <algorithm>

using namespace raytention;
using namespace raytention::fuzz;

static void copyRow(const Case &c, std::vector<double> &to, int64_t row,
                    const std::vector<double> &from, int64_t source) {
  std::copy_n(from.begin() + source * c.width, c.width,
              to.begin() + row * c.width);
}

static void scaleRow(const Case &c, std::vector<double> &values, int64_t row,
                     double factor) {
  for (int64_t d = 0; d < c.width; ++d)
    values[row * c.width + d] *= factor;
}

static void fillGrid(std::vector<double> &values, double scale, Draws &draws) {
  for (double &value : values)
    value = scale * double(draws.integer(-2, 2));
}

void fuzz::fillTable(Case &c, TableKind kind, double scale, Draws &draws) {
  std::vector<double> &table = c.table;
  table = draws.normals(c.vocab * c.width, scale);
  switch (kind) {
  case TableKind::Normal:
    break;
  case TableKind::Twins:
    for (int64_t row = 1; row < c.vocab; row += 2)
      copyRow(c, table, row, table, row - 1);
    break;
  case TableKind::SomeZero:
    for (int64_t row = 0; row < c.vocab; ++row)
      if (draws.chance(0.5))
        scaleRow(c, table, row, 0);
    break;
  case TableKind::AllEqual:
    for (int64_t row = 1; row < c.vocab; ++row)
      copyRow(c, table, row, table, 0);
    break;
  case TableKind::AllZero:
    std::fill(table.begin(), table.end(), 0.0);
    break;
  case TableKind::FarTogether: {
    std::vector<double> center = draws.normals(c.width, scale);
    double nearness = draws.powerOfTen(-4, 0);
    for (size_t i = 0; i < table.size(); ++i)
      table[i] = center[i % c.width] + nearness * table[i];
    break;
  }
  case TableKind::Grid:
    fillGrid(table, scale, draws);
    break;
  case TableKind::Mixed:
    for (int64_t row = 0; row < c.vocab; ++row)
      scaleRow(c, table, row, draws.powerOfTen(-6, 0));
    break;
  case TableKind::Mirrored:
    for (int64_t row = 1; row < c.vocab; row += 2) {
      copyRow(c, table, row, table, row - 1);
      scaleRow(c, table, row, -1);
    }
    break;
  }
}

/// The key at the position of row `row` of sequence `b`, or any.
static int64_t chooseKey(const Case &c, int64_t b, int64_t row, bool own,
                         Draws &draws) {
  int64_t position = own ? row + c.offset : draws.integer(0, row + c.offset);
  return c.ids[b * c.numKeys + position];
}

static void fillNearKeys(Case &c, QueryKind kind, Draws &draws) {
  double noise = kind == QueryKind::OwnKey ? 0 : draws.powerOfTen(-6, -3);
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t row = 0; row < c.numQueries; ++row) {
      int64_t key = chooseKey(c, b, row, kind != QueryKind::NearAnyKey, draws);
      double square = 0;
      for (int64_t d = 0; d < c.width; ++d)
        square += std::pow(c.table[key * c.width + d], 2);
      double step = noise * std::sqrt(square / double(c.width));
      for (int64_t d = 0; d < c.width; ++d)
        c.queries[(b * c.numQueries + row) * c.width + d] =
            c.table[key * c.width + d] + step * draws.normal();
    }
}

void fuzz::fillQueries(Case &c, QueryKind kind, double scale, Draws &draws) {
  std::vector<double> &queries = c.queries;
  int64_t rows = c.batch * c.numQueries;
  queries = draws.normals(rows * c.width, scale);
  switch (kind) {
  case QueryKind::Normal:
    break;
  case QueryKind::Zero:
    std::fill(queries.begin(), queries.end(), 0.0);
    break;
  case QueryKind::OwnKey:
  case QueryKind::NearOwnKey:
  case QueryKind::NearAnyKey:
    fillNearKeys(c, kind, draws);
    break;
  case QueryKind::Far: {
    double factor = draws.powerOfTen(1, 3);
    for (double &value : queries)
      value *= factor;
    break;
  }
  case QueryKind::Grid:
    fillGrid(queries, scale, draws);
    break;
  case QueryKind::Mixed:
    for (int64_t row = 0; row < rows; ++row)
      scaleRow(c, queries, row, draws.powerOfTen(-6, 0));
    break;
  }
}

void fuzz::fillGradient(Case &c, GradientKind kind, Draws &draws) {
  int64_t count = c.batch * c.numQueries * c.signalWidth();
  c.gradient = draws.normals(count, 1);
  double factor = 1;
  switch (kind) {
  case GradientKind::Normal:
    break;
  case GradientKind::Zero:
    factor = 0;
    break;
  case GradientKind::Scaled:
    factor = draws.powerOfTen(-15, 10);
    break;
  case GradientKind::Huge:
    // The largest of them at the limit or half of it.
    for (double value : c.gradient)
      factor = std::max(factor, std::abs(value));
    factor = (c.type == Type::F64 ? 0x1p500 : 0x1p60) / factor *
             draws.pick({1.0, 0.5});
    break;
  case GradientKind::OneHot:
    factor = 0;
    break;
  }
  for (double &value : c.gradient)
    value *= factor;
  if (kind == GradientKind::OneHot && count)
    c.gradient[draws.integer(0, count - 1)] = 1;
}
