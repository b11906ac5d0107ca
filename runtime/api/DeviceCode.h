//===- DeviceCode.h - a plan on a device ------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_DEVICECODE_H
#define RAYTENTION_RUNTIME_API_DEVICECODE_H

#include "runtime/api/BackEnd.h"
#include "runtime/plan/PlanRunner.h"

namespace raytention {

/// A plan: inputs are copied to the device, outputs back.
class DeviceCode : public BackEnd {
public:
  /// `workspaceCap`: bytes that the plan may allocate.
  DeviceCode(plan::PlanRunner forward, int64_t workspaceCap)
      : forward(std::move(forward)), workspaceCap(workspaceCap) {}

  bool has(Function function) const override {
    return function == Function::Forward;
  }
  int chooseThreads(int threads) override;
  llvm::Expected<RunReport> call(Function function,
                                 llvm::ArrayRef<CallArgument> arguments,
                                 int64_t numKeys) override;

private:
  plan::PlanRunner forward;
  int64_t workspaceCap;
  int threads = 1;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_DEVICECODE_H
