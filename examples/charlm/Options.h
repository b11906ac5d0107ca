//===- Options.h - the command line of charlm -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_OPTIONS_H
#define RAYTENTION_EXAMPLES_CHARLM_OPTIONS_H

#include "examples/charlm/Generate.h"
#include "examples/charlm/Train.h"

#include "llvm/Support/raw_ostream.h"

namespace raytention::charlm {

struct Options {
  std::string textPath, outPath;
  int64_t dModel = 64;
  int threads = 0; ///< 0: all cores
  TrainOptions train;
  GenerateOptions generate;
  bool help = false;
};

/// Parses the arguments after the program's name; an error is one line with
/// expected and got. As in `rt`, it is not llvm::cl, whose options stand beside
/// those of LLVM itself and which prints messages of its own.
Result<Options> parseOptions(llvm::ArrayRef<const char *> args);

void printHelp(llvm::raw_ostream &os);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_OPTIONS_H
