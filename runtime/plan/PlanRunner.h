//===- PlanRunner.h - runs a plan on a device -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_PLAN_PLANRUNNER_H
#define RAYTENTION_RUNTIME_PLAN_PLANRUNNER_H

#include "runtime/device/Device.h"
#include "runtime/plan/Evaluate.h"

namespace raytention::plan {

/// An argument of a run. Buffers have to outlive it.
struct RunArgument {
  const device::Buffer *buffer = nullptr; ///< null: a scalar, or no bytes
  ArgumentSize size;
};

struct PlanReport {
  int64_t workspaceBytes = 0; ///< the most that was allocated at any time
  double milliseconds = 0;    ///< allocations, launches, until all is done
};

/// A plan with its kernels loaded. One run at a time.
class PlanRunner {
public:
  /// `modules` hold the plan's kernels, by their number. Errors: a module or a
  /// kernel that is not there.
  static llvm::Expected<PlanRunner>
  create(std::shared_ptr<device::Device> device, Plan plan,
         llvm::ArrayRef<std::unique_ptr<device::Module>> modules);
  /// The same from CUDA C++. Errors, in one line: what the device needs to
  /// compile is missing; the sources do not compile.
  static llvm::Expected<PlanRunner>
  compile(std::shared_ptr<device::Device> device, Plan plan,
          llvm::ArrayRef<nvrtc::Source> sources);

  /// Runs and waits. Nothing runs where an error can be told before: those of
  /// evaluate(), a need of more than `workspaceCap` bytes, a buffer smaller
  /// than its sizes. Other errors are the device's, in one line; what the
  /// kernels did up to there stays.
  llvm::Expected<PlanReport> run(llvm::ArrayRef<RunArgument> arguments,
                                 int64_t workspaceCap);

  device::Device &device() const { return *owner; }

private:
  PlanRunner(std::shared_ptr<device::Device> owner, Plan code)
      : owner(std::move(owner)), code(std::move(code)) {}

  std::shared_ptr<device::Device> owner;
  Plan code;
  std::vector<std::unique_ptr<device::Kernel>> kernels; ///< of the plan
};

} // namespace raytention::plan

#endif // RAYTENTION_RUNTIME_PLAN_PLANRUNNER_H
