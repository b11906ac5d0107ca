//===- Matrix.h - dense matrices of the example -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_MATRIX_H
#define RAYTENTION_EXAMPLES_CHARLM_MATRIX_H

#include <Eigen/Core>

#include <cstdint>

namespace raytention::charlm {

/// C order, as the attention wants its operands.
template <typename Real>
using Matrix =
    Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
/// All parameters, gradients or moments. Eigen aligns its own storage, and may
/// round elements outside whole aligned vectors differently: in a std::vector
/// the bits of a sum would depend on where it happens to lie.
template <typename Real> using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
template <typename Real> using View = Eigen::Map<Matrix<Real>>;
template <typename Real> using ConstView = Eigen::Map<const Matrix<Real>>;

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_MATRIX_H
