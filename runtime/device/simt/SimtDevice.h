//===- SimtDevice.h - the PTX machine as a device ------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_SIMTDEVICE_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_SIMTDEVICE_H

#include "runtime/device/Device.h"
#include "runtime/device/simt/Simt.h"

namespace raytention::device {

struct SimtOptions {
  std::string arch = "compute_80"; ///< what CUDA C++ is compiled for
  simt::LaunchOptions launch;
};

/// A machine that executes PTX on the CPU and reports what kernels do wrong.
/// CUDA C++ is compiled by NVRTC, with a line table. Cubins are not supported.
std::shared_ptr<Device> createSimtDevice(const SimtOptions &options = {});

/// A kernel did something wrong: memory holds what it wrote up to there.
class FindingsError : public llvm::ErrorInfo<FindingsError, DeviceError> {
public:
  static char ID;
  FindingsError(std::string message, std::shared_ptr<const simt::Report> report)
      : ErrorInfo(Problem::Findings, std::move(message)),
        launchReport(std::move(report)) {}
  const simt::Report &report() const { return *launchReport; }

private:
  std::shared_ptr<const simt::Report> launchReport;
};

/// Findings and profile of the last launch of `kernel` that ran; null where
/// there was none, or where it is a kernel of another kind of device.
std::shared_ptr<const simt::Report> lastReport(const Kernel &kernel);

/// Sets the workers of later launches (0: all cores) and says how many they
/// are; a device of another kind has none to set, and the answer is 1.
int setWorkers(Device &device, int threads);

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_SIMTDEVICE_H
