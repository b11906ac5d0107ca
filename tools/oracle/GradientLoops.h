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

/// dots[j] = sum_d vector[d] table[ids[j], d] for 0 <= j < numKeys.
void keyDots(const double *vector, const double *table, const int64_t *ids,
             int64_t numKeys, int64_t width, double *dots);

/// sum[d] += sum_j weights[j] (centre[d] - table[ids[j], d]).
void weightedDifferences(const double *weights, const int64_t *ids,
                         int64_t numKeys, const double *centre,
                         const double *table, int64_t width, double *sum);

/// sum[d] += sum_j weights[j] |centre[d] - table[ids[j], d]|.
void weightedAbsDifferences(const double *weights, const int64_t *ids,
                            int64_t numKeys, const double *centre,
                            const double *table, int64_t width, double *sum);

/// One row's share in the gradient of one key: factor * vector[d], and the
/// same with the bound of what a wrong score does to it.
struct VectorTerm {
  double factor;
  const double *vector, *bound;
};

/// One row's share through the distance: -factor * (query[d] - key[d]).
struct DistanceTerm {
  double factor, bound;
  const double *query;
};

/// Adds terms to the columns begin .. end - 1 of a key's gradient and of its
/// bound, both [width], as is `key`.
void addVectorTerms(const VectorTerm *terms, int64_t count, int64_t begin,
                    int64_t end, double *sum, double *bound);
void addDistanceTerms(const DistanceTerm *terms, int64_t count,
                      const double *key, int64_t begin, int64_t end,
                      double *sum, double *bound);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_GRADIENTLOOPS_H
