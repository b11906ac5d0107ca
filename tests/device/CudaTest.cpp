//===- CudaTest.cpp - the cuda device on a driver in host memory ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/cuda/Driver.h"

#include "tests/device/Support.h"

#include <dlfcn.h>
#include <functional>

using namespace raytention;
using namespace raytention::device;
using namespace raytention::test;

namespace {

class CudaTest : public testing::Test {
protected:
  void SetUp() override { ASSERT_EQ(callFake("fakeCudaReset"), 0); }

  /// Handles of the fake that were not given back.
  static int live() { return callFake("fakeCudaLive"); }

  static int callFake(const char *name) {
    void *library = dlopen(RAYTENTION_FAKE_CUDA, RTLD_NOW);
    auto *function = reinterpret_cast<int (*)()>(dlsym(library, name));
    return function ? function() : -1;
  }

  ScopedVariable show{"RT_HIDE_CUDA", nullptr};
  ScopedVariable fake{"RT_LIBCUDA", RAYTENTION_FAKE_CUDA};
};

using llvm::Error;
using llvm::Expected;

/// Work on a device that takes every function of the driver but those that
/// open and close it. Destructors report through the last line.
Error work(Device &device) {
  {
    auto stream = device.createStream();
    if (!stream)
      return stream.takeError();
    auto event = device.createEvent();
    if (!event)
      return event.takeError();
    auto buffer = device.allocate(64);
    if (!buffer)
      return buffer.takeError();
    auto module = device.loadPtx(".version 8.0 useShared");
    if (!module)
      return module.takeError();
    auto kernel = (*module)->getKernel("useShared");
    if (!kernel)
      return kernel.takeError();
    int host[16] = {};
    const std::function<Error()> steps[] = {
        [&] { return (*buffer)->fill(1, 64); },
        [&] { return (*buffer)->copyFrom(host, 64); },
        [&] { return (*buffer)->copyTo(host, 64); },
        [&] {
          LaunchShape shape;
          shape.sharedBytes = 60000;
          return (*kernel)->launch(shape, makeArguments(60000, **buffer));
        },
        [&] { return (*stream)->record(**event); },
        [&] { return (*stream)->wait(**event); },
        [&] { return (*event)->synchronize(); },
        [&] { return (*event)->isDone().takeError(); },
        [&] { return (*event)->millisecondsSince(**event).takeError(); }};
    for (const auto &step : steps)
      if (Error error = step())
        return error;
  }
  return device.synchronize();
}

std::string messageOfWork() {
  auto device = createCudaDevice();
  return device ? llvm::toString(work(**device))
                : llvm::toString(device.takeError());
}

TEST_F(CudaTest, EveryCallIsCheckedAndNamed) {
  ASSERT_EQ(messageOfWork(), "");
  const char *const names[] = {
#define RT_CUDA_SYMBOL(NAME, ...) #NAME,
#include "runtime/device/cuda/Symbols.def"
  };
  for (llvm::StringRef name : names) {
    // Two that only describe an error; one that runs when nobody is left.
    if (name.starts_with("cuGetError") ||
        name == "cuDevicePrimaryCtxRelease_v2")
      continue;
    ScopedVariable fail("RT_FAKE_CUDA_FAIL", (name + ":700").str().c_str());
    std::string message = messageOfWork();
    std::string expected =
        (name + ": expected CUDA_SUCCESS, got CUDA_ERROR_ILLEGAL_ADDRESS (700: "
                "an illegal memory access was encountered); this process can "
                "use the GPU no more")
            .str();
    EXPECT_NE(message.find(expected), std::string::npos)
        << "got: " << message << "\nwithout: " << expected;
    EXPECT_EQ(message.rfind("cuda", 0) == 0 ||
                  message.find("cuda:0: ") != std::string::npos,
              true)
        << message;
  }
}

TEST_F(CudaTest, GivesEverythingBack) {
  ASSERT_EQ(messageOfWork(), "");
  EXPECT_EQ(live(), 0);
}

TEST_F(CudaTest, SaysWhatIsMissing) {
  {
    ScopedVariable empty("RT_LIBCUDA", RAYTENTION_EMPTY_LIBRARY);
    auto device = createCudaDevice();
    ASSERT_FALSE(bool(device));
    Error error = device.takeError();
    EXPECT_EQ(int(problemOf(error)), int(Problem::Missing));
    EXPECT_EQ(llvm::toString(std::move(error)),
              "cuda: the CUDA driver in " RAYTENTION_EMPTY_LIBRARY
              ": expected the function cuGetErrorName, got a library without "
              "it; use a newer one");
  }
  {
    ScopedVariable none("RT_FAKE_CUDA_DEVICES", "0");
    EXPECT_EQ(messageOf(createCudaDevice()),
              "cuda: expected a GPU of number 0, got 0 GPUs; check that it is "
              "there and not hidden by CUDA_VISIBLE_DEVICES");
    auto found = findCudaDriver();
    ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
    EXPECT_EQ(found->devices, 0);
    EXPECT_EQ(found->version, 13000);
  }
  EXPECT_EQ(messageOf(createCudaDevice(3))
                .rfind("cuda: expected a GPU of number 3, got 1 GPUs", 0),
            0u);
  ScopedVariable hide("RT_HIDE_CUDA", "1");
  EXPECT_EQ(messageOf(createCudaDevice()),
            "cuda: the CUDA driver is hidden: expected RT_HIDE_CUDA unset or "
            "0, got 1");
}

TEST_F(CudaTest, TellsWhatTheGpuCanDo) {
  auto device = llvm::cantFail(createCudaDevice());
  const Capabilities &can = device->capabilities();
  EXPECT_EQ(device->name(), "cuda:0");
  EXPECT_EQ(can.description, "Fake GPU");
  EXPECT_EQ(can.computeCapability, 80);
  EXPECT_EQ(can.memoryBytes, int64_t(1) << 30);
  EXPECT_EQ(can.processors, 2);
  EXPECT_EQ(can.warpSize, 32);
  EXPECT_EQ(can.maxSharedBytes, 99 * 1024);
  EXPECT_EQ(can.maxBlock.z, 64);
  EXPECT_EQ(can.maxGrid.y, 65535);
}

TEST_F(CudaTest, MemoryOfTheGpuRunsOut) {
  auto device = llvm::cantFail(createCudaDevice());
  auto most = llvm::cantFail(device->allocate(int64_t(1) << 30));
  auto more = device->allocate(1);
  ASSERT_FALSE(bool(more));
  Error error = more.takeError();
  EXPECT_EQ(int(problemOf(error)), int(Problem::OutOfMemory));
  EXPECT_EQ(llvm::toString(std::move(error)),
            "allocate 1 bytes: cuda:0: cuMemAlloc_v2: expected CUDA_SUCCESS, "
            "got CUDA_ERROR_OUT_OF_MEMORY (2); use a smaller batch, or free "
            "buffers");
  most.reset();
  EXPECT_EQ(messageOf(device->allocate(1)), "");
}

TEST_F(CudaTest, CompilesForItsArchitecture) {
  RT_NVRTC_OR_SKIP(compiler);
  auto device = llvm::cantFail(createCudaDevice());
  nvrtc::Source source;
  source.text = "extern \"C\" __global__ void addOne(int *x, long long n) {}";
  auto module = device->loadCuda(source);
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  ASSERT_TRUE((*module)->compiled());
  EXPECT_EQ((*module)->compiled()->arch, "sm_80");
  EXPECT_EQ(messageOf((*module)->getKernel("addOne")), "");
  source.text = "broken";
  auto broken = device->loadCuda(source);
  ASSERT_FALSE(bool(broken));
  Error error = broken.takeError();
  EXPECT_EQ(int(problemOf(error)), int(Problem::BuildFailed));
  EXPECT_EQ(llvm::toString(std::move(error))
                .rfind("cuda:0: load: kernel.cu for sm_80: ", 0),
            0u);
}

TEST_F(CudaTest, ADriverOlderThanTheCompilerIsNamed) {
  RT_NVRTC_OR_SKIP(compiler);
  ScopedVariable old("RT_FAKE_CUDA_VERSION", "11080");
  auto device = llvm::cantFail(createCudaDevice());
  std::string message = messageOf(device->loadCuda(nvrtc::Source()));
  EXPECT_NE(message.find("got one for CUDA 11.8; update the driver, or set "
                         "RT_NVRTC to an NVRTC of version 11"),
            std::string::npos)
      << message;
}

TEST_F(CudaTest, TheDriversLogIsInTheError) {
  auto device = llvm::cantFail(createCudaDevice());
  EXPECT_EQ(messageOf(device->loadPtx("nothing")),
            "load: cuda:0: cuModuleLoadDataEx: expected CUDA_SUCCESS, got "
            "CUDA_ERROR_INVALID_IMAGE (200); compile for this GPU's "
            "architecture, or load PTX\nfake: no .version");
}

} // namespace
