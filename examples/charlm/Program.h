//===- Program.h - trains, compares and writes ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_PROGRAM_H
#define RAYTENTION_EXAMPLES_CHARLM_PROGRAM_H

#include "examples/charlm/Options.h"

namespace raytention::charlm {

/// The model that the options and the text ask for, compiled.
Result<std::unique_ptr<Model<float>>>
makeModel(const Options &options, const Corpus &corpus, Shards &shards);

/// The whole program after its name; returns the exit code.
int runCharLm(llvm::ArrayRef<const char *> args, llvm::raw_ostream &out,
              llvm::raw_ostream &err);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_PROGRAM_H
