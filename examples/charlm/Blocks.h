//===- Blocks.h - the dense parts of a layer and gradients --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function works on the rows that it is given. Gradients of parameters
// are added to what is there. They are compiled once, in Blocks.cpp: each form
// of Eigen's products takes seconds.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_BLOCKS_H
#define RAYTENTION_EXAMPLES_CHARLM_BLOCKS_H

#include "examples/charlm/Matrix.h"

namespace raytention::charlm {

template <typename Real> struct Blocks {
  /// Whole rows of a matrix, or parameters.
  using Read = Eigen::Ref<const Matrix<Real>>;
  using Write = Eigen::Ref<Matrix<Real>>;

  /// `y += x w`, all times `scale` here and below.
  static void addProduct(Real scale, const Read &x, const Read &w, Write y);
  /// `y += x^T z`.
  static void addTransposed(Real scale, const Read &x, const Read &z, Write y);
  /// `y = x w^T`.
  static void timesTransposed(Real scale, const Read &x, const Read &w,
                              Write y);

  /// Rows scaled to root mean square 1: `y = x r`,
  /// `r = (mean x^2 + e)^(-1/2)`.
  static void normalizeRows(const Read &x, Matrix<Real> &y);
  /// `dx += r (dy - y mean(y . dy))`, with r from the unscaled rows.
  static void normalizeRowsBackward(const Read &x, const Read &dy, Write dx);

  /// `y = scale x W + b`.
  static void affine(Real scale, const Read &x, const Read &w, const Read &b,
                     Write y);
  /// Gradients of W and b.
  static void affineBackward(Real scale, const Read &x, const Read &dy,
                             Write dw, Write db);
};

extern template struct Blocks<float>;
extern template struct Blocks<double>;

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_BLOCKS_H
