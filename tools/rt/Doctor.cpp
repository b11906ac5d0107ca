//===- Doctor.cpp - the subcommand doctor ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Doctor.h"

#include "runtime/device/cuda/CudaDevice.h"
#include "tools/rt/ToolError.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>

using namespace raytention::device;
using llvm::Error;
using llvm::Expected;

namespace raytention::tool {

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

/// y[i] = 2 x[i] + y[i], for the devices that take CUDA C++.
static nvrtc::Source probeSource() {
  nvrtc::Source source;
  source.name = "doctor.cu";
  source.text = R"(
extern "C" __global__ void probe(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = 2.0f * x[i] + y[i];
}
)";
  return source;
}

/// The same for the CPU: one block is one element.
static void probeTask(void *arguments, int64_t task, void *) {
  auto *values = static_cast<void *const *>(arguments);
  const float *x = *static_cast<const float *const *>(values[0]);
  float *y = *static_cast<float *const *>(values[1]);
  if (task < *static_cast<const int *>(values[2]))
    y[task] = 2.0f * x[task] + y[task];
}

static Device::LoadedModule loadProbe(Device &device) {
  if (!device.capabilities().loadsEntryPoints)
    return device.loadCuda(probeSource());
  constexpr int64_t pointer = sizeof(void *);
  EntryPoint entry{"probe", probeTask, {pointer, pointer, sizeof(int)}};
  return device.loadEntryPoints(entry);
}

/// Small integers, so that the result is exact.
static Error checkResult(const std::vector<float> &x,
                         const std::vector<float> &y,
                         const std::vector<float> &got) {
  for (size_t i = 0; i < x.size(); ++i)
    if (got[i] != 2 * x[i] + y[i])
      return makeError(Problem::LaunchFailed,
                       "probe: expected " + numberText(2 * x[i] + y[i]) +
                           " at " + llvm::Twine(i) + ", got " +
                           numberText(got[i]));
  return Error::success();
}

static Error runProbe(Device &device) {
  constexpr int count = 1000;
  constexpr int64_t bytes = count * sizeof(float);
  std::vector<float> x(count), y(count), got(count);
  for (int i = 0; i < count; ++i) {
    x[i] = float(i);
    y[i] = float(3 * i % 17);
  }
  auto module = loadProbe(device);
  if (!module)
    return module.takeError();
  auto kernel = (*module)->getKernel("probe");
  if (!kernel)
    return kernel.takeError();
  auto xs = device.allocate(bytes), ys = device.allocate(bytes);
  if (!xs || !ys)
    return joinErrors(xs.takeError(), ys.takeError());
  if (Error error = (*xs)->copyFrom(x.data(), bytes))
    return error;
  if (Error error = (*ys)->copyFrom(y.data(), bytes))
    return error;
  LaunchShape shape;
  shape.block.x =
      std::min<int64_t>(device.capabilities().maxThreadsPerBlock, 128);
  shape.grid.x = (count + shape.block.x - 1) / shape.block.x;
  if (Error error = (*kernel)->launch(shape, makeArguments(**xs, **ys, count)))
    return error;
  if (Error error = (*ys)->copyTo(got.data(), bytes))
    return error;
  return checkResult(x, y, got);
}

//===----------------------------------------------------------------------===//
// Looking
//===----------------------------------------------------------------------===//

static int vectorBits() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup("avx512f") ? 512 : features.lookup("avx") ? 256 : 128;
}

static std::string versionText(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

static void findNvrtc(Diagnosis &diagnosis) {
  FoundLibrary &library = diagnosis.nvrtc;
  auto compiler = nvrtc::Compiler::open();
  if (!compiler) {
    library.problem = llvm::toString(compiler.takeError());
    return;
  }
  library.found = true;
  library.path = (*compiler)->path();
  library.version =
      versionText((*compiler)->version().major, (*compiler)->version().minor);
  diagnosis.architectures = (*compiler)->architectures().vec();
}

static void findDriver(Diagnosis &diagnosis) {
  FoundLibrary &library = diagnosis.driver;
  auto driver = findCudaDriver();
  if (!driver) {
    library.problem = llvm::toString(driver.takeError());
    return;
  }
  library.found = true;
  library.path = driver->path;
  library.version =
      versionText(driver->version / 1000, driver->version % 1000 / 10);
  diagnosis.gpus = driver->devices;
}

static FoundDevice examine(DeviceKind kind) {
  FoundDevice result;
  result.kind = kind;
  result.name = getName(kind).str();
  auto start = std::chrono::steady_clock::now();
  auto keep = [&](Error error) {
    result.missing = problemOf(error) == Problem::Missing;
    result.problem = llvm::toString(std::move(error));
    return result;
  };
  auto device = openDevice(kind);
  if (!device)
    return keep(device.takeError());
  result.found = true;
  result.name = (*device)->name();
  result.capabilities = (*device)->capabilities();
  if (Error error = runProbe(**device))
    return keep(std::move(error));
  result.passed = true;
  result.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  return result;
}

Diagnosis diagnose() {
  Diagnosis diagnosis;
  diagnosis.cpus = countCpus();
  diagnosis.vectorBits = vectorBits();
  findNvrtc(diagnosis);
  findDriver(diagnosis);
  for (DeviceKind kind : deviceKinds())
    diagnosis.devices.push_back(examine(kind));
  return diagnosis;
}

Expected<int> runDoctor(const DoctorOptions &options, llvm::raw_ostream &os) {
  Diagnosis diagnosis = diagnose();
  options.json ? printDiagnosisJson(diagnosis, os)
               : printDiagnosis(diagnosis, os);
  int code = ExitDone;
  for (const FoundDevice &device : diagnosis.devices) {
    if (options.target == getName(device.kind) && !device.passed &&
        device.missing)
      return missingError("--target {0}: expected a device that works, got: "
                          "{1}",
                          options.target, device.problem);
    if (device.found && !device.passed && !device.missing)
      code = ExitCheckFailed;
  }
  return code;
}

} // namespace raytention::tool
