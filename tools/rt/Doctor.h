//===- Doctor.h - the subcommand doctor ----------------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_DOCTOR_H
#define RAYTENTION_TOOLS_RT_DOCTOR_H

#include "runtime/device/Devices.h"
#include "runtime/support/CpuCount.h"
#include "tools/rt/Options.h"

namespace raytention::tool {

/// A library that is opened at run time. `problem` says why it is not there.
struct FoundLibrary {
  bool found = false;
  std::string path, version, problem;
};

/// One device, and what became of a small kernel on it.
struct FoundDevice {
  device::DeviceKind kind = device::DeviceKind::Cpu;
  std::string name;
  device::Capabilities capabilities;
  bool found = false;  ///< else `problem` says why not
  bool passed = false; ///< compiled, run, and its result right
  double milliseconds = 0;
  std::string problem;
  /// Whether something of the machine is missing, rather than wrong.
  bool missing = false;
};

struct Diagnosis {
  CpuCount cpus;
  int vectorBits = 0;
  FoundLibrary nvrtc, driver;
  std::vector<int> architectures; ///< that NVRTC knows
  int gpus = 0;
  std::vector<FoundDevice> devices; ///< one per kind
};

/// Looks at this machine, and runs a kernel on each device.
Diagnosis diagnose();

void printDiagnosis(const Diagnosis &diagnosis, llvm::raw_ostream &os);
/// One object on one line.
void printDiagnosisJson(const Diagnosis &diagnosis, llvm::raw_ostream &os);

/// The subcommand: the report on `os`; 1 where a device computes wrongly or
/// fails, an error of exit code 3 where options.target is missing.
llvm::Expected<int> runDoctor(const DoctorOptions &options,
                              llvm::raw_ostream &os);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_DOCTOR_H
