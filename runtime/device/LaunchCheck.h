//===- LaunchCheck.h - checks before work is given to a device - -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_LAUNCHCHECK_H
#define RAYTENTION_RUNTIME_DEVICE_LAUNCHCHECK_H

#include "runtime/device/Device.h"

namespace raytention::device {

/// That `object` belongs to `device`; the error says what was to be done
/// (`what`) with which kind of object.
llvm::Error checkOwner(const Device &device, const char *what,
                       const char *objectKind, const DeviceObject &object);

/// That shape and arguments fit the kernel and its device.
llvm::Error checkLaunch(const Kernel &kernel, const LaunchShape &shape,
                        const Arguments &arguments);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_LAUNCHCHECK_H
