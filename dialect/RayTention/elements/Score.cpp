//===- Score.cpp - distances to scores -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/Score.h"

#include <limits>

using namespace mlir;
using namespace raytention;

ParameterValues raytention::makeParameters(ElementBuilder &b, Value tau,
                                           ValueRange gammas) {
  ParameterValues params;
  params.tau = tau;
  params.temperature = b.max(tau, b.constant(kTauFloor));
  Value large = b.constant(b.isDouble() ? 0x1p512 : 0x1p64);
  params.scoreUnit =
      b.select(b.greater(params.temperature, large),
               b.constant(b.isDouble() ? 0x1p-512 : 0x1p-64), b.constant(1));
  params.scoreScale =
      b.div(b.constant(-1), b.mul(params.temperature, params.scoreUnit));
  for (Value gamma : gammas) {
    params.gammas.push_back(gamma);
    params.logGammas.push_back(b.log(gamma));
  }
  return params;
}

Value raytention::getScore(ElementBuilder &b, Value distance,
                           const ParameterValues &params) {
  return b.mul(b.mul(distance, params.scoreUnit), params.scoreScale);
}

Value raytention::maskScore(ElementBuilder &b, Value visible, Value score) {
  return b.select(visible, score,
                  b.constant(-std::numeric_limits<double>::infinity()));
}
