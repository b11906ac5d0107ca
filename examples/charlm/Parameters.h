//===- Parameters.h - what the model learns, in one array -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_PARAMETERS_H
#define RAYTENTION_EXAMPLES_CHARLM_PARAMETERS_H

#include "examples/charlm/Matrix.h"

#include <string>
#include <vector>

namespace raytention::charlm {

/// Sizes of the model and where it starts from.
struct ModelShape {
  int64_t vocab = 0;
  int64_t dModel = 64;
  int64_t hidden = 256; ///< width of the perceptron
  int64_t layers = 2;
  std::vector<std::string> channels;
  int64_t signals = 0; ///< width of the channels together
  std::vector<double> gammas;
  double tau = 1;
  double tableScale = 0.3; ///< standard deviation of the table
};

/// One parameter matrix within the array of all.
struct Slot {
  int64_t offset = 0, rows = 0, cols = 0;
  int64_t size() const { return rows * cols; }
};

/// Where each parameter lies. Gradients and Adam's moments lie alike.
struct Layout {
  explicit Layout(const ModelShape &shape);

  struct Layer {
    Slot query;                ///< [D, D]: state to query
    Slot project, projectBias; ///< [S, D]: signals to state
    Slot in, inBias;           ///< [D, H]
    Slot out, outBias;         ///< [H, D]
    Slot tau;                  ///< softplus of it is the temperature
    Slot gammas;               ///< the logistic function gives the decays
  };

  Slot table; ///< [V, D]: lookup, keys of every layer, and the head
  Slot headGain, headBias;
  std::vector<Layer> layers;
  int64_t size = 0;

private:
  Slot add(int64_t rows, int64_t cols);
};

template <typename Real> View<Real> view(Real *all, const Slot &slot) {
  return {all + slot.offset, slot.rows, slot.cols};
}
template <typename Real>
ConstView<Real> view(const Real *all, const Slot &slot) {
  return {all + slot.offset, slot.rows, slot.cols};
}

/// The starting point that `seed` gives, the same for every Real.
template <typename Real>
Vector<Real> initialParameters(const ModelShape &shape, const Layout &layout,
                               uint64_t seed);

/// Temperature and decay bases of a layer, and their derivatives by the
/// unbounded numbers that are learned.
struct Scales {
  double tau = 1, dTau = 1;
  std::vector<double> gammas, dGammas;
};
template <typename Real>
Scales scalesOf(const Real *parameters, const Layout::Layer &layer);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_PARAMETERS_H
