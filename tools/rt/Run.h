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

namespace raytention::tool {

/// Runs an attention forward: inputs, compile, run, check, files, report on
/// `os`. Returns the exit code of a run that came to its end (0, or 1 for a
/// failed check); an error otherwise, with nothing left at --out.
llvm::Expected<int> runForward(const RunOptions &options,
                               llvm::raw_ostream &os);

/// The whole program: `args` without the program's name. Results on `out`, one
/// line per error on `err`. Returns the exit code.
int runTool(llvm::ArrayRef<const char *> args, llvm::raw_ostream &out,
            llvm::raw_ostream &err);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_RUN_H
