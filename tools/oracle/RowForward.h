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

/// One thread's scratch, and the row it is working on.
class RowForward {
public:
  /// `hooks` outlives this, where not null.
  explicit RowForward(const Problem &problem, const RowHooks *hooks = nullptr)
      : p(problem), hooks(hooks) {}

  const Row &compute(RowId id);

private:
  void computeScores();
  void rankKeys();
  void computeChannel(const Channel &channel, double *value);
  int64_t chooseKey(const Channel &channel) const;
  int64_t otherChoice(const Channel &channel, int64_t index) const;
  int64_t antitopKey() const;
  void computeDecay(const Channel &channel, double *value);
  double weightedMean(double *value);
  double spread() const;
  double entropy() const;
  void normalize();

  double weight(int64_t j) const { return std::exp(row.scores[j] - row.lse); }

  const Problem &p;
  const RowHooks *hooks;
  Row row;
  const int64_t *ids = nullptr; ///< of the row's sequence
  int64_t position = 0;         ///< of the row in its sequence
  int64_t visible = 0;          ///< keys it sees: position + 1, or 0
  std::vector<double> dist;     ///< [visible]
  std::vector<int64_t> choices; ///< of the other side, per copying channel
  std::vector<int64_t> ranking; ///< best positions, best first
  std::vector<double> logs;     ///< [visible] log of unnormalised weights
  std::vector<double> kept;     ///< weights that count, and whose they are
  std::vector<int64_t> keptIds;
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWFORWARD_H
