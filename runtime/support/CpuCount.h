//===- CpuCount.h - how many workers are worth having -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_SUPPORT_CPUCOUNT_H
#define RAYTENTION_RUNTIME_SUPPORT_CPUCOUNT_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace raytention {

/// What decides how many workers a run has by default.
struct CpuCount {
  int online = 1;  ///< CPUs of this machine
  int allowed = 1; ///< those that this thread may run on (taskset)
  /// CPUs' worth of time that the control groups grant; none: no limit.
  std::optional<double> quota;

  /// The CPUs allowed, or the quota, rounded up, where that is less; at least
  /// 1.
  int workers() const;
};

/// Asks the system. The quota is read once per process.
CpuCount countCpus();

/// The tightest quota of the control groups (version 1 or 2) that this process
/// is in, those around it too, in CPUs. `root` stands before each absolute
/// path, "" for this machine. Nothing that is missing or not understood is a
/// limit.
std::optional<double> cpuQuota(llvm::StringRef root);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_SUPPORT_CPUCOUNT_H
