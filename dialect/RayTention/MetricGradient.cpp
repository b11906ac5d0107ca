//===- MetricGradient.cpp - a distance's own derivative ------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/MetricGradient.h"

using namespace mlir;
using namespace raytention;

Value raytention::getDistanceCoefficient(ElementBuilder &b, Metric metric,
                                         Value distanceGradient,
                                         Value distance) {
  if (metric == Metric::SqL2)
    return b.mul(distanceGradient, b.constant(-2));
  Value zero = b.constant(0), isApart = b.greater(distance, zero);
  Value divisor = b.select(isApart, b.sub(zero, distance), b.constant(1));
  return b.select(isApart, b.div(distanceGradient, divisor), zero);
}

bool raytention::keepsBalance(Metric metric) { return metric == Metric::SqL2; }
