//===- Validate.h - what is refused before any work -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each check returns one line that names the place, what was expected and what
// was got.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_VALIDATE_H
#define RAYTENTION_TOOLS_RT_VALIDATE_H

#include "tools/rt/RunInputs.h"

namespace raytention::tool {

/// The largest id of an array, -1 if it is empty or all are negative.
int64_t largestId(const NpyArray &ids);

/// Inputs, outputs and their sum against the memory of this machine; the only
/// place where a product of extents may overflow.
llvm::Error checkMemory(const RunInputs &inputs);

/// One length per sequence, each in 0..T.
llvm::Error checkLengths(const RunInputs &inputs);

/// Every id in 0..V-1. `source`: the file they came from.
llvm::Error checkIds(const RunInputs &inputs, llvm::StringRef source);

/// Which rows matter: of queries and dy, [B Tq], those that see a key; of the
/// table, [V], those that some row sees. Nothing is asked of the values of
/// others.
std::vector<bool> seenRows(const RunInputs &inputs);
std::vector<bool> seenTokens(const RunInputs &inputs);

/// Every value finite, in the file and in its type, in rows that are `seen`.
/// [..., D] = `shape`.
llvm::Error checkFinite(llvm::StringRef name, const NpyArray &file,
                        const Buffer &values, DType dtype,
                        llvm::ArrayRef<int64_t> shape,
                        const std::vector<bool> &seen);

/// No distance, score or norm of an output overflows the type they are
/// computed in, whatever the weights are: the domain of docs/semantics.md.
llvm::Error checkNorms(const RunInputs &inputs);

/// The same for dy.
llvm::Error checkGradient(const RunInputs &inputs);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_VALIDATE_H
