//===- main.cpp - the command rt ------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Run.h"

int main(int argc, char **argv) {
  return raytention::tool::runTool(
      llvm::ArrayRef<const char *>(argv + 1, argv + (argc > 0 ? argc : 1)),
      llvm::outs(), llvm::errs());
}
