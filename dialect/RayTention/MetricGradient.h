//===- MetricGradient.h - a distance's own derivative --------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_METRICGRADIENT_H
#define RAYTENTION_DIALECT_METRICGRADIENT_H

#include "dialect/RayTention/Channel.h"

namespace raytention {

/// `c` with which a pair's derivative is `c (k - q)` by the query and
/// `c (q - k)` by the key: `-2 ddist` for sq_l2, `-ddist / dist` for l2, 0
/// where a distance is 0.
mlir::Value getDistanceCoefficient(ElementBuilder &b, Metric metric,
                                   mlir::Value distanceGradient,
                                   mlir::Value distance);

/// Whether derivatives that sum to 0 over the keys make coefficients that do.
bool keepsBalance(Metric metric);

} // namespace raytention

#endif // RAYTENTION_DIALECT_METRICGRADIENT_H
