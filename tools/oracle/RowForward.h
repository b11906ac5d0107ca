//===- RowForward.h - one row of the forward pass ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_ROWFORWARD_H
#define RAYTENTION_TOOLS_ORACLE_ROWFORWARD_H

#include "tools/oracle/Oracle.h"

#include <cmath>

namespace raytention {
namespace oracle {

/// What may be other than in the forward pass; nothing where empty.
struct RowHooks {
  ScoreShift shift; ///< added to each score
  /// Taken where a score error below `scoreError` could choose so.
  KeyChoice choice;
  double scoreError = 0;
};

/// A row as it is computed; notation of Oracle.h.
template <typename Real> struct RowState {
  RowId id;
  std::vector<Real> x, y; ///< [S]
  Real norm = 0;
  std::vector<int64_t> indices;
  int64_t nearest = 0;             ///< the lowest position of the largest z_j
  Real best = 0, logSum = 0;       ///< m, log l
  std::vector<Real> dist, shifted; ///< [visible] dist_j, z_j - m
  std::vector<double> floors;      ///< as in Row

  Real weight(int64_t j) const { return std::exp(shifted[j] - logSum); }
  /// Writes `row`, whose memory is used again.
  void round(Row &row) const;
};

/// One thread's scratch, and the row it is working on. Real: double or long
/// double.
template <typename Real> class RowForward {
public:
  /// `hooks` outlives this, where not null.
  explicit RowForward(const Problem &problem, const RowHooks *hooks = nullptr)
      : p(problem), hooks(hooks) {}

  const RowState<Real> &compute(RowId id);

private:
  void computeScores();
  void rankKeys();
  void computeChannel(const Channel &channel, Real *value);
  int64_t chooseKey(const Channel &channel) const;
  int64_t otherChoice(const Channel &channel, int64_t index) const;
  int64_t antitopKey() const;
  double computeDecay(const Channel &channel, Real *value);
  Real keySize(int64_t j);
  Real weightedMean(Real *value);
  Real spread() const;
  Real entropy() const;
  Real moment(int64_t power) const;
  void normalize();

  const Problem &p;
  const RowHooks *hooks;
  RowState<Real> row;
  const int64_t *ids = nullptr; ///< of the row's sequence
  int64_t position = 0;         ///< of the row in its sequence
  int64_t visible = 0;          ///< keys it sees: position + 1, or 0
  std::vector<int64_t> choices; ///< of the other side, per copying channel
  std::vector<int64_t> ranking; ///< best positions, best first
  std::vector<Real> logs;       ///< [visible] log of unnormalised weights
  std::vector<Real> kept;       ///< weights that count, and whose they are
  std::vector<Real> keySizes;   ///< [V] as keySize() gives them; NaN: not yet
  std::vector<int64_t> keptIds;
};

extern template struct RowState<double>;
extern template struct RowState<long double>;
extern template class RowForward<double>;
extern template class RowForward<long double>;

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWFORWARD_H
