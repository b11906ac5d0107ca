//===- DeviceSchedule.h - the schedule of kernels -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_DEVICESCHEDULE_H
#define RAYTENTION_RUNTIME_API_DEVICESCHEDULE_H

#include "dialect/RayTention/RayTention.h"
#include "raytention/Attention.h"

#include "llvm/Support/Error.h"

namespace raytention {

/// The schedule of an attention on a device that runs kernels: what the options
/// say, else the device's default (codegen/Target/DeviceSchedule.h). Errors: an
/// option that such a device does not follow.
llvm::Expected<ScheduleAttr> chooseDeviceSchedule(mlir::ArrayAttr channels,
                                                  const AttentionSpec &spec,
                                                  const CompileOptions &options,
                                                  int64_t numKeys);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_DEVICESCHEDULE_H
