//===- CpuDevice.h - the CPU as a device ---------------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_CPU_CPUDEVICE_H
#define RAYTENTION_RUNTIME_DEVICE_CPU_CPUDEVICE_H

#include "runtime/device/Device.h"

namespace raytention::device {

/// The CPU: kernels are compiled entry points, blocks are tasks of its pool of
/// `threads` workers (0: all cores). Source, PTX and cubins are not supported.
std::shared_ptr<Device> createCpuDevice(int threads = 0);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_CPU_CPUDEVICE_H
