//===- Adam.h - the optimiser -----------------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_ADAM_H
#define RAYTENTION_EXAMPLES_CHARLM_ADAM_H

#include "examples/charlm/Matrix.h"

namespace raytention::charlm {

/// Adam with bias correction; a gradient longer than `maxNorm` is scaled down
/// to it first.
class Adam {
public:
  struct Options {
    double beta1 = 0.9, beta2 = 0.99, epsilon = 1e-8, maxNorm = 1;
  };
  Adam(int64_t size, Options options)
      : options(options), first(Vector<float>::Zero(size)),
        second(Vector<float>::Zero(size)) {}

  /// One step of `rate`; returns the gradient's length.
  double step(Vector<float> &parameters, const Vector<float> &gradient,
              double rate);

private:
  Options options;
  Vector<float> first, second; ///< moments
  int64_t steps = 0;
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_ADAM_H
