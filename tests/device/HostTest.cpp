//===- HostTest.cpp - devices on the host and their caller ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/simt/SimtDevice.h"

#include "tests/device/Support.h"

#include <atomic>
#include <cfenv>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace raytention;
using namespace raytention::device;

namespace {

/// x[i] = r + 2^-30 r for r = 1 / x[i]: both round.
const char *const inversePtx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry inverse(.param .u64 inverse_param_0)
{
  .reg .b32 %r<2>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [inverse_param_0];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  rcp.rn.f32 %f2, %f1;
  fma.rn.f32 %f3, %f2, 0f30800000, %f2;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

void inverseTask(void *arguments, int64_t task, void *) {
  float *x = **static_cast<float **const *>(arguments);
  volatile float value = 1 / x[task];
  x[task] = value + value * 0x1p-30f;
}

Device::LoadedModule load(Device &device) {
  if (!device.capabilities().loadsEntryPoints)
    return device.loadPtx(inversePtx);
  EntryPoint entry{"inverse", inverseTask, {sizeof(void *)}};
  return device.loadEntryPoints(entry);
}

std::vector<float> invert(Device &device) {
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i)
    values[i] = float(i + 3);
  auto module = llvm::cantFail(load(device));
  auto kernel = llvm::cantFail(module->getKernel("inverse"));
  auto buffer = llvm::cantFail(device.allocate(256));
  llvm::cantFail(buffer->copyFrom(values.data(), 256));
  LaunchShape shape;
  shape.grid.x = 64;
  llvm::cantFail(kernel->launch(shape, makeArguments(*buffer)));
  llvm::cantFail(buffer->copyTo(values.data(), 256));
  return values;
}

void sameUnderEveryMode(std::function<std::shared_ptr<Device>()> make) {
  std::vector<float> expected = invert(*make());
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fenv_t before;
    std::fegetenv(&before);
    std::fesetround(mode);
    std::feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_ALL_EXCEPT);
    std::vector<float> values = invert(*make());
    int after = std::fegetround(), traps = fegetexcept();
    std::fesetenv(&before);
    EXPECT_EQ(values, expected) << mode;
    EXPECT_EQ(after, mode);
    EXPECT_EQ(traps, FE_ALL_EXCEPT);
  }
}

TEST(Host, TheCpuComputesAlikeUnderAllModes) {
  sameUnderEveryMode([] { return createCpuDevice(3); });
}

TEST(Host, ThePtxMachineComputesAlikeUnderAllModes) {
  sameUnderEveryMode([] { return createSimtDevice(); });
}

/// The child finds the device as it was in the middle of a launch.
TEST(Host, TheCpuComputesInTheChildOfAFork) {
  auto device = createCpuDevice(2);
  std::vector<float> expected = invert(*device);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop)
      EXPECT_EQ(invert(*device), expected);
  });
  for (int fork = 0; fork < 30; ++fork) {
    pid_t child = ::fork();
    if (child == 0) {
      alarm(120);
      _exit(invert(*device) == expected ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  other.join();
}

} // namespace
