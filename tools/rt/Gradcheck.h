//===- Gradcheck.h - gradients against central differences ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The backward run of an attention against forward runs of the same attention:
// with f = sum dy y and a step h of 1e-5 times the coordinate (or its array's
// root mean square, where that is larger),
//
//   |gradient - d| <= 1e-6 max(1, |d|),   d = (f(x + h) - f(x - h)) / 2h
//
// No step leaves the domain, 2^-100 .. 1 of a decay base, or crosses the
// temperature's floor: there a difference is one-sided, of second order. From a
// small decay base steps of 1e-5 down to 1e-11 are tried too, as they show a
// slope that a part of its own size is too little for. A coordinate is skipped,
// and counted, where a step changes a chosen key, or where the slopes to both
// sides still differ with a tenth of the step: there is a kink.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_GRADCHECK_H
#define RAYTENTION_TOOLS_RT_GRADCHECK_H

#include "tools/rt/Result.h"

namespace raytention::tool {

/// The verdict on one gradient.
struct GradcheckItem {
  std::string name;     ///< "dq", "dtable", "dtau" or "dgammas"
  double err = 0;       ///< max |gradient - d| / max(1, |d|)
  double tol = 1e-6;    ///< what it may be
  int64_t compared = 0; ///< coordinates
  int64_t skipped = 0;  ///< not compared, because of a kink
  int64_t total = 0;    ///< coordinates of the input
  bool passed = true;
  std::string where; ///< the first coordinate that failed: "[0, 3, 1]"
};

struct GradcheckOutcome {
  bool passed = true;
  /// Queries and rows of the table that some query sees: at most 64
  /// coordinates of each, drawn from the seed; tau and gammas: all.
  std::vector<GradcheckItem> items;
};

/// Steps through `inputs`, which are as before afterwards. Needs F64 and the
/// gradients in `result`.
llvm::Expected<GradcheckOutcome> gradcheck(Attention &attention,
                                           RunInputs &inputs,
                                           const RunResult &result,
                                           uint64_t seed, int threads);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_GRADCHECK_H
