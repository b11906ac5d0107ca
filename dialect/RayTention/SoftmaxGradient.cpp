//===- SoftmaxGradient.cpp - the softmax's own derivative ----------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/SoftmaxGradient.h"

using namespace mlir;
using namespace raytention;

Value raytention::getScoreGradient(ElementBuilder &b, Value balanced,
                                   Value weight, Value weightGradient,
                                   Value weightSum) {
  Value rest = weightGradient ? b.sub(weightGradient, weightSum)
                              : b.sub(b.constant(0), weightSum);
  return b.fma(weight, rest, balanced);
}

Value raytention::getDistanceGradient(ElementBuilder &b, Value scoreGradient,
                                      Value scale) {
  return b.mul(scoreGradient, scale);
}

Value raytention::addTemperature(ElementBuilder &b, Value scoreGradient,
                                 Value directGradient, Value distance,
                                 Value reference, Value sum) {
  sum = b.fma(scoreGradient, b.sub(distance, reference), sum);
  return directGradient ? b.fma(directGradient, distance, sum) : sum;
}

Value raytention::finishTemperature(ElementBuilder &b, Value sum,
                                    const ParameterValues &params) {
  Value scaled = b.div(b.div(sum, params.temperature), params.temperature);
  Value isFloored = b.less(params.tau, b.constant(kTauFloor));
  return b.select(isFloored, b.constant(0), scaled);
}
