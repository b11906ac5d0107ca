//===- Score.h - distances to scores -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_SCORE_H
#define RAYTENTION_DIALECT_ELEMENTS_SCORE_H

#include "dialect/RayTention/Channel.h"

namespace raytention {

/// What tau and the gammas give to all pairs; scalars, or in every lane.
ParameterValues makeParameters(ElementBuilder &b, mlir::Value tau,
                               mlir::ValueRange gammas);

/// `z = -dist / t`, as two products: -1 / t alone would be subnormal, and
/// flushed, where t is large.
mlir::Value getScore(ElementBuilder &b, mlir::Value distance,
                     const ParameterValues &params);

/// The score of a pair that is seen, else minus infinity.
mlir::Value maskScore(ElementBuilder &b, mlir::Value visible,
                      mlir::Value score);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_SCORE_H
