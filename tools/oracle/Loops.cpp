//===- Loops.cpp - the oracle's two inner loops ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Loops.h"

#include "tools/oracle/Lanes.h"

#include <algorithm>

using namespace raytention;
using namespace raytention::oracle;

ORACLE_INLINE const Vec *vectors(const double *values) {
  return reinterpret_cast<const Vec *>(values);
}

/// One key's squared distance. Chains of at most 16 additions, then a sum of
/// their results.
ORACLE_INLINE double squaredDistance(const double *query, const double *key,
                                     int64_t width) {
  constexpr int64_t run = 16 * 4 * lanes;
  Vec all = {};
  int64_t col = 0;
  while (col + 4 * lanes <= width) {
    // Four chains of additions, so that none waits for the last.
    Vec a = {}, b = {}, c = {}, d = {};
    int64_t end = width - col < run ? width : col + run;
    for (; col + 4 * lanes <= end; col += 4 * lanes) {
      const Vec *x = vectors(query + col), *y = vectors(key + col);
      Vec da = x[0] - y[0], db = x[1] - y[1];
      Vec dc = x[2] - y[2], dd = x[3] - y[3];
      a += da * da;
      b += db * db;
      c += dc * dc;
      d += dd * dd;
    }
    all += (a + b) + (c + d);
  }
  double sum = (all[0] + all[1]) + (all[2] + all[3]);
  for (; col < width; ++col)
    sum += (query[col] - key[col]) * (query[col] - key[col]);
  return sum;
}

ORACLE_VERSIONS
void oracle::squaredDistances(const double *query, const double *table,
                              const int64_t *ids, int64_t numKeys,
                              int64_t width, double *squares) {
  for (int64_t j = 0; j < numKeys; ++j)
    squares[j] = squaredDistance(query, table + ids[j] * width, width);
}

/// Adds what `numKeys` keys give to `sum`.
ORACLE_INLINE void addWeighted(const double *weights, const int64_t *ids,
                               int64_t numKeys, const double *table,
                               int64_t width, double *sum) {
  constexpr int64_t block = 8;
  int64_t col = 0;
  // A block of columns at a time, its sums in registers.
  for (; col + block * lanes <= width; col += block * lanes) {
    Vec acc[block] = {};
    for (int64_t j = 0; j < numKeys; ++j) {
      const Vec *key = vectors(table + ids[j] * width + col);
      Vec weight = {weights[j], weights[j], weights[j], weights[j]};
#pragma GCC unroll 8
      for (int64_t l = 0; l < block; ++l)
        acc[l] += weight * key[l];
    }
#pragma GCC unroll 8
    for (int64_t l = 0; l < block; ++l)
      reinterpret_cast<Vec *>(sum + col)[l] += acc[l];
  }
  for (; col < width; ++col) {
    double acc = 0;
    for (int64_t j = 0; j < numKeys; ++j)
      acc += weights[j] * table[ids[j] * width + col];
    sum[col] += acc;
  }
}

ORACLE_VERSIONS
void oracle::weightedSum(const double *weights, const int64_t *ids,
                         int64_t numKeys, const double *table, int64_t width,
                         double *sum) {
  constexpr int64_t run = 128;
  std::fill(sum, sum + width, 0.0);
  for (int64_t begin = 0; begin < numKeys; begin += run)
    addWeighted(weights + begin, ids + begin, std::min(run, numKeys - begin),
                table, width, sum);
}
