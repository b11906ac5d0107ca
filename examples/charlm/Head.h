//===- Head.h - the tied output layer and its loss --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_HEAD_H
#define RAYTENTION_EXAMPLES_CHARLM_HEAD_H

#include "examples/charlm/Blocks.h"
#include "examples/charlm/Parameters.h"

#include "llvm/ADT/ArrayRef.h"

namespace raytention::charlm {

/// `(n(h) * gain) table^T + bias` of some rows h.
template <typename Real>
Matrix<Real> headLogits(const Real *parameters, const Layout &layout,
                        const typename Blocks<Real>::Read &state) {
  Matrix<Real> scaled;
  Blocks<Real>::normalizeRows(state, scaled);
  scaled.array().rowwise() *= view(parameters, layout.headGain).row(0).array();
  auto table = view(parameters, layout.table);
  Matrix<Real> logits(state.rows(), table.rows());
  Blocks<Real>::timesTransposed(1, scaled, table, logits);
  logits.rowwise() += view(parameters, layout.headBias).row(0);
  return logits;
}

/// Turns each row of logits into the gradient of its loss, softmax minus the
/// target's indicator; returns the sum of the losses in nats.
template <typename Real>
double crossEntropy(Matrix<Real> &logits, llvm::ArrayRef<int32_t> targets) {
  double sum = 0;
  for (int64_t i = 0; i < logits.rows(); ++i) {
    auto row = logits.row(i);
    row.array() -= row.maxCoeff();
    int32_t target = targets[size_t(i)];
    Real own = row(target);
    row = row.array().exp();
    Real total = row.sum();
    sum += std::log(double(total)) - double(own);
    row /= total;
    row(target) -= 1;
  }
  return sum;
}

/// Writes the gradient of the rows; adds those of the parameters.
template <typename Real>
void headBackward(const Real *parameters, const Layout &layout,
                  const typename Blocks<Real>::Read &state,
                  const Matrix<Real> &dLogits,
                  typename Blocks<Real>::Write dState, Real *gradient) {
  auto gain = view(parameters, layout.headGain).row(0).array();
  Matrix<Real> normal, scaled;
  Blocks<Real>::normalizeRows(state, normal);
  scaled = normal.array().rowwise() * gain;
  Blocks<Real>::addTransposed(1, dLogits, scaled, view(gradient, layout.table));
  view(gradient, layout.headBias) += dLogits.colwise().sum();
  Matrix<Real> dScaled = Matrix<Real>::Zero(state.rows(), state.cols());
  Blocks<Real>::addProduct(1, dLogits, view(parameters, layout.table), dScaled);
  view(gradient, layout.headGain) +=
      dScaled.cwiseProduct(normal).colwise().sum();
  dScaled.array().rowwise() *= gain;
  dState.setZero();
  Blocks<Real>::normalizeRowsBackward(state, dScaled, dState);
}

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_HEAD_H
