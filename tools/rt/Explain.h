//===- Explain.h - what a position attends to, in words ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_EXPLAIN_H
#define RAYTENTION_TOOLS_RT_EXPLAIN_H

#include "tools/rt/Result.h"

#include "llvm/Support/JSON.h"

namespace raytention::tool {

/// A token, with its text where the ids came from one.
struct ExplainedToken {
  int64_t id = -1; ///< -1: there is none
  std::optional<std::string> text;
};

/// What one channel says of a row.
struct ExplainedKey {
  std::string channel;             ///< "top:1"
  std::optional<int64_t> position; ///< nothing: the channel is not computed
  ExplainedToken token;
};

/// One row, from the compiled result.
struct Explanation {
  ExplainRow row;
  ExplainedToken token;           ///< at the row's own position
  int64_t visible = 0;            ///< keys it sees; 0: beyond its sequence
  std::vector<ExplainedKey> keys; ///< top:1, top:2, antitop, predecessor
  std::optional<double> spread, entropy; ///< as in x
};

/// Every row to explain has to be a query of the run.
llvm::Error checkExplainRows(const RunInputs &inputs,
                             llvm::ArrayRef<ExplainRow> rows);

Explanation explainRow(const RunInputs &inputs, const RunResult &result,
                       ExplainRow row);

void printExplanation(const Explanation &explanation, llvm::raw_ostream &os);
llvm::json::Object explanationToJson(const Explanation &explanation);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_EXPLAIN_H
