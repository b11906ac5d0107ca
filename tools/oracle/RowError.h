//===- RowError.h - errors of one row, and their maxima ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the accuracy rule that are settled row by row. The bound of an
// element needs max|channel| over all rows, known only at the end; so what is
// kept per channel is that maximum and, apart from it, the largest excess
// |err| - e s. The channel passes if the one is at most tol times the other.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_ROWERROR_H
#define RAYTENTION_TOOLS_ORACLE_ROWERROR_H

#include "tools/oracle/ScoreError.h"

namespace raytention {
namespace oracle {

/// What is kept of one channel over any set of rows. Merging is associative
/// and does not depend on the order of rows.
struct ChannelError {
  double magnitude = 0;  ///< max |oracle|
  double error = 0;      ///< max |err|, infinite if a value is not finite
  double excess = 0;     ///< max of |err| less the score error, from `where` on
  RowId row;             ///< where the excess is largest
  int64_t element = -1;  ///< in the channel; -1: no element seen yet
  double scoreError = 0; ///< max of the score error
  double rounding = 0;   ///< max of what rounding leaves of cancelling terms
  bool significant = false; ///< some |oracle| is above that
  int64_t nearTies = 0;

  void add(RowId id, int64_t element, double error, double allowance);
  void merge(const ChannelError &other);
};

/// Compares rows, one at a time, for one thread.
class RowComparer {
public:
  RowComparer(const Problem &problem, const ScoreScales &scales,
              const CheckOptions &options);

  /// `row` with its scores, and the computed x [S].
  void compare(const Row &row, const double *x);

  /// One per channel, then the rows beyond their sequence.
  std::vector<ChannelError> errors;

private:
  void measure(const Row &row, size_t c, const double *expected, int64_t width);
  void compareValues(const Row &row, size_t c, double farthest,
                     const double *expected, const double *values,
                     int64_t width);
  void compareCopy(const Row &row, const Channel &channel, int64_t index,
                   const double *values, ChannelError &error);
  void comparePadding(const Row &row, const double *x);
  double flushed(const Row &row) const;

  const Problem &p;
  const ScoreScales &scales;
  double tol;
  double roundoff; ///< unit roundoff
  double smallest; ///< the smallest normal number of the outputs
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWERROR_H
