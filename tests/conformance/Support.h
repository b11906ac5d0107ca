//===- Support.h - devices under test ------------------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_CONFORMANCE_SUPPORT_H
#define RAYTENTION_TESTS_CONFORMANCE_SUPPORT_H

#include "runtime/device/Device.h"

#include "gtest/gtest.h"

namespace raytention::test {

/// One device that the suite runs on. FakeCuda is the cuda device on a driver
/// in host memory.
enum class DeviceCase { Cpu, Simt, FakeCuda, Cuda };
std::string nameOf(DeviceCase device);

/// The device; an error of Problem::Missing where the machine lacks it.
llvm::Expected<std::shared_ptr<device::Device>> openCase(DeviceCase which);

/// Kernels.cu as a module of the device, from whatever form it takes.
device::Device::LoadedModule loadKernels(device::Device &device,
                                         DeviceCase which);

/// The CUDA C++ of the kernels.
nvrtc::Source kernelSource();

/// At least `count` threads, as many to a block as suits the device.
device::LaunchShape shapeFor(const device::Device &device, int64_t count);

/// The suite: an open device with its kernels, or a skipped test that says
/// what is missing (a failed one where RT_REQUIRE_NVRTC is 1).
class Conformance : public testing::TestWithParam<DeviceCase> {
protected:
  void SetUp() override;

  std::unique_ptr<device::Buffer> allocate(int64_t bytes);
  std::unique_ptr<device::Kernel> kernel(llvm::StringRef name);

  template <typename T>
  std::unique_ptr<device::Buffer> upload(const std::vector<T> &values) {
    auto buffer = allocate(int64_t(values.size() * sizeof(T)));
    expectOk(buffer->copyFrom(values.data(), buffer->size()));
    return buffer;
  }
  template <typename T> std::vector<T> download(const device::Buffer &buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    expectOk(buffer.copyTo(values.data(), buffer.size()));
    return values;
  }

  static void expectOk(llvm::Error error) {
    EXPECT_EQ(llvm::toString(std::move(error)), "");
  }
  /// That `error` is of that problem, is of this device, and holds `part`.
  void expectProblem(llvm::Error error, device::Problem problem,
                     llvm::StringRef part);

  std::shared_ptr<device::Device> target;
  std::unique_ptr<device::Module> module;
};

} // namespace raytention::test

#endif // RAYTENTION_TESTS_CONFORMANCE_SUPPORT_H
