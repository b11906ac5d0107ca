//===- Devices.h - the devices of this machine ---------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_DEVICES_H
#define RAYTENTION_RUNTIME_DEVICE_DEVICES_H

#include "runtime/device/Device.h"

namespace raytention::device {

/// The kinds this build has, in the order of a report.
llvm::ArrayRef<DeviceKind> deviceKinds();

/// The first device of that kind. Errors are Problem::Missing where the machine
/// lacks it.
llvm::Expected<std::shared_ptr<Device>> openDevice(DeviceKind kind);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_DEVICES_H
