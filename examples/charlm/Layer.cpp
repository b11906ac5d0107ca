//===- Layer.cpp - attention, projection and perceptron -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Layer.h"

#include "examples/charlm/Blocks.h"

namespace raytention::charlm {

template <typename Real>
static auto part(Matrix<Real> &all, const Shards::Range &rows) {
  return all.middleRows(rows.begin, rows.size);
}
template <typename Real>
static auto part(const Matrix<Real> &all, const Shards::Range &rows) {
  return all.middleRows(rows.begin, rows.size);
}

template <typename Real>
void Layer<Real>::resize(int64_t rows, int64_t dModel) {
  input.resize(rows, dModel);
  queries.resize(rows, dModel);
  middle.resize(rows, dModel);
  active.resize(rows, slots.in.cols);
  dSignals.resize(rows, slots.project.rows);
}

template <typename Real>
void Layer<Real>::formQueries(const Real *parameters, Shards::Range rows) {
  Matrix<Real> normal;
  normalizeRows(part(input, rows), normal);
  part(queries, rows).noalias() = normal * view(parameters, slots.query);
}

template <typename Real>
void Layer<Real>::finish(const Real *parameters, Shards::Range rows,
                         Matrix<Real> &out) {
  auto m = part(middle, rows), a = part(active, rows), o = part(out, rows);
  affine(signalScale() * part(attended.signals, rows),
         view(parameters, slots.project), view(parameters, slots.projectBias),
         m);
  m += part(input, rows);
  Matrix<Real> normal;
  normalizeRows(m, normal);
  affine(normal, view(parameters, slots.in), view(parameters, slots.inBias), a);
  a = a.cwiseMax(Real(0));
  affine(a, view(parameters, slots.out), view(parameters, slots.outBias), o);
  o += m;
}

template <typename Real>
void Layer<Real>::finishBackward(const Real *parameters, Shards::Range rows,
                                 Matrix<Real> &dState, Real *gradient) {
  auto m = part(middle, rows), a = part(active, rows), d = part(dState, rows);
  affineBackward(a, d, view(gradient, slots.out),
                 view(gradient, slots.outBias));
  Matrix<Real> dActive = d * view(parameters, slots.out).transpose();
  dActive = (a.array() > Real(0)).select(dActive, Real(0));
  Matrix<Real> normal;
  normalizeRows(m, normal);
  affineBackward(normal, dActive, view(gradient, slots.in),
                 view(gradient, slots.inBias));
  normal.noalias() = dActive * view(parameters, slots.in).transpose();
  normalizeRowsBackward(m, normal, d);

  affineBackward(signalScale() * part(attended.signals, rows), d,
                 view(gradient, slots.project),
                 view(gradient, slots.projectBias));
  part(dSignals, rows).noalias() =
      signalScale() * d * view(parameters, slots.project).transpose();
}

template <typename Real>
void Layer<Real>::formQueriesBackward(const Real *parameters,
                                      Shards::Range rows,
                                      const Matrix<Real> &dQueries,
                                      Matrix<Real> &dState, Real *gradient) {
  auto x = part(input, rows);
  auto dq = part(dQueries, rows);
  Matrix<Real> normal;
  normalizeRows(x, normal);
  view(gradient, slots.query).noalias() += normal.transpose() * dq;
  normal.noalias() = dq * view(parameters, slots.query).transpose();
  normalizeRowsBackward(x, normal, part(dState, rows));
}

template class Layer<float>;
template class Layer<double>;

} // namespace raytention::charlm
