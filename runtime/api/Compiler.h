//===- Compiler.h - from a spec or a text to machine code -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_COMPILER_H
#define RAYTENTION_RUNTIME_API_COMPILER_H

#include "runtime/api/BackEnd.h"

namespace raytention {

/// What remains of a compilation.
struct CompiledModule {
  std::unique_ptr<BackEnd> code;
  std::string scheduleText; ///< empty for the reference
  int64_t signalWidth = 0, numIndices = 0, numLogSums = 0;
  bool savesLogSums = false; ///< the forward function has them as a result
};

/// Compiles the attention of `spec`, or the function @attend of `text` where
/// that is not null. The first diagnostic is the error.
llvm::Expected<CompiledModule> compileAttend(const AttentionSpec &spec,
                                             const CompileOptions &options,
                                             const llvm::StringRef *text);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_COMPILER_H
