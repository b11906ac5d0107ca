//===- Gradient.h - the float64 gradient ------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of sum dy * y as plain loops, as in Oracle.h. With x the
// channels, y = x / max(||x||, 1e-10) and G_c the slice of dx for channel c:
//
//   dx = (dy - y (y . dy)) / ||x||,  dy / 1e-10 where ||x|| <= 1e-10
//
// each weighted channel (centroid, decay) is value = sum_j v_ij k_j, with
// v = a / max(S, 1e-8), and u = [S >= 1e-8] (1 for the centroid):
//
//   h_ij = G . k_j - u G . value      w_ij dw_ij += v_ij h_ij
//   dk_j += v_ij G                    dgamma += sum_j v_ij h_ij p_ij / gamma
//
//   copies       dk_[index] += G
//   spread       dw_ij += G tau dist_ij      ddist_ij += G tau w_ij
//                dtau += G sum_j w_ij dist_ij
//   entropy      dw_ij -= G (log max(w_ij, 1e-10) + [w_ij >= 1e-10])
//   moment:K     dw_ij += G dist_ij^K        ddist_ij += G w_ij K dist_ij^(K-1)
//   max_score    dz_im += G, m the lowest position of the largest z_ij
//   softmax      dz_ij += w_ij (dw_ij - sum_k w_ik dw_ik)
//   temperature  dtau += sum_j dz_ij (dist_ij - min_j dist_ij) / t^2 if
//                tau >= 0.01, and all of dz_im dist_im / t^2 for max_score
//                ddist_ij -= dz_ij / t
//   distance     f_ij = 2 ddist_ij (sq_l2), ddist_ij / dist_ij (l2; 0 at 0)
//                dq_i = sum_j f_ij (q_i - k_j)    dk_j -= f_ij (q_i - k_j)
//                sum_j f_ij (sq_l2) = 2 (G_spread tau - G_max_score / t
//                + G_moment sum_j w_ij K dist_ij^(K-1))
//   lookup       dtable[v] = sum over j with ids_j = v of dk_j
//
// With every element comes its sensitivity s: if each score z_ij is off by at
// most e, the element is off by at most e s, to first order in e. It is the
// sum, over rows and pairs, of the absolute values of terms before they cancel,
// each times what e does to it:
//
//   w, v    relative 2 (1 - w): their own score, and the sum they are divided
//           by, which cancels in part
//   h       by the changes of G, and of the value: sum_j v_ij |h_ij|
//   G       through y and ||x||: each score moves x by some d_j, and G by
//           A d_j + B_j y + C_j G with A = -(y . dy) / ||x||^2,
//           B_j = ((y . dy) (y . d_j) / ||x|| - G . d_j) / ||x||,
//           C_j = -(y . d_j) / ||x||; |B_j| and |C_j| are summed over j, and
//           for a scalar channel |A d_j + B_j y + C_j G|
//   dist    t, because z = -dist / t; none where l2 recomputes it
//   log w   2 (1 - w)
//
// Where changes are known to sum to zero over a row's keys (of dz_ij; of v_ij
// h_ij), what they are multiplied by counts from its mean: without that, s of
// dtau is some hundred times the worst case and would excuse anything.
//
// Where all terms cancel, as in a row of one key, rounding is left. Therefore
// each element also comes with the sum of its absolute terms as they stand
// above, |G . k_j| + u |G . value| for |h|: a few roundings of each may remain.
//
// All this is of first order in e. Where the norm itself may be off by half, it
// says nothing: such a row's elements are infinitely sensitive.
//
// Where several keys have the largest score within e, max_score may hand its
// gradient to any of them. Weights below the smallest normal number may count
// as 0. `open` is what these two may change of an element.
//
// Other chosen indices, and which side of a kink a row is on, are taken as
// given.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_GRADIENT_H
#define RAYTENTION_TOOLS_ORACLE_GRADIENT_H

#include "tools/oracle/Oracle.h"

namespace raytention {
namespace oracle {

/// The gradient of one input and, for each element, its sensitivity, the sum of
/// its absolute terms, and what equal scores and flushed weights leave open.
/// Each of these is infinite where double does not hold it.
struct GradientPart {
  std::vector<double> values, sensitivity, terms, open;

  void resize(size_t size) {
    values.assign(size, 0.0);
    sensitivity.assign(size, 0.0);
    terms.assign(size, 0.0);
    open.assign(size, 0.0);
  }
};

struct Gradients {
  GradientPart queries; ///< [B, Tq, D]
  GradientPart table;   ///< [V, D]
  GradientPart tau;     ///< [1]
  GradientPart gammas;  ///< [gammas.size()]
};

/// Writes dy of one row, [S]. Called from several threads.
using SignalGradient = std::function<void(RowId id, double *dy)>;

struct BackwardOptions {
  int threads = 0; ///< 0: one per core
  /// Of the values; what bounds an error is double.
  Arithmetic arithmetic = Arithmetic::Double;
  /// Makes scores wrong, to see what that does to a gradient.
  ScoreShift scoreShift;
  /// Where not empty: keys to take for copies instead, if scores that are off
  /// by less than `scoreError` could choose them; see check().
  KeyChoice choice;
  double scoreError = 0;
  /// Weights below this may count as 0: the smallest normal number of a path.
  double smallestWeight = 0;
  /// Called after each finished row, from several threads.
  std::function<void()> progress;
};

/// The gradient with dy as given in `rows`, each at most once, and zero in all
/// others. Values do not depend on `threads`. Holds the result, and O(T + S)
/// for each of a few rows at a time. Fails on what validate() refuses.
[[nodiscard]] Error backward(const Problem &problem,
                             const std::vector<RowId> &rows,
                             const SignalGradient &dSignals,
                             const BackwardOptions &options,
                             Gradients &gradients);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_GRADIENT_H
