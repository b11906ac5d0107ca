//===- main.cpp - the command rt ------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/ProcessFailure.h"
#include "tools/rt/Run.h"
#include "tools/rt/ToolError.h"

using namespace raytention::tool;

/// Flushes the results; a full disk behind stdout is no success.
static int finish(int code) {
  llvm::outs().flush();
  std::error_code failure = llvm::outs().error();
  if (!failure)
    return code;
  llvm::outs().clear_error();
  return reportError(missingError("stdout: expected to write all results, "
                                  "got: {0}",
                                  failure.message()),
                     llvm::errs());
}

int main(int argc, char **argv) {
  reportProcessFailures();
  llvm::ArrayRef<const char *> args(argv, size_t(argc));
  return finish(
      runTool(args.drop_front(argc > 0 ? 1 : 0), llvm::outs(), llvm::errs()));
}
