//===- Backward.h - gradients of a run --------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_BACKWARD_H
#define RAYTENTION_TOOLS_RT_BACKWARD_H

#include "tools/rt/Result.h"

namespace raytention::tool {

/// Runs backward from `dSignals` and what the forward run left in `result`.
llvm::Expected<RunReport> runBackward(Attention &attention,
                                      const RunInputs &inputs,
                                      const RunResult &result,
                                      const Buffer &dSignals, int threads,
                                      GradientResult &gradients);

/// Fills `result.gradients`, running `repeat` times. Memory is measured over
/// the first run; the time is the median of all. An element that is not finite
/// is an error that names its gradient (exit code 1).
llvm::Error runBackwardRepeatedly(Attention &attention, const RunInputs &inputs,
                                  int64_t repeat, int threads,
                                  RunResult &result);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_BACKWARD_H
