//===- ProcessFailure.cpp - the last line of a process that fails ---------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/ProcessFailure.h"

#include "tools/rt/PendingFolder.h"
#include "tools/rt/ToolError.h"

#include "llvm/Support/ErrorHandling.h"

#include <csignal>
#include <cstring>

#include <sys/uio.h>
#include <unistd.h>

namespace raytention::tool {

/// Allocates nothing: there may be nothing left.
[[noreturn]] static void fail(const char *what, const char *reason) {
  removePendingFolder();
  iovec parts[] = {{const_cast<char *>(what), std::strlen(what)},
                   {const_cast<char *>(reason), std::strcspn(reason, "\n")},
                   {const_cast<char *>("\n"), 1}};
  ssize_t ignored = writev(STDERR_FILENO, parts, 3);
  (void)ignored;
  _exit(ExitMissing);
}

static void failForMemory(void *, const char *, bool) {
  fail("rt: error: memory: expected more than this machine has left, or its "
       "limits (ulimit -v, control groups) allow; use a smaller shape or "
       "fewer threads",
       "");
}

static void failForLlvm(void *, const char *reason, bool) {
  fail("rt: error: LLVM could not go on: ", reason);
}

void reportProcessFailures() {
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::install_fatal_error_handler(failForLlvm);
  llvm::install_bad_alloc_error_handler(failForMemory);
  llvm::install_out_of_memory_new_handler();
}

} // namespace raytention::tool
