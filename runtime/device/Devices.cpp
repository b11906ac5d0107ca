//===- Devices.cpp - the devices of this machine --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/Devices.h"

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"

using namespace llvm;
using namespace raytention::device;

ArrayRef<DeviceKind> raytention::device::deviceKinds() {
  static const DeviceKind kinds[] = {DeviceKind::Cpu, DeviceKind::Cuda};
  return kinds;
}

Expected<std::shared_ptr<Device>>
raytention::device::openDevice(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu:
    return createCpuDevice();
  case DeviceKind::Simt:
    break;
  case DeviceKind::Cuda:
    return createCudaDevice();
  }
  return makeError(Problem::NotSupported, getName(kind) +
                                              ": expected a kind of device "
                                              "that this build has, got none");
}
