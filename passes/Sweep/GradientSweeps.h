//===- GradientSweeps.h - rt.attend_grad as sweeps -----------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_SWEEP_GRADIENTSWEEPS_H
#define RAYTENTION_PASSES_SWEEP_GRADIENTSWEEPS_H

#include "dialect/RayTention/RayTention.h"

namespace mlir {
class RewriterBase;
}

namespace raytention {

/// Replaces a gradient by a sweep over the keys for queries and parameters, a
/// sweep over the queries for the keys, and their finishes.
void sweepGradient(mlir::RewriterBase &rewriter, AttendGradOp op);

} // namespace raytention

#endif // RAYTENTION_PASSES_SWEEP_GRADIENTSWEEPS_H
