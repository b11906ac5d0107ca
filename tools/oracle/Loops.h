//===- Loops.h - the oracle's two inner loops -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only loops over keys and width: everything else costs O(T) per row. In
// long double they are plain loops, see WideLoops.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_LOOPS_H
#define RAYTENTION_TOOLS_ORACLE_LOOPS_H

#include <cstdint>

namespace raytention {
namespace oracle {

/// squares[j] = sum_d (query[d] - table[ids[j], d])^2 for 0 <= j < numKeys.
/// query [width], table [V, width], squares [numKeys]. By differences: the
/// relative error is a few units of rounding, whatever the norms are.
void squaredDistances(const double *query, const double *table,
                      const int64_t *ids, int64_t numKeys, int64_t width,
                      double *squares);
void squaredDistances(const double *query, const double *table,
                      const int64_t *ids, int64_t numKeys, int64_t width,
                      long double *squares);

/// sum[d] = sum_j weights[j] table[ids[j], d] for 0 <= j < numKeys.
/// weights, ids [numKeys], table [V, width], sum [width]. Added in the order
/// of j, a hundred or so at a time, so that no sum loses by its length.
void weightedSum(const double *weights, const int64_t *ids, int64_t numKeys,
                 const double *table, int64_t width, double *sum);
void weightedSum(const long double *weights, const int64_t *ids,
                 int64_t numKeys, const double *table, int64_t width,
                 long double *sum);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_LOOPS_H
