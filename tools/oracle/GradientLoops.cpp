//===- GradientLoops.cpp - the inner loops of the gradient ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/GradientLoops.h"

#include "tools/oracle/Lanes.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

/// Vectors of columns whose sums stay in registers.
static constexpr int64_t block = 4;

static inline const Vec *vectors(const double *values) {
  return reinterpret_cast<const Vec *>(values);
}

static inline Vec *vectors(double *values) {
  return reinterpret_cast<Vec *>(values);
}

#define ABSOLUTE(v) ((v) < 0 ? -(v) : (v))

ORACLE_VERSIONS
void oracle::keyDots(const double *vector, const double *table,
                     const int64_t *ids, int64_t numKeys, int64_t width,
                     double *dots) {
  for (int64_t j = 0; j < numKeys; ++j) {
    const double *key = table + ids[j] * width;
    Vec acc[block] = {};
    int64_t col = 0;
    for (; col + block * lanes <= width; col += block * lanes)
      for (int64_t l = 0; l < block; ++l)
        acc[l] += vectors(vector + col)[l] * vectors(key + col)[l];
    Vec all = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    double sum = (all[0] + all[1]) + (all[2] + all[3]);
    for (; col < width; ++col)
      sum += vector[col] * key[col];
    dots[j] = sum;
  }
}

ORACLE_VERSIONS
void oracle::weightedDifferences(const double *weights, const int64_t *ids,
                                 int64_t numKeys, const double *centre,
                                 const double *table, int64_t width,
                                 double *sum) {
  int64_t col = 0;
  for (; col + block * lanes <= width; col += block * lanes) {
    Vec acc[block] = {};
    for (int64_t j = 0; j < numKeys; ++j) {
      const Vec *key = vectors(table + ids[j] * width + col);
      for (int64_t l = 0; l < block; ++l)
        acc[l] += weights[j] * (vectors(centre + col)[l] - key[l]);
    }
    for (int64_t l = 0; l < block; ++l)
      vectors(sum + col)[l] += acc[l];
  }
  for (; col < width; ++col)
    for (int64_t j = 0; j < numKeys; ++j)
      sum[col] += weights[j] * (centre[col] - table[ids[j] * width + col]);
}

ORACLE_VERSIONS
void oracle::weightedAbsDifferences(const double *weights, const int64_t *ids,
                                    int64_t numKeys, const double *centre,
                                    const double *table, int64_t width,
                                    double *sum) {
  int64_t col = 0;
  for (; col + block * lanes <= width; col += block * lanes) {
    Vec acc[block] = {};
    for (int64_t j = 0; j < numKeys; ++j) {
      const Vec *key = vectors(table + ids[j] * width + col);
      for (int64_t l = 0; l < block; ++l) {
        Vec difference = vectors(centre + col)[l] - key[l];
        acc[l] += weights[j] * ABSOLUTE(difference);
      }
    }
    for (int64_t l = 0; l < block; ++l)
      vectors(sum + col)[l] += acc[l];
  }
  for (; col < width; ++col)
    for (int64_t j = 0; j < numKeys; ++j)
      sum[col] +=
          weights[j] * std::fabs(centre[col] - table[ids[j] * width + col]);
}

ORACLE_VERSIONS
void oracle::addVectorTerms(const VectorTerm *terms, int64_t count,
                            int64_t begin, int64_t end, double *sum,
                            double *bound) {
  int64_t col = begin;
  for (; col + block * lanes <= end; col += block * lanes) {
    Vec acc[block] = {}, absolute[block] = {};
    for (const VectorTerm *term = terms; term != terms + count; ++term)
      for (int64_t l = 0; l < block; ++l) {
        acc[l] += term->factor * vectors(term->vector + col)[l];
        absolute[l] += term->factor * vectors(term->bound + col)[l];
      }
    for (int64_t l = 0; l < block; ++l) {
      vectors(sum + col)[l] += acc[l];
      vectors(bound + col)[l] += absolute[l];
    }
  }
  for (; col < end; ++col)
    for (const VectorTerm *term = terms; term != terms + count; ++term) {
      sum[col] += term->factor * term->vector[col];
      bound[col] += term->factor * term->bound[col];
    }
}

ORACLE_VERSIONS
void oracle::addDistanceTerms(const DistanceTerm *terms, int64_t count,
                              const double *key, int64_t begin, int64_t end,
                              double *sum, double *bound) {
  int64_t col = begin;
  for (; col + block * lanes <= end; col += block * lanes) {
    Vec acc[block] = {}, absolute[block] = {};
    for (const DistanceTerm *term = terms; term != terms + count; ++term)
      for (int64_t l = 0; l < block; ++l) {
        Vec difference = vectors(term->query + col)[l] - vectors(key + col)[l];
        acc[l] += term->factor * difference;
        absolute[l] += term->bound * ABSOLUTE(difference);
      }
    for (int64_t l = 0; l < block; ++l) {
      vectors(sum + col)[l] -= acc[l];
      vectors(bound + col)[l] += absolute[l];
    }
  }
  for (; col < end; ++col)
    for (const DistanceTerm *term = terms; term != terms + count; ++term) {
      double difference = term->query[col] - key[col];
      sum[col] -= term->factor * difference;
      bound[col] += term->bound * std::fabs(difference);
    }
}
