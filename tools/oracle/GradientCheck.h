//===- GradientCheck.h - the accuracy rule for gradients --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares computed gradients with those of the oracle, element by element:
//
//   |err| <= tol max|gradient| + (e + 2 u) s + r u terms + open
//
// max|gradient| is over all elements of that gradient, e is the score error of
// ScoreError.h over the rows that have a dy, s the element's own sensitivity,
// u the unit roundoff, r is termRoundoffs(), terms is the sum of the element's
// absolute terms, and open is what the choice of a key and weights too small
// for the path's type leave open, see Gradient.h. A weight that is rounded is
// the weight of a score that is off by u: it counts where scores are exact and
// the keys cancel in a row's value. Where no value is above r u terms, the
// gradient is 0 within rounding: see Check.h for that, and for what is
// unchecked.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_GRADIENTCHECK_H
#define RAYTENTION_TOOLS_ORACLE_GRADIENTCHECK_H

#include "tools/oracle/Check.h"
#include "tools/oracle/Gradient.h"

#include <algorithm>
#include <cmath>

namespace raytention {
namespace oracle {

/// The tolerance of gradients: 1e-10, 1e-4, 1e-2.
double gradientTolerance(DType dtype);

/// Roundings of a term that may remain where all terms cancel: products of D
/// columns and sums over keys are added up one by one. A term of G . k being
/// ||G|| ||k|| over the root of D, there are more of them where all have one
/// sign. In rows of one token, whose softmax has no gradient,
/// bench/gradient-rounding.py measures what is left at D = 1 to 8192 and 1 to
/// 3000 keys: up to 6 at D = 1, 18 at 32, 27 at 300, 81 at 8192.
inline double termRoundoffs(int64_t dModel, int64_t numKeys) {
  return 4 + 1.25 * std::sqrt(static_cast<double>(dModel)) +
         std::min<int64_t>(numKeys, 256) / 32.0;
}

/// Roundings of a weight: of the exponential, and of what divides it.
constexpr double weightRoundoffs = 2;

/// A computed gradient is finite where its absolute terms, see GradientPart,
/// stay below this: 2^1000, else 2^120.
double largestTerms(DType dtype);

/// Element `index` of a computed gradient, in C order.
using GradientValue = std::function<double(int64_t index)>;

/// What is to be checked; shapes as in Gradients.
struct ComputedGradients {
  GradientValue queries, table, tau, gammas;
  /// The keys that copies chose, in rows that see any key. Empty: those of the
  /// oracle.
  KeyChoice indices;
};

/// Compares the gradients of a dy that is `dSignals` in `rows` and zero in all
/// others. Items: "dq", "dtable", "dtau", "dgammas", those without elements
/// excepted; then "gradient padding" if a row lies beyond its sequence or a
/// token is seen by no row, where nothing but zeros will do. In an item,
/// scoreError is the largest e s.
///
/// A copy hands its gradient to the key that the computed row chose, where
/// check() would accept that key.
///
/// Any value that is not finite fails. Numbers below the smallest normal one
/// count as zero, because workers flush them: the smallest normal number, times
/// T max s or, for dq and dtable, T (max |q| + max |k|) where that is above 1,
/// is added to the bound. `progress` may be null and is called after each row.
///
/// Fails on what backward() refuses; a difference is no such failure but a
/// report that did not pass.
[[nodiscard]] Error
checkGradients(const Problem &problem, const std::vector<RowId> &rows,
               const SignalGradient &dSignals,
               const ComputedGradients &computed, const CheckOptions &options,
               const std::function<void()> &progress, CheckReport &report);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_GRADIENTCHECK_H
