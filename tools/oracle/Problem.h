//===- Problem.h - what the oracle is asked ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One attention and its inputs, in float64.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_PROBLEM_H
#define RAYTENTION_TOOLS_ORACLE_PROBLEM_H

#include "tools/oracle/Channels.h"

#include <cstdint>
#include <vector>

namespace raytention {
namespace oracle {

/// SqL2: dist = ||q - k||^2. L2: dist = ||q - k||.
enum class Metric { SqL2, L2 };

/// Origin P of the backward decays, whose exponent is P - j. SequenceEnd: the
/// last position of the sequence. Query: the position of the row.
enum class DecayOrigin { SequenceEnd, Query };

/// Inputs, C order. Values narrower than double are to be converted, not
/// rounded again: the oracle computes from the inputs that the other side got.
struct Problem {
  int64_t batch = 1;      ///< B
  int64_t numQueries = 0; ///< Tq
  int64_t numKeys = 0;    ///< T
  int64_t vocab = 0;      ///< V
  int64_t dModel = 0;     ///< D

  std::vector<double> queries; ///< [B, Tq, D]
  std::vector<double> table;   ///< [V, D]
  std::vector<int64_t> ids;    ///< [B, T], 0 <= id < V
  double tau = 1;              ///< any finite number; t = max(tau, tauFloor)
  /// 0.01 as the accumulations of the other side round it: temperatureFloor().
  double tauFloor = 0.01;
  std::vector<double> gammas = {0.99, 0.5, 0.88, 0.993, 0.3};
  int64_t queryOffset = 0;      ///< row i of q stands at i + queryOffset
  std::vector<int64_t> lengths; ///< [B], 0..T; empty: all T

  Metric metric = Metric::SqL2;
  DecayOrigin decayOrigin = DecayOrigin::SequenceEnd;
  std::vector<Channel> channels;

  /// t, by which distances are divided.
  double temperature() const { return tau > tauFloor ? tau : tauFloor; }
  int64_t length(int64_t b) const {
    return lengths.empty() ? numKeys : lengths[b];
  }
  /// Keys that row i of sequence b sees: 0 beyond the sequence's length.
  int64_t visibleKeys(int64_t b, int64_t i) const {
    int64_t position = i + queryOffset;
    return position < length(b) ? position + 1 : 0;
  }
  const double *query(int64_t b, int64_t i) const { ///< [D]
    return queries.data() + (b * numQueries + i) * dModel;
  }
  const int64_t *sequence(int64_t b) const { ///< [T]
    return ids.data() + b * numKeys;
  }
  const double *key(int64_t b, int64_t j) const { ///< [D]
    return table.data() + sequence(b)[j] * dModel;
  }
  /// S, the width of one row of output.
  int64_t signalWidth() const;
  /// How many channels are copies of a key.
  int64_t numIndices() const;
};

/// What is wrong with `problem`, if anything: shapes, ids (naming the
/// position), lengths, gammas outside [2^-100, 1], and rows that some visible
/// position reads, where they are not finite or their squared norm passes
/// 2^1000. What stands in other rows changes nothing.
[[nodiscard]] Error validate(const Problem &problem);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_PROBLEM_H
