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
  for (int64_t j = 0; j < numKeys; ++j) {
    const double *key = table + ids[j] * width;
    for (int64_t col = 0; col < width; ++col)
      sum[col] += weights[j] * key[col];
  }
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
  for (int64_t j = 0; j < numKeys; ++j) {
    const double *key = table + ids[j] * width;
    for (int64_t col = 0; col < width; ++col)
      sum[col] += weights[j] * (centre[col] - key[col]);
  }
}

void oracle::addVectorTerms(const VectorTerm<Wide> *terms, int64_t count,
                            int64_t begin, int64_t end, KeySums<Wide> sums) {
  for (const VectorTerm<Wide> *term = terms; term != terms + count; ++term) {
    double factor = static_cast<double>(term->factor);
    for (int64_t col = begin; col < end; ++col) {
      sums.values[col] += term->factor * term->vector[col];
      sums.sensitivity[col] += factor * term->sensitivity[col];
      sums.terms[col] += factor * term->terms[col];
    }
  }
}

void oracle::addDistanceTerms(const DistanceTerm<Wide> *terms, int64_t count,
                              const double *key, int64_t begin, int64_t end,
                              KeySums<Wide> sums) {
  for (const DistanceTerm<Wide> *term = terms; term != terms + count; ++term)
    for (int64_t col = begin; col < end; ++col) {
      Wide difference = Wide(term->query[col]) - key[col];
      double size = std::fabs(static_cast<double>(difference));
      sums.values[col] -= term->factor * difference;
      sums.sensitivity[col] += term->sensitivity * size;
      sums.terms[col] += term->terms * size;
    }
}
