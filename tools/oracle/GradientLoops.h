//===- GradientLoops.h - the inner loops of the gradient --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops over keys and width that only the gradient needs. `ids` and
// `table` are as in Loops.h.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_GRADIENTLOOPS_H
#define RAYTENTION_TOOLS_ORACLE_GRADIENTLOOPS_H

#include <cstdint>

namespace raytention {
namespace oracle {

/// For 0 <= j < numKeys: gradientDots[j] = G . k_j, yDots[j] = y . k_j and
/// squares[j] = ||k_j - centre||^2. G, y and centre are [width].
void keyProducts(const double *gradient, const double *y, const double *centre,
                 const double *table, const int64_t *ids, int64_t numKeys,
                 int64_t width, double *gradientDots, double *yDots,
                 double *squares);
void keyProducts(const long double *gradient, const double *y,
                 const double *centre, const double *table, const int64_t *ids,
                 int64_t numKeys, int64_t width, long double *gradientDots,
                 double *yDots, double *squares);

/// sum[d] += sum_j weights[j] (centre[d] - table[ids[j], d]).
void weightedDifferences(const double *weights, const int64_t *ids,
                         int64_t numKeys, const double *centre,
                         const double *table, int64_t width, double *sum);
void weightedDifferences(const long double *weights, const int64_t *ids,
                         int64_t numKeys, const long double *centre,
                         const double *table, int64_t width, long double *sum);

/// sum[d] += sum_j weights[j] |centre[d] - table[ids[j], d]|.
void weightedAbsDifferences(const double *weights, const int64_t *ids,
                            int64_t numKeys, const double *centre,
                            const double *table, int64_t width, double *sum);

/// Where the parts of a key's gradient are added up, all [width].
template <typename Real> struct KeySums {
  Real *values;
  double *sensitivity, *terms;
};

/// One row's share in the gradient of one key: factor * vector[d], and the
/// same with what a wrong score does to it and with its absolute terms.
template <typename Real> struct VectorTerm {
  Real factor;
  const Real *vector;
  const double *sensitivity, *terms;
};

/// One row's share through the distance: -factor * (query[d] - key[d]). Where
/// that may be summed as two products, `far` is the factor of their absolute
/// terms, |query[d]| + |key[d]|, else 0.
template <typename Real> struct DistanceTerm {
  Real factor;
  double sensitivity, terms, far;
  const double *query;
};

/// Adds `count` terms to the columns begin .. end - 1 of a key's sums; `key` is
/// [width].
void addVectorTerms(const VectorTerm<double> *terms, int64_t count,
                    int64_t begin, int64_t end, KeySums<double> sums);
void addVectorTerms(const VectorTerm<long double> *terms, int64_t count,
                    int64_t begin, int64_t end, KeySums<long double> sums);
void addDistanceTerms(const DistanceTerm<double> *terms, int64_t count,
                      const double *key, int64_t begin, int64_t end,
                      KeySums<double> sums);
void addDistanceTerms(const DistanceTerm<long double> *terms, int64_t count,
                      const double *key, int64_t begin, int64_t end,
                      KeySums<long double> sums);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_GRADIENTLOOPS_H
