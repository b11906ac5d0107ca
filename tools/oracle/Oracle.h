//===- Oracle.h - the forward pass, row by row ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every compiled attention is checked against: the formulas of the
// forward pass as plain loops in double, or in long double for what computes in
// double itself; sharing no code with the compiler or the runtime. One row at a
// time, O(T + S) memory per thread.
//
//   dist_ij = ||q_i - k_j||^2 or its root, by differences;  k_j = table[ids_j]
//   z_ij    = -dist_ij / t,     t = max(tau, 0.01),         j <= i, j < length
//   w_ij    = exp(z_ij - m_i - log l_i), m_i = max z_ij,
//             l_i = sum_j exp(z_ij - m_i)
//
// m and log l are never added up where a weight depends on it: where |z| is
// large their sum has no digits left for it.
//
//   centroid     sum_j w_ij k_j
//   decay        (sum_j a_ij k_j) / max(S_i, 1e-8),  a_ij = w_ij g^p_ij,
//                S_i = sum_j a_ij;  p_ij = j forward, P - j backward
//   predecessor  k_i      top:K  k of the K-th largest z_ij
//   antitop      k of the smallest z_ij among those with w_ij > 1e-10
//   spread       tau sum_j w_ij dist_ij
//   entropy      -sum_j w_ij log(max(w_ij, 1e-10))
//   moment:K     sum_j w_ij dist_ij^K
//
// x = the channels one after another; y = x / max(||x||, 1e-10).
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_ORACLE_H
#define RAYTENTION_TOOLS_ORACLE_ORACLE_H

#include "tools/oracle/Problem.h"
#include "tools/oracle/Workers.h"

#include <functional>
#include <tuple>
#include <vector>

namespace raytention {
namespace oracle {

/// Row `row` of the queries of sequence `batch`.
struct RowId {
  int64_t batch = 0;
  int64_t row = 0;

  bool operator==(const RowId &other) const {
    return batch == other.batch && row == other.row;
  }
  bool operator<(const RowId &other) const {
    return std::tie(batch, row) < std::tie(other.batch, other.row);
  }
};

/// What a row is computed in. Results are rounded to double either way.
enum class Arithmetic { Double, Extended };

/// The result of one row. Beyond the length of its sequence x and y are zeros,
/// the norm is 0 and the indices are -1.
struct Row {
  RowId id;
  std::vector<double> x; ///< [S], before the normalisation
  std::vector<double> y; ///< [S]
  double norm = 0;       ///< ||x||
  /// The chosen key of each copying channel, in channel order: a position in
  /// the sequence. Equal z go to the lowest position.
  std::vector<int64_t> indices;
  double lse = 0;    ///< log sum_j exp(z_ij) = m + log l
  double logSum = 0; ///< log l
  /// z_ij of the visible keys, and z_ij - m, which has more digits near m.
  /// forward() drops both, forEachRow() shows them.
  std::vector<double> scores, shifted;
  /// min(1, S / 1e-8) of each channel, in channel order; 1 of those that do not
  /// decay.
  std::vector<double> floors;
};

/// What is added to the score of a key, by its row and position.
using ScoreShift = std::function<double(RowId row, int64_t key)>;

/// Writes the key that another side chose for each copying channel of a row.
using KeyChoice = std::function<void(RowId row, int64_t *indices)>;

/// Every row of the problem, in order.
std::vector<RowId> allRows(const Problem &problem);

/// What is wrong with the problem or with `rows`, if anything.
[[nodiscard]] Error validate(const Problem &problem,
                             const std::vector<RowId> &rows);

/// Called with each row as it is finished, from the worker threads, in no
/// fixed order: `worker` is 0 .. threads - 1, and no two calls with the same
/// worker overlap. The row is only valid during the call.
using RowCallback = std::function<void(const Row &row, int worker)>;

/// Computes `rows` on `threads` workers. Values do not depend on `threads`.
/// Fails on what validate() refuses.
[[nodiscard]] Error forEachRow(const Problem &problem,
                               const std::vector<RowId> &rows, int threads,
                               const RowCallback &callback,
                               Arithmetic arithmetic = Arithmetic::Double);

/// The same with the results kept, in the order of `rows`.
[[nodiscard]] Error forward(const Problem &problem,
                            const std::vector<RowId> &rows, int threads,
                            std::vector<Row> &results,
                            Arithmetic arithmetic = Arithmetic::Double);

/// log of the weight that the antitop channel and the entropy stop at, 1e-10.
/// Real: double or long double.
template <typename Real = double> Real logSmallestWeight();

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ORACLE_H
