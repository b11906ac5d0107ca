//===- Check.h - the accuracy rule, against the oracle ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares computed values with the oracle, channel by channel:
//
//   |err| <= tol max|channel| + e s
//
// max|channel| is the channel's largest magnitude over all checked rows. e is
// how wrong a score may be, see ScoreError.h; s turns it into an error of the
// channel: max ||k|| for vectors, times the row's own min(1, S / 1e-8) where
// they decay, t |tau| for spread, log T for entropy, K t (max
// dist)^(K-1) for moment:K. Where e s is more than
// half of max|channel| the comparison would excuse anything: unchecked, not
// passed.
//
// Where the true value is 0 throughout, or so little that rounding of terms
// that cancel leaves as much, there is nothing to be relative to: the error is
// compared absolutely.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_CHECK_H
#define RAYTENTION_TOOLS_ORACLE_CHECK_H

#include "tools/oracle/Oracle.h"

#include <functional>
#include <string>
#include <vector>

namespace raytention {
namespace oracle {

/// Element type of the queries and the table on the checked side. Under BF16
/// it accumulates and writes in float, and the oracle is fed the same rounded
/// inputs.
enum class DType { F64, F32, BF16 };

/// The tolerance of the forward pass: 1e-12, 2e-5, 1e-4.
double forwardTolerance(DType dtype);
/// Unit roundoff of the accumulations: 2^-53, else 2^-24.
double unitRoundoff(DType dtype);
/// 0.01 as the type of the accumulations rounds it.
double temperatureFloor(DType dtype);
/// What the oracle is to compute in, so that it is the better: long double for
/// F64, else double.
Arithmetic oracleArithmetic(DType dtype);
/// Smallest normal number of the outputs: of double, else of float.
double smallestNormal(DType dtype);

struct CheckOptions {
  DType dtype = DType::F32;
  bool exactDistances = false; ///< by differences, not by expansion
  double tol = 0;              ///< 0: forwardTolerance(dtype)
  double scoreFactor = 0;      ///< c in the score error e; 0: as measured
  int threads = 0;             ///< 0: one per core
};

/// From good to bad.
enum class Verdict { Passed, Unchecked, Failed };

/// The verdict on one channel. `err` and `tol` are relative to `magnitude`
/// (where that is 0, `err` is absolute); `scoreError` is not. To compare all
/// three, use relativeScoreError().
struct CheckItem {
  std::string name;      ///< the channel's, or "padding"
  double err = 0;        ///< max |err| / magnitude, infinite for a NaN
  double tol = 0;        ///< as in the table
  double scoreError = 0; ///< the largest e s; 0 for copies, which carry none
  double magnitude = 0;  ///< max|channel| over the checked rows
  /// The true value is 0 within rounding; then `magnitude` is 0.
  bool isZero = false;
  /// Of a gradient that is 0: the largest |err| past what score errors explain,
  /// in roundings of its terms.
  double roundings = 0;
  Verdict verdict = Verdict::Failed;
  /// Where the bound is passed by most, or comes nearest: "[b, i], element d".
  std::string where;
  /// Copies: rows where another index was accepted, its z being within e.
  int64_t nearTies = 0;

  bool passed() const { return verdict == Verdict::Passed; }
  double relativeScoreError() const {
    return magnitude > 0 ? scoreError / magnitude : scoreError;
  }
  /// Sets the verdict: whether the comparison came out well, and means
  /// anything.
  void judge(bool withinBound);
};

struct CheckReport {
  Verdict verdict = Verdict::Passed; ///< the worst of the items'
  double e = 0;                      ///< score error, in nats
  int64_t numRows = 0;               ///< rows compared
  /// One per channel, in order; then "padding" if a checked row lies beyond
  /// its sequence, where nothing but zeros will do.
  std::vector<CheckItem> items;

  bool passed() const { return verdict == Verdict::Passed; }
  void add(CheckItem item);
};

/// Writes the computed row `id` before the normalisation, x [S], as double.
/// Called from several threads. Where only y and the norm are at hand,
/// x = y max(norm, 1e-10).
using RowValues = std::function<void(RowId id, double *x)>;

/// Compares `rows` of `values` with the oracle. Holds one row per thread.
///
/// - A channel that copies a key is compared with that key's values. Another
///   key is accepted for top:K if its z differs from the K-th largest by no
///   more than e, or than what may count as equal (2^-100, F64: 2^-900), for
///   antitop if some set of keys that decides each z within e of
///   the threshold 1e-10 either way, and orders the z within e, would choose
///   it; never for the predecessor, which no z decides.
/// - Any value that is not finite fails.
/// - Numbers below the smallest normal one count as zero, because workers
///   flush them: the smallest normal number of the output, times ||x|| where
///   that is above 1, is added to the bound.
///
/// Fails on what forEachRow() refuses; a difference is no such failure but a
/// report that did not pass.
[[nodiscard]] Error check(const Problem &problem,
                          const std::vector<RowId> &rows,
                          const RowValues &values, const CheckOptions &options,
                          CheckReport &report);

/// Whether all rows are too much work to compare: T^2 D > 1e12.
bool needsSampling(int64_t numKeys, int64_t dModel);

/// `count` rows of [B, Tq] drawn from `seed`, the first and the last of each
/// sequence, and the rows on both sides of each boundary between tiles of
/// `tile` rows (0: none), of which at most `count` per sequence, evenly spread.
/// Sorted, each once.
std::vector<RowId> sampleRows(int64_t batch, int64_t numQueries, uint64_t seed,
                              int64_t count, int64_t tile);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_CHECK_H
