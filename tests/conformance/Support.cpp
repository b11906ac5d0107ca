//===- Support.cpp - devices under test -----------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/Support.h"

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/simt/SimtDevice.h"
#include "tests/conformance/HostKernels.h"
#include "tests/device/Support.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace raytention;
using namespace raytention::device;
using namespace raytention::test;

std::string test::nameOf(DeviceCase device) {
  switch (device) {
  case DeviceCase::Cpu:
    return "cpu";
  case DeviceCase::Simt:
    return "simt";
  case DeviceCase::FakeCuda:
    return "cuda_on_fake_driver";
  case DeviceCase::Cuda:
    return "cuda";
  }
  return "";
}

llvm::Expected<std::shared_ptr<Device>> test::openCase(DeviceCase which) {
  switch (which) {
  case DeviceCase::Cpu:
    return createCpuDevice(2);
  case DeviceCase::Simt:
    return createSimtDevice();
  case DeviceCase::FakeCuda: {
    ScopedVariable show("RT_HIDE_CUDA", nullptr);
    ScopedVariable fake("RT_LIBCUDA", RAYTENTION_FAKE_CUDA);
    ScopedVariable hopper("RT_FAKE_CUDA_CAPABILITY", "90");
    return createCudaDevice();
  }
  case DeviceCase::Cuda:
    return createCudaDevice();
  }
  return nullptr;
}

nvrtc::Source test::kernelSource() {
  nvrtc::Source source;
  source.name = "Kernels.cu";
  auto file = llvm::MemoryBuffer::getFile(RAYTENTION_KERNELS);
  source.text = file ? (*file)->getBuffer().str() : "";
  return source;
}

Device::LoadedModule test::loadKernels(Device &device, DeviceCase which) {
  if (device.capabilities().loadsEntryPoints) {
    std::vector<EntryPoint> entries;
    for (const HostKernel &kernel : hostKernels())
      entries.push_back({kernel.name, kernel.task, kernel.argumentBytes});
    return device.loadEntryPoints(entries);
  }
  // The fake looks names up in the text; it has its own code for them.
  if (which == DeviceCase::FakeCuda)
    return device.loadPtx(".version 8.0\n" + kernelSource().text);
  return device.loadCuda(kernelSource());
}

LaunchShape test::shapeFor(const Device &device, int64_t count) {
  LaunchShape shape;
  shape.block.x =
      std::min<int64_t>(device.capabilities().maxThreadsPerBlock, 128);
  shape.grid.x = (count + shape.block.x - 1) / shape.block.x;
  return shape;
}

void Conformance::SetUp() {
  auto opened = openCase(GetParam());
  ASSERT_TRUE(bool(opened)) << llvm::toString(opened.takeError());
  target = *opened;
  auto loaded = loadKernels(*target, GetParam());
  if (loaded) {
    module = std::move(*loaded);
    return;
  }
  llvm::Error error = loaded.takeError();
  bool missing = problemOf(error) == Problem::Missing;
  std::string text = llvm::toString(std::move(error));
  std::string reason;
  bool required = false;
  if (missing && !nvrtcOrReason(reason, required) && !required)
    GTEST_SKIP() << text;
  FAIL() << text;
}

std::unique_ptr<Buffer> Conformance::allocate(int64_t bytes) {
  return llvm::cantFail(target->allocate(bytes));
}

std::unique_ptr<Kernel> Conformance::kernel(llvm::StringRef name) {
  return llvm::cantFail(module->getKernel(name));
}

void Conformance::expectProblem(llvm::Error error, Problem problem,
                                llvm::StringRef part) {
  ASSERT_TRUE(bool(error)) << "expected an error with: " << part.str();
  EXPECT_EQ(int(problemOf(error)), int(problem));
  std::string text = llvm::toString(std::move(error));
  EXPECT_NE(text.find(part.str()), std::string::npos) << text << "\nwithout\n"
                                                      << part.str();
  EXPECT_NE(text.find(target->name()), std::string::npos) << text;
}
