//===- Parameters.cpp - what the model learns, in one array ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Parameters.h"

#include "examples/charlm/Random.h"

#include <cmath>

namespace raytention::charlm {

Slot Layout::add(int64_t rows, int64_t cols) {
  Slot slot{size, rows, cols};
  size += slot.size();
  return slot;
}

Layout::Layout(const ModelShape &shape) {
  int64_t d = shape.dModel, h = shape.hidden;
  table = add(shape.vocab, d);
  headGain = add(1, d);
  headBias = add(1, shape.vocab);
  for (int64_t i = 0; i < shape.layers; ++i) {
    Layer layer;
    layer.query = add(d, d);
    layer.project = add(shape.signals, d);
    layer.projectBias = add(1, d);
    layer.in = add(d, h);
    layer.inBias = add(1, h);
    layer.out = add(h, d);
    layer.outBias = add(1, d);
    layer.tau = add(1, 1);
    layer.gammas = add(1, int64_t(shape.gammas.size()));
    layers.push_back(layer);
  }
}

template <typename Real>
static void fillNormal(View<Real> out, double deviation, Random &random) {
  for (int64_t i = 0; i < out.size(); ++i)
    out.data()[i] = Real(deviation * random.normal());
}

/// Each block starts as a small addition to the state, logits start small; a
/// query starts as the state itself, scaled to the size of a key.
template <typename Real>
Vector<Real> initialParameters(const ModelShape &shape, const Layout &layout,
                               uint64_t seed) {
  constexpr double blockScale = 0.5, logitScale = 0.5;
  Vector<Real> all = Vector<Real>::Zero(layout.size);
  Random random(seed);
  fillNormal(view(all.data(), layout.table), shape.tableScale, random);
  view(all.data(), layout.headGain)
      .setConstant(Real(logitScale / shape.tableScale /
                        std::sqrt(double(shape.dModel))));
  for (const Layout::Layer &layer : layout.layers) {
    view(all.data(), layer.query).setIdentity();
    view(all.data(), layer.query) *= Real(shape.tableScale);
    for (auto [slot, scale] :
         {std::pair(layer.project, blockScale), std::pair(layer.in, 1.0),
          std::pair(layer.out, blockScale)})
      fillNormal(view(all.data(), slot), scale / std::sqrt(double(slot.rows)),
                 random);
    view(all.data(), layer.tau)(0) = Real(std::log(std::expm1(shape.tau)));
    for (size_t i = 0; i < shape.gammas.size(); ++i)
      view(all.data(), layer.gammas)(int64_t(i)) =
          Real(std::log(shape.gammas[i] / (1 - shape.gammas[i])));
  }
  return all;
}

template <typename Real>
Scales scalesOf(const Real *parameters, const Layout::Layer &layer) {
  auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  Scales scales;
  double raw = view(parameters, layer.tau)(0);
  scales.tau = raw > 30 ? raw : std::log1p(std::exp(raw));
  scales.dTau = logistic(raw);
  for (int64_t i = 0; i < layer.gammas.cols; ++i) {
    double gamma = logistic(view(parameters, layer.gammas)(i));
    scales.gammas.push_back(gamma);
    scales.dGammas.push_back(gamma * (1 - gamma));
  }
  return scales;
}

template Vector<float> initialParameters(const ModelShape &, const Layout &,
                                         uint64_t);
template Vector<double> initialParameters(const ModelShape &, const Layout &,
                                          uint64_t);
template Scales scalesOf(const float *, const Layout::Layer &);
template Scales scalesOf(const double *, const Layout::Layer &);

} // namespace raytention::charlm
