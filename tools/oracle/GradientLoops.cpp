//===- GradientLoops.cpp - the inner loops of the gradient ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/GradientLoops.h"

#include "tools/oracle/Lanes.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

/// Vectors of columns whose sums stay in registers.
static constexpr int64_t block = 4;

ORACLE_INLINE const Vec *vectors(const double *values) {
  return reinterpret_cast<const Vec *>(values);
}

ORACLE_INLINE Vec *vectors(double *values) {
  return reinterpret_cast<Vec *>(values);
}

/// Without the sign's bit.
typedef int64_t Bits __attribute__((vector_size(lanes * sizeof(int64_t))));
#define ABSOLUTE(v) ((Vec)((Bits)(v)&INT64_MAX))

ORACLE_INLINE double sumOf(const Vec *acc) {
  Vec all = (acc[0] + acc[1]) + (acc[2] + acc[3]);
  return (all[0] + all[1]) + (all[2] + all[3]);
}

ORACLE_VERSIONS
void oracle::keyProducts(const double *gradient, const double *y,
                         const double *centre, const double *table,
                         const int64_t *ids, int64_t numKeys, int64_t width,
                         double *gradientDots, double *yDots, double *squares) {
  for (int64_t j = 0; j < numKeys; ++j) {
    const double *key = table + ids[j] * width;
    Vec ofGradient[block] = {}, ofY[block] = {}, ofSquare[block] = {};
    int64_t col = 0;
    for (; col + block * lanes <= width; col += block * lanes)
#pragma GCC unroll 4
      for (int64_t l = 0; l < block; ++l) {
        Vec k = vectors(key + col)[l], d = k - vectors(centre + col)[l];
        ofGradient[l] += vectors(gradient + col)[l] * k;
        ofY[l] += vectors(y + col)[l] * k;
        ofSquare[l] += d * d;
      }
    double a = sumOf(ofGradient), b = sumOf(ofY), c = sumOf(ofSquare);
    for (; col < width; ++col) {
      a += gradient[col] * key[col];
      b += y[col] * key[col];
      c += (key[col] - centre[col]) * (key[col] - centre[col]);
    }
    gradientDots[j] = a;
    yDots[j] = b;
    squares[j] = c;
  }
}

/// Keys that are served for all columns before the next are: they stay in the
/// cache, and no sum loses by its length.
static constexpr int64_t keysPerRun = 64;

/// Adds weights[j] (centre - k_j), or its absolute values, over `numKeys` keys
/// to `sum`.
template <bool isAbsolute>
ORACLE_INLINE void addDifferences(const double *weights, const int64_t *ids,
                                  int64_t numKeys, const double *centre,
                                  const double *table, int64_t width,
                                  double *sum) {
  constexpr int64_t size = 8;
  int64_t col = 0;
  for (; col + size * lanes <= width; col += size * lanes) {
    Vec acc[size] = {};
    for (int64_t j = 0; j < numKeys; ++j) {
      const Vec *key = vectors(table + ids[j] * width + col);
#pragma GCC unroll 8
      for (int64_t l = 0; l < size; ++l) {
        Vec difference = vectors(centre + col)[l] - key[l];
        acc[l] += weights[j] * (isAbsolute ? ABSOLUTE(difference) : difference);
      }
    }
    for (int64_t l = 0; l < size; ++l)
      vectors(sum + col)[l] += acc[l];
  }
  for (; col < width; ++col)
    for (int64_t j = 0; j < numKeys; ++j) {
      double difference = centre[col] - table[ids[j] * width + col];
      sum[col] +=
          weights[j] * (isAbsolute ? std::fabs(difference) : difference);
    }
}

ORACLE_VERSIONS
void oracle::weightedDifferences(const double *weights, const int64_t *ids,
                                 int64_t numKeys, const double *centre,
                                 const double *table, int64_t width,
                                 double *sum) {
  for (int64_t begin = 0; begin < numKeys; begin += keysPerRun)
    addDifferences<false>(weights + begin, ids + begin,
                          std::min(keysPerRun, numKeys - begin), centre, table,
                          width, sum);
}

ORACLE_VERSIONS
void oracle::weightedAbsDifferences(const double *weights, const int64_t *ids,
                                    int64_t numKeys, const double *centre,
                                    const double *table, int64_t width,
                                    double *sum) {
  for (int64_t begin = 0; begin < numKeys; begin += keysPerRun)
    addDifferences<true>(weights + begin, ids + begin,
                         std::min(keysPerRun, numKeys - begin), centre, table,
                         width, sum);
}

ORACLE_VERSIONS
void oracle::addVectorTerms(const VectorTerm<double> *terms, int64_t count,
                            int64_t begin, int64_t end, KeySums<double> sums) {
  const VectorTerm<double> *last = terms + count;
  int64_t col = begin;
  for (; col + block * lanes <= end; col += block * lanes) {
    Vec value[block] = {}, change[block] = {}, absolute[block] = {};
    for (const VectorTerm<double> *term = terms; term != last; ++term)
#pragma GCC unroll 4
      for (int64_t l = 0; l < block; ++l) {
        value[l] += term->factor * vectors(term->vector + col)[l];
        change[l] += term->factor * vectors(term->sensitivity + col)[l];
        absolute[l] += term->factor * vectors(term->terms + col)[l];
      }
    for (int64_t l = 0; l < block; ++l) {
      vectors(sums.values + col)[l] += value[l];
      vectors(sums.sensitivity + col)[l] += change[l];
      vectors(sums.terms + col)[l] += absolute[l];
    }
  }
  for (; col < end; ++col)
    for (const VectorTerm<double> *term = terms; term != last; ++term) {
      sums.values[col] += term->factor * term->vector[col];
      sums.sensitivity[col] += term->factor * term->sensitivity[col];
      sums.terms[col] += term->factor * term->terms[col];
    }
}

ORACLE_VERSIONS
void oracle::addDistanceTerms(const DistanceTerm<double> *terms, int64_t count,
                              const double *key, int64_t begin, int64_t end,
                              KeySums<double> sums) {
  const DistanceTerm<double> *last = terms + count;
  int64_t col = begin;
  for (; col + block * lanes <= end; col += block * lanes) {
    Vec value[block] = {}, change[block] = {}, absolute[block] = {};
    for (const DistanceTerm<double> *term = terms; term != last; ++term)
#pragma GCC unroll 4
      for (int64_t l = 0; l < block; ++l) {
        Vec q = vectors(term->query + col)[l], k = vectors(key + col)[l];
        Vec difference = q - k, size = ABSOLUTE(difference);
        value[l] += term->factor * difference;
        change[l] += term->sensitivity * size;
        absolute[l] +=
            term->terms * size + term->far * (ABSOLUTE(q) + ABSOLUTE(k));
      }
    for (int64_t l = 0; l < block; ++l) {
      vectors(sums.values + col)[l] -= value[l];
      vectors(sums.sensitivity + col)[l] += change[l];
      vectors(sums.terms + col)[l] += absolute[l];
    }
  }
  for (; col < end; ++col)
    for (const DistanceTerm<double> *term = terms; term != last; ++term) {
      double difference = term->query[col] - key[col];
      sums.values[col] -= term->factor * difference;
      sums.sensitivity[col] += term->sensitivity * std::fabs(difference);
      sums.terms[col] +=
          term->terms * std::fabs(difference) +
          term->far * (std::fabs(term->query[col]) + std::fabs(key[col]));
    }
}
