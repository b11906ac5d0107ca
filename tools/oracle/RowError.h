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

#include "tools/oracle/Check.h"

namespace raytention {
namespace oracle {

/// The scales of the score error, over the checked rows and what they see.
struct ScoreScales {
  double e = 0;       ///< c u max(||q||^2 + ||k||^2) / t
  double maxKey = 0;  ///< max ||k||
  double logKeys = 0; ///< log of the longest sequence's length
  double tTau = 0;    ///< t |tau|

  /// e s of `channel`; 0 for copies.
  double scoreError(const Channel &channel) const;
};

ScoreScales measureScales(const Problem &problem,
                          const std::vector<RowId> &rows,
                          const CheckOptions &options);

/// What is kept of one channel over any set of rows. Merging is associative
/// and does not depend on the order of rows.
struct ChannelError {
  double magnitude = 0; ///< max |oracle|
  double error = 0;     ///< max |err|, infinite if a value is not finite
  double excess = 0;    ///< max of |err| less the score error, from `where` on
  RowId row;            ///< where the excess is largest
  int64_t element = -1; ///< in the channel; -1: no element seen yet
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
  void compareValues(const Row &row, const double *expected,
                     const double *values, int64_t width, double scoreError,
                     ChannelError &error);
  void compareCopy(const Row &row, const Channel &channel, int64_t index,
                   const double *values, ChannelError &error);
  void comparePadding(const Row &row, const double *x);
  double flushed(const Row &row) const;

  const Problem &p;
  const ScoreScales &scales;
  double tol;
  double smallest; ///< the smallest normal number of the outputs
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWERROR_H
