//===- CompileLog.h - what the assembler's log says -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_NVRTC_COMPILELOG_H
#define RAYTENTION_RUNTIME_NVRTC_COMPILELOG_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace raytention::nvrtc {

/// What one kernel takes of an architecture, as assembled for it. Sizes are
/// in bytes; shared memory is the static part.
struct KernelResources {
  std::string name; ///< lowered
  int64_t registers = 0;
  int64_t barriers = 0;
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
  int64_t sharedBytes = 0;

  bool spills() const { return spillStoreBytes || spillLoadBytes; }
};

/// The kernels of a log made with --ptxas-options=-v, in its order. An error
/// where the log has a kernel but not its registers: another assembler writes
/// other words, and zeros would pass for facts.
llvm::Expected<std::vector<KernelResources>>
parseResources(llvm::StringRef log);

/// Lines of the log with a code C75xx: the assembler gave up the overlap that
/// the code asked for (C7510: wgmma serialised for a function call; C7519:
/// a missing wait).
std::vector<std::string> parseHazards(llvm::StringRef log);

} // namespace raytention::nvrtc

#endif // RAYTENTION_RUNTIME_NVRTC_COMPILELOG_H
