//===- Blocks.h - the dense parts of a layer and their derivatives s   *- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function works on the rows that it is given. Gradients of parameters
// are added to what is there.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_BLOCKS_H
#define RAYTENTION_EXAMPLES_CHARLM_BLOCKS_H

#include "examples/charlm/Matrix.h"

namespace raytention::charlm {

/// Rows scaled to root mean square 1: `y = x r`, `r = (mean x^2 + e)^(-1/2)`.
template <typename In, typename Out> void normalizeRows(const In &x, Out &&y) {
  using Real = typename In::Scalar;
  constexpr Real tiny = Real(1e-6);
  auto squares = x.rowwise().squaredNorm().array() / Real(x.cols());
  y = x.array().colwise() * (squares + tiny).rsqrt();
}

/// `dx += r (dy - y mean(y . dy))`, with r from the unscaled rows.
template <typename In, typename Grad, typename Out>
void normalizeRowsBackward(const In &x, const Grad &dy, Out &&dx) {
  using Real = typename In::Scalar;
  constexpr Real tiny = Real(1e-6);
  for (int64_t i = 0; i < x.rows(); ++i) {
    Real width = Real(x.cols());
    Real r = 1 / std::sqrt(x.row(i).squaredNorm() / width + tiny);
    Real along = x.row(i).dot(dy.row(i)) * r * r / width;
    dx.row(i) += r * (dy.row(i) - along * x.row(i));
  }
}

/// `y = x W + b`.
template <typename In, typename Weight, typename Bias, typename Out>
void affine(const In &x, const Weight &w, const Bias &b, Out &&y) {
  y.noalias() = x * w;
  y.rowwise() += b.row(0);
}

/// Gradients of W and b.
template <typename In, typename Grad, typename Weight, typename Bias>
void affineBackward(const In &x, const Grad &dy, Weight &&dw, Bias &&db) {
  dw.noalias() += x.transpose() * dy;
  db += dy.colwise().sum();
}

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_BLOCKS_H
