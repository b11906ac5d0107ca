//===- Layer.h - attention, projection and perceptron -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With n() for rows scaled to root mean square 1:
//
//   q = n(x) Wq              y = RayTention(q, table, ids; tau, gammas)
//   m = x + sqrt(S) y Wp + bp
//   out = m + relu(n(m) W1 + b1) W2 + b2
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_LAYER_H
#define RAYTENTION_EXAMPLES_CHARLM_LAYER_H

#include "examples/charlm/AttentionBlock.h"
#include "examples/charlm/Blocks.h"
#include "examples/charlm/Shards.h"

namespace raytention::charlm {

/// One layer around the attention: what stands before and after it. Works on
/// shards of rows; the attention itself takes all rows at once.
template <typename Real> class Layer {
public:
  explicit Layer(const Layout::Layer &slots) : slots(slots) {}

  /// Makes room for `rows` rows.
  void resize(int64_t rows, int64_t dModel);

  void formQueries(const Real *parameters, Shards::Range rows);
  void finish(const Real *parameters, Shards::Range rows, Matrix<Real> &out);

  /// `dState` comes as the gradient of `out` and becomes that of m; dSignals
  /// is written. Adds the gradients of parameters to `gradient`.
  void finishBackward(const Real *parameters, Shards::Range rows,
                      Matrix<Real> &dState, Real *gradient);
  /// `dState` becomes the gradient of x.
  void formQueriesBackward(const Real *parameters, Shards::Range rows,
                           const Matrix<Real> &dQueries, Matrix<Real> &dState,
                           Real *gradient);

  const Layout::Layer slots;
  Matrix<Real> input;   ///< x
  Matrix<Real> queries; ///< q
  Signals<Real> attended;
  Matrix<Real> dSignals;

private:
  using Dense = Blocks<Real>;

  /// A normalised row is short: this brings its elements to about 1.
  Real signalScale() const { return std::sqrt(Real(slots.project.rows)); }

  Matrix<Real> middle; ///< m
  Matrix<Real> active; ///< relu(...)
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_LAYER_H
