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
#include "runtime/device/simt/SimtDevice.h"

using namespace llvm;
using namespace raytention::device;

ArrayRef<DeviceKind> raytention::device::deviceKinds() {
  static const DeviceKind kinds[] = {DeviceKind::Cpu, DeviceKind::Simt,
                                     DeviceKind::Cuda};
  return kinds;
}

Expected<std::shared_ptr<Device>>
raytention::device::openDevice(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Cpu:
    return createCpuDevice();
  case DeviceKind::Simt:
    return createSimtDevice();
  case DeviceKind::Cuda:
    return createCudaDevice();
  }
  llvm_unreachable("a kind of device");
}
