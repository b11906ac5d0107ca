//===- WideLoops.cpp - the inner loops in long double ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What bounds an error needs few digits and stays in double.
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/GradientLoops.h"
#include "tools/oracle/Loops.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace raytention;
using namespace raytention::oracle;

using Wide = long double;

/// Sum of term(0) to term(count - 1), in four chains.
template <typename Term> static inline Wide sumOf(int64_t count, Term term) {
  Wide a = 0, b = 0, c = 0, d = 0;
  int64_t n = 0;
  for (; n + 4 <= count; n += 4) {
    a += term(n);
    b += term(n + 1);
    c += term(n + 2);
    d += term(n + 3);
  }
  for (; n < count; ++n)
    a += term(n);
  return (a + b) + (c + d);
}

/// Adds sum_n factor(n) element(n, col) to sum[col] for begin <= col < end, a
/// few columns at a time: a long double in memory is slow to add to.
template <typename Factor, typename Element>
static inline void addColumns(int64_t count, int64_t begin, int64_t end,
                              Wide *sum, Factor factor, Element element) {
  int64_t col = begin;
  for (; col + 4 <= end; col += 4) {
    Wide a = 0, b = 0, c = 0, d = 0;
    for (int64_t n = 0; n < count; ++n) {
      Wide f = factor(n);
      a += f * element(n, col);
      b += f * element(n, col + 1);
      c += f * element(n, col + 2);
      d += f * element(n, col + 3);
    }
    sum[col] += a;
    sum[col + 1] += b;
    sum[col + 2] += c;
    sum[col + 3] += d;
  }
  for (; col < end; ++col)
    for (int64_t n = 0; n < count; ++n)
      sum[col] += factor(n) * element(n, col);
}

/// The same with keys, a part of them for all columns before the next.
template <typename Element>
static inline void addKeys(const Wide *weights, int64_t numKeys, int64_t width,
                           Wide *sum, Element element) {
  constexpr int64_t run = 64;
  for (int64_t begin = 0; begin < numKeys; begin += run)
    addColumns(
        std::min(run, numKeys - begin), 0, width, sum,
        [&](int64_t n) { return weights[begin + n]; },
        [&](int64_t n, int64_t col) { return element(begin + n, col); });
}

/// sum[col] += factor values[col].
static void addScaled(double factor, const double *values, int64_t begin,
                      int64_t end, double *sum) {
  for (int64_t col = begin; col < end; ++col)
    sum[col] += factor * values[col];
}

void oracle::squaredDistances(const double *query, const double *table,
                              const int64_t *ids, int64_t numKeys,
                              int64_t width, Wide *squares) {
  for (int64_t j = 0; j < numKeys; ++j) {
    const double *key = table + ids[j] * width;
    squares[j] = sumOf(width, [&](int64_t col) {
      Wide difference = Wide(query[col]) - key[col];
      return difference * difference;
    });
  }
}

void oracle::weightedSum(const Wide *weights, const int64_t *ids,
                         int64_t numKeys, const double *table, int64_t width,
                         Wide *sum) {
  std::fill(sum, sum + width, Wide(0));
  addKeys(weights, numKeys, width, sum, [&](int64_t j, int64_t col) {
    return Wide(table[ids[j] * width + col]);
  });
}

void oracle::keyProducts(const Wide *gradient, const double *y,
                         const double *centre, const double *table,
                         const int64_t *ids, int64_t numKeys, int64_t width,
                         Wide *gradientDots, double *yDots, double *squares) {
  std::vector<double> unused(numKeys);
  keyProducts(y, y, centre, table, ids, numKeys, width, unused.data(), yDots,
              squares);
  for (int64_t j = 0; j < numKeys; ++j) {
    const double *key = table + ids[j] * width;
    gradientDots[j] =
        sumOf(width, [&](int64_t col) { return gradient[col] * key[col]; });
  }
}

void oracle::weightedDifferences(const Wide *weights, const int64_t *ids,
                                 int64_t numKeys, const Wide *centre,
                                 const double *table, int64_t width,
                                 Wide *sum) {
  addKeys(weights, numKeys, width, sum, [&](int64_t j, int64_t col) {
    return centre[col] - table[ids[j] * width + col];
  });
}

void oracle::addVectorTerms(const VectorTerm<Wide> *terms, int64_t count,
                            int64_t begin, int64_t end, KeySums<Wide> sums) {
  addColumns(
      count, begin, end, sums.values,
      [&](int64_t n) { return terms[n].factor; },
      [&](int64_t n, int64_t col) { return terms[n].vector[col]; });
  for (const VectorTerm<Wide> *term = terms; term != terms + count; ++term) {
    double factor = static_cast<double>(term->factor);
    addScaled(factor, term->sensitivity, begin, end, sums.sensitivity);
    addScaled(factor, term->terms, begin, end, sums.terms);
  }
}

void oracle::addDistanceTerms(const DistanceTerm<Wide> *terms, int64_t count,
                              const double *key, int64_t begin, int64_t end,
                              KeySums<Wide> sums) {
  addColumns(
      count, begin, end, sums.values,
      [&](int64_t n) { return -terms[n].factor; },
      [&](int64_t n, int64_t col) {
        return Wide(terms[n].query[col]) - key[col];
      });
  for (const DistanceTerm<Wide> *term = terms; term != terms + count; ++term)
    for (int64_t col = begin; col < end; ++col) {
      double size = std::fabs(term->query[col] - key[col]);
      sums.sensitivity[col] += term->sensitivity * size;
      sums.terms[col] +=
          term->terms * size +
          term->far * (std::fabs(term->query[col]) + std::fabs(key[col]));
    }
}
