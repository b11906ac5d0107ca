//===- Adam.cpp - the optimiser -------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Adam.h"

#include <algorithm>
#include <cmath>

namespace raytention::charlm {

double Adam::step(Vector<float> &parameters, const Vector<float> &gradient,
                  double rate) {
  double squares = 0;
  for (float g : gradient)
    squares += double(g) * g;
  double norm = std::sqrt(squares);
  float shrink = float(std::min(1.0, options.maxNorm / (norm + 1e-12)));
  ++steps;
  double seen1 = 1 - std::pow(options.beta1, double(steps));
  double seen2 = 1 - std::pow(options.beta2, double(steps));
  float keep1 = float(options.beta1), keep2 = float(options.beta2);
  float scale2 = float(1 / seen2), size = float(rate / seen1);
  float epsilon = float(options.epsilon);
  for (int64_t i = 0; i < parameters.size(); ++i) {
    float g = shrink * gradient[i];
    first[i] = keep1 * first[i] + (1 - keep1) * g;
    second[i] = keep2 * second[i] + (1 - keep2) * g * g;
    parameters[i] -=
        size * first[i] / (std::sqrt(second[i] * scale2) + epsilon);
  }
  return norm;
}

} // namespace raytention::charlm
