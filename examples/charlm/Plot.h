//===- Plot.h - the curve of a training as a picture ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_PLOT_H
#define RAYTENTION_EXAMPLES_CHARLM_PLOT_H

#include "examples/charlm/Train.h"

#include "llvm/Support/raw_ostream.h"

namespace raytention::charlm {

/// Writes an SVG: training and validation loss against steps, and the
/// baseline's loss as a level.
void plotCurve(llvm::ArrayRef<CurvePoint> curve, double baseline,
               llvm::raw_ostream &os);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_PLOT_H
