//===- Check.h - a run against the oracle -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_CHECK_H
#define RAYTENTION_TOOLS_RT_CHECK_H

#include "tools/oracle/Check.h"
#include "tools/rt/Backward.h"

namespace raytention::tool {

/// The oracle's verdict and how much it looked at.
struct CheckOutcome {
  oracle::CheckReport report;
  int64_t totalRows = 0;
  bool sampled = false;   ///< not every row was compared
  bool gradients = false; ///< they were compared too
};

/// Whether the oracle knows what `spec` asks for; told before anything runs.
llvm::Error checkable(const AttentionSpec &spec);

struct CheckSettings {
  uint64_t seed = 0;
  int64_t queryTile = 32;
  int threads = 0;
};

/// Compares x, and the gradients if there are any, with the oracle, fed the
/// inputs as the compiled code got them. Where T^2 D > 1e12: 256 rows drawn
/// from the seed, the first, the last and those at the edges of query tiles;
/// and gradients of a dy that is zero in all other rows, for which `attention`
/// runs once more.
llvm::Expected<CheckOutcome> checkResult(Attention &attention,
                                         const RunInputs &inputs,
                                         const RunResult &result,
                                         const CheckSettings &settings);

/// The query tile of a schedule's text ("query_tile = 32"); 32 if it has none.
int64_t queryTileOf(llvm::StringRef schedule);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_CHECK_H
