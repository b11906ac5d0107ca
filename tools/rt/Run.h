//===- Run.h - the subcommand run -------------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_RUN_H
#define RAYTENTION_TOOLS_RT_RUN_H

#include "tools/rt/Options.h"

#include <functional>

namespace raytention::tool {

/// Makes the attention of a run; Attention::compile() where it is empty.
using CompileFunction = std::function<Result<std::unique_ptr<Attention>>(
    const AttentionSpec &spec, const CompileOptions &options)>;

/// Runs an attention: inputs, compile, forward and backward, check, files,
/// report on `os`. Returns the exit code of a run that came to its end (0, or 1
/// for a failed check); an error otherwise, with nothing left at --out.
llvm::Expected<int> runAttention(const RunOptions &options,
                                 const CompileFunction &compile,
                                 llvm::raw_ostream &os);

/// The whole program: `args` without the program's name. Results on `out`, one
/// line per error on `err`. Returns the exit code.
int runTool(llvm::ArrayRef<const char *> args, llvm::raw_ostream &out,
            llvm::raw_ostream &err, const CompileFunction &compile = {});

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_RUN_H
