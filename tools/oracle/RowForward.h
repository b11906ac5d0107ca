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

/// One thread's scratch, and the row it is working on.
class RowForward {
public:
  /// `shift`, where not null, is added to each score.
  explicit RowForward(const Problem &problem, const ScoreShift *shift = nullptr)
      : p(problem), shift(shift) {}

  const Row &compute(RowId id);

private:
  void computeScores();
  void rankKeys();
  void computeChannel(const Channel &channel, double *value);
  int64_t chooseKey(const Channel &channel) const;
  int64_t antitopKey() const;
  void computeDecay(const Channel &channel, double *value);
  double weightedMean(double *value);
  double spread() const;
  double entropy() const;
  void normalize();

  double weight(int64_t j) const { return std::exp(row.scores[j] - row.lse); }

  const Problem &p;
  const ScoreShift *shift;
  Row row;
  const int64_t *ids = nullptr; ///< of the row's sequence
  int64_t position = 0;         ///< of the row in its sequence
  int64_t visible = 0;          ///< keys it sees: position + 1, or 0
  std::vector<double> dist;     ///< [visible]
  std::vector<int64_t> ranking; ///< best positions, best first
  std::vector<double> logs;     ///< [visible] log of unnormalised weights
  std::vector<double> kept;     ///< weights that count, and whose they are
  std::vector<int64_t> keptIds;
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWFORWARD_H
