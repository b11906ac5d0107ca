//===- Blocks.cpp - the dense parts of a layer ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Blocks.h"

#include <cmath>

namespace raytention::charlm {

template <typename Real>
void Blocks<Real>::addProduct(Real scale, const Read &x, const Read &w,
                              Write y) {
  y.noalias() += (scale * x) * w;
}

template <typename Real>
void Blocks<Real>::addTransposed(Real scale, const Read &x, const Read &z,
                                 Write y) {
  y.noalias() += (scale * x.transpose()) * z;
}

template <typename Real>
void Blocks<Real>::timesTransposed(Real scale, const Read &x, const Read &w,
                                   Write y) {
  y.setZero();
  y.noalias() += (scale * x) * w.transpose();
}

template <typename Real>
void Blocks<Real>::normalizeRows(const Read &x, Matrix<Real> &y) {
  constexpr Real tiny = Real(1e-6);
  auto squares = x.rowwise().squaredNorm().array() / Real(x.cols());
  y = x.array().colwise() * (squares + tiny).rsqrt();
}

template <typename Real>
void Blocks<Real>::normalizeRowsBackward(const Read &x, const Read &dy,
                                         Write dx) {
  constexpr Real tiny = Real(1e-6);
  for (int64_t i = 0; i < x.rows(); ++i) {
    Real width = Real(x.cols());
    Real r = 1 / std::sqrt(x.row(i).squaredNorm() / width + tiny);
    Real along = x.row(i).dot(dy.row(i)) * r * r / width;
    dx.row(i) += r * (dy.row(i) - along * x.row(i));
  }
}

template <typename Real>
void Blocks<Real>::affine(Real scale, const Read &x, const Read &w,
                          const Read &b, Write y) {
  y.setZero();
  addProduct(scale, x, w, y);
  y.rowwise() += b.row(0);
}

template <typename Real>
void Blocks<Real>::affineBackward(Real scale, const Read &x, const Read &dy,
                                  Write dw, Write db) {
  addTransposed(scale, x, dy, dw);
  db += dy.colwise().sum();
}

template struct Blocks<float>;
template struct Blocks<double>;

} // namespace raytention::charlm
