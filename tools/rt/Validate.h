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

/// Every value finite, in the file and in its type. [..., D] = `shape`.
llvm::Error checkFinite(llvm::StringRef name, const NpyArray &file,
                        const Buffer &values, DType dtype,
                        llvm::ArrayRef<int64_t> shape);

/// No distance, score or norm of an output overflows the type they are
/// computed in, whatever the weights are.
llvm::Error checkNorms(const RunInputs &inputs);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_VALIDATE_H
