//===- SoftmaxGradient.h - the softmax's own derivative ------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_SOFTMAXGRADIENT_H
#define RAYTENTION_DIALECT_SOFTMAXGRADIENT_H

#include "dialect/RayTention/Channel.h"

namespace raytention {

/// `dz = w (dw - sum_k w_k dw_k)`, from `balanced`, the part of `w dw` whose
/// share of the sum is subtracted already, the other dw (null: 0), and the
/// rest of the sum.
mlir::Value getScoreGradient(ElementBuilder &b, mlir::Value balanced,
                             mlir::Value weight, mlir::Value weightGradient,
                             mlir::Value weightSum);

/// `ddist = scale dz` of `z = scale dist`, scale = -1 / t.
mlir::Value getDistanceGradient(ElementBuilder &b, mlir::Value scoreGradient,
                                mlir::Value scale);

/// What a pair adds to the temperature's sum `sum dz dist`. As the softmax's
/// dz sums to 0, its distance counts from `reference`, the row's nearest.
mlir::Value addTemperature(ElementBuilder &b, mlir::Value scoreGradient,
                           mlir::Value directGradient, mlir::Value distance,
                           mlir::Value reference, mlir::Value sum);

/// `dtau = sum / t^2`, 0 for tau under its floor.
mlir::Value finishTemperature(ElementBuilder &b, mlir::Value sum,
                              const ParameterValues &params);

} // namespace raytention

#endif // RAYTENTION_DIALECT_SOFTMAXGRADIENT_H
