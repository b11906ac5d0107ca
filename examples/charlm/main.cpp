//===- main.cpp - a character model on RayTention layers ------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Program.h"

int main(int argc, char **argv) {
  llvm::ArrayRef<const char *> args(argv, size_t(argc));
  return raytention::charlm::runCharLm(args.drop_front(argc > 0 ? 1 : 0),
                                       llvm::outs(), llvm::errs());
}
