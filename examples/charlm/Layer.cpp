//===- Layer.cpp - attention, projection and perceptron -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Layer.h"

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
  auto q = part(queries, rows);
  Matrix<Real> normal;
  Dense::normalizeRows(part(input, rows), normal);
  q.setZero();
  Dense::addProduct(1, normal, view(parameters, slots.query), q);
}

template <typename Real>
void Layer<Real>::finish(const Real *parameters, Shards::Range rows,
                         Matrix<Real> &out) {
  auto m = part(middle, rows), a = part(active, rows), o = part(out, rows);
  Dense::affine(signalScale(), part(attended.signals, rows),
                view(parameters, slots.project),
                view(parameters, slots.projectBias), m);
  m += part(input, rows);
  Matrix<Real> normal;
  Dense::normalizeRows(m, normal);
  Dense::affine(1, normal, view(parameters, slots.in),
                view(parameters, slots.inBias), a);
  a = a.cwiseMax(Real(0));
  Dense::affine(1, a, view(parameters, slots.out),
                view(parameters, slots.outBias), o);
  o += m;
}

template <typename Real>
void Layer<Real>::finishBackward(const Real *parameters, Shards::Range rows,
                                 Matrix<Real> &dState, Real *gradient) {
  auto m = part(middle, rows), a = part(active, rows), d = part(dState, rows);
  Dense::affineBackward(1, a, d, view(gradient, slots.out),
                        view(gradient, slots.outBias));
  Matrix<Real> dActive(a.rows(), a.cols());
  Dense::timesTransposed(1, d, view(parameters, slots.out), dActive);
  dActive = (a.array() > Real(0)).select(dActive, Real(0));
  Matrix<Real> normal;
  Dense::normalizeRows(m, normal);
  Dense::affineBackward(1, normal, dActive, view(gradient, slots.in),
                        view(gradient, slots.inBias));
  Dense::timesTransposed(1, dActive, view(parameters, slots.in), normal);
  Dense::normalizeRowsBackward(m, normal, d);

  Dense::affineBackward(signalScale(), part(attended.signals, rows), d,
                        view(gradient, slots.project),
                        view(gradient, slots.projectBias));
  Dense::timesTransposed(signalScale(), d, view(parameters, slots.project),
                         part(dSignals, rows));
}

template <typename Real>
void Layer<Real>::formQueriesBackward(const Real *parameters,
                                      Shards::Range rows,
                                      const Matrix<Real> &dQueries,
                                      Matrix<Real> &dState, Real *gradient) {
  auto x = part(input, rows);
  auto dq = part(dQueries, rows);
  Matrix<Real> normal;
  Dense::normalizeRows(x, normal);
  Dense::addTransposed(1, normal, dq, view(gradient, slots.query));
  Dense::timesTransposed(1, dq, view(parameters, slots.query), normal);
  Dense::normalizeRowsBackward(x, normal, part(dState, rows));
}

template class Layer<float>;
template class Layer<double>;

} // namespace raytention::charlm
