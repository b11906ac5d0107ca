//===- ScoreError.h - how wrong a score may be -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distances lose digits, and scores with them. With N = max(||q||^2 + ||k||^2)
// and u the unit roundoff, a score z is off by at most
//
//   e = c(D) u N / t              sq_l2, by expansion
//   e = 16 c(D) u sqrt(N) / t     l2, by expansion: a distance under 2^-5 of
//   the
//                                 norms is recomputed by differences
//   e = c(D) u max dist / t       by differences
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_SCOREERROR_H
#define RAYTENTION_TOOLS_ORACLE_SCOREERROR_H

#include "tools/oracle/Check.h"

namespace raytention {
namespace oracle {

/// c(D), as measured by bench/ScoreError.cpp.
double scoreErrorFactor(bool byDifferences, int64_t dModel);

/// What of a row the score error of its channels depends on.
struct RowExtent {
  int64_t length;  ///< tokens of its sequence
  double floor;    ///< by which a decay is under its floor
  double farthest; ///< max dist over the keys that it sees
};

/// The scales of the score error, over the checked rows and what they see.
struct ScoreScales {
  double e = 0;      ///< of a score
  double maxKey = 0; ///< max ||k||
  double t = 0;      ///< the temperature
  double tTau = 0;   ///< t |tau|
  /// Keys whose scores differ by no more may stand for each other: e, or what
  /// may count as equal where that is more, 2^-100 (F64: 2^-900).
  double keyError = 0;

  /// e s of `channel` in a row; 0 for copies. No error of weights makes more of
  /// a mean than twice the longest key, or more of an entropy than log T.
  double scoreError(const Channel &channel, const RowExtent &row) const;
  /// What rounding the value of `channel` is relative to where its terms
  /// cancel: ||k|| for weighted keys, 1 for entropy, and 0 for the others,
  /// whose terms do not cancel.
  double cancelling(const Channel &channel, double floor) const;
};

ScoreScales measureScales(const Problem &problem,
                          const std::vector<RowId> &rows,
                          const CheckOptions &options);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_SCOREERROR_H
