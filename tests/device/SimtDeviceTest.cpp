//===- SimtDeviceTest.cpp - the PTX machine as a device -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/SimtDevice.h"

#include "tests/device/Support.h"

#include <numeric>

using namespace raytention;
using namespace raytention::device;
using namespace raytention::test;

namespace {

/// x[i] = 7 for the first thread; small enough to write by hand.
const char *const storePtx = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 store_param_0)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [store_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, 7;
  st.global.u32 [%rd2], %r1;
  ret;
}
)";

nvrtc::Source strideSource() {
  nvrtc::Source source;
  source.name = "stride.cu";
  source.text = R"(
template <int step> __global__ void stride(int *x) {
  x[step * threadIdx.x] = threadIdx.x;
}
)";
  source.nameExpressions = {"stride<1>", "stride<2>"};
  return source;
}

/// Takes the address of its parameter, as kernels do of a tensor map, and has
/// a body only from compute capability 9.0 on.
nvrtc::Source gridConstantSource() {
  nvrtc::Source source;
  source.name = "map.cu";
  source.text = R"(
struct alignas(64) Map { unsigned char bytes[128]; };
__device__ __noinline__ unsigned char at(const Map *map, int i) {
  return map->bytes[i];
}
extern "C" __global__ void __launch_bounds__(64)
    copyMap(char before, const __grid_constant__ Map map, unsigned char *out,
            const __grid_constant__ Map second) {
#if __CUDA_ARCH__ >= 900
  for (int i = threadIdx.x; i < 128; i += blockDim.x)
    out[i] = at(threadIdx.x % 2 ? &map : &second, i);
  if (threadIdx.x == 0) {
    unsigned long long address;
    asm("mov.b64 %0, %1;" : "=l"(address) : "l"(&map));
    out[128] = before;
    out[129] = address % 64;
    unsigned value;
    asm volatile("ld.param.u32 %0, [%1];" : "=r"(value)
                 : "l"(__cvta_generic_to_grid_constant(&map)));
    out[130] = value;
  }
#endif
}
)";
  return source;
}

LaunchShape warp() {
  LaunchShape shape;
  shape.block.x = 32;
  return shape;
}

TEST(SimtDevice, RunsPtxWithoutNvrtc) {
  auto device = createSimtDevice();
  auto module = device->loadPtx(storePtx);
  ASSERT_TRUE(bool(module)) << llvm::toString(module.takeError());
  EXPECT_EQ((*module)->compiled(), nullptr);
  auto kernel = llvm::cantFail((*module)->getKernel("store"));
  auto buffer = llvm::cantFail(device->allocate(4));
  EXPECT_EQ(lastReport(*kernel), nullptr);
  EXPECT_EQ(
      llvm::toString(kernel->launch(LaunchShape(), makeArguments(*buffer))),
      "");
  int value = 0;
  EXPECT_EQ(llvm::toString(buffer->copyTo(&value, 4)), "");
  EXPECT_EQ(value, 7);
  ASSERT_TRUE(lastReport(*kernel));
  EXPECT_EQ(lastReport(*kernel)->profile.globalStores.bytes, 4u);
}

TEST(SimtDevice, NamesTheLineOfPtxThatItCannotRead) {
  std::string text = storePtx;
  text.replace(text.find("st.global"), 9, "st.nowhere");
  auto module = createSimtDevice()->loadPtx(text);
  ASSERT_FALSE(bool(module));
  llvm::Error error = module.takeError();
  EXPECT_EQ(int(problemOf(error)), int(Problem::BuildFailed));
  std::string message = llvm::toString(std::move(error));
  EXPECT_EQ(message.rfind("simt: load: ", 0), 0u) << message;
  EXPECT_NE(message.find("12"), std::string::npos) << message;
}

TEST(SimtDevice, FindingsAreAnErrorWithTheirCudaLine) {
  RT_NVRTC_OR_SKIP(compiler);
  auto device = createSimtDevice();
  auto module = llvm::cantFail(device->loadCuda(strideSource()));
  auto buffer = llvm::cantFail(device->allocate(32 * 4));
  auto right = llvm::cantFail(module->getKernel("stride<1>"));
  EXPECT_EQ(llvm::toString(right->launch(warp(), makeArguments(*buffer))), "");
  EXPECT_TRUE(lastReport(*right)->clean());

  auto wrong = llvm::cantFail(module->getKernel("stride<2>"));
  llvm::Error error = wrong->launch(warp(), makeArguments(*buffer));
  ASSERT_TRUE(bool(error));
  EXPECT_EQ(int(problemOf(error)), int(Problem::Findings));
  EXPECT_TRUE(error.isA<FindingsError>());
  std::string message = llvm::toString(std::move(error));
  EXPECT_EQ(message.rfind("simt: kernel " + wrong->info().name +
                              ": expected no finding, got ",
                          0),
            0u)
      << message;
  EXPECT_NE(message.find("stride.cu:3: out-of-bounds"), std::string::npos)
      << message;
  auto report = lastReport(*wrong);
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->findings.empty());
  EXPECT_EQ(report->findings[0].line, 3u);
  EXPECT_GT(report->profile.globalStores.requests, 0u);
}

/// Shown by whoever launched it, if anyone.
TEST(SimtDevice, WhatAKernelPrintsIsInItsReport) {
  RT_NVRTC_OR_SKIP(compiler);
  nvrtc::Source source;
  source.name = "print.cu";
  source.text =
      "extern \"C\" __global__ void say(int n) {\n"
      "  if (threadIdx.x < 2) printf(\"%u of %d\\n\", threadIdx.x, n);\n"
      "  assert(n < 3);\n}\n";
  auto device = createSimtDevice();
  auto module = llvm::cantFail(device->loadCuda(source));
  auto kernel = llvm::cantFail(module->getKernel("say"));
  EXPECT_EQ(llvm::toString(kernel->launch(warp(), makeArguments(2))), "");
  EXPECT_EQ(lastReport(*kernel)->printed, "0 of 2\n1 of 2\n");

  std::string message =
      llvm::toString(kernel->launch(warp(), makeArguments(3)));
  EXPECT_NE(message.find("print.cu:3: assertion-failed: expected 'n < 3'"),
            std::string::npos)
      << message;
  EXPECT_EQ(lastReport(*kernel)->printed, "0 of 3\n1 of 3\n");
}

TEST(SimtDevice, ABufferThatIsGoneIsOutOfBounds) {
  auto device = createSimtDevice();
  auto module = llvm::cantFail(device->loadPtx(storePtx));
  auto kernel = llvm::cantFail(module->getKernel("store"));
  auto buffer = llvm::cantFail(device->allocate(4));
  uint64_t address = buffer->address();
  buffer.reset();
  llvm::Error error = kernel->launch(LaunchShape(), makeArguments(address));
  EXPECT_TRUE(error.isA<FindingsError>());
  std::string message = llvm::toString(std::move(error));
  EXPECT_NE(message.find("out-of-bounds"), std::string::npos) << message;
}

TEST(SimtDevice, CompilesForTheArchitectureThatIsAskedFor) {
  RT_NVRTC_OR_SKIP(compiler);
  auto device = createSimtDevice();
  auto module = llvm::cantFail(device->loadCuda(strideSource()));
  EXPECT_EQ(module->compiled()->arch, "compute_80");
  SimtOptions options;
  options.arch = "compute_90a";
  module = llvm::cantFail(createSimtDevice(options)->loadCuda(strideSource()));
  EXPECT_EQ(module->compiled()->arch, "compute_90a");
  module = llvm::cantFail(device->loadCuda(strideSource(), "compute_75"));
  EXPECT_EQ(module->compiled()->arch, "compute_75");
}

TEST(SimtDevice, AKernelMayTakeTheAddressOfATensorMap) {
  RT_NVRTC_OR_SKIP(compiler);
  auto device = createSimtDevice();
  auto module =
      llvm::cantFail(device->loadCuda(gridConstantSource(), "compute_90a"));
  auto kernel = llvm::cantFail(module->getKernel("copyMap"));
  EXPECT_EQ(kernel->info().argumentBytes,
            (std::vector<int64_t>{1, 128, 8, 128}));
  EXPECT_EQ(kernel->info().maxThreads, 64);
  EncodedTensorMap first, second;
  std::iota(first.bytes.begin(), first.bytes.end(), uint8_t(1));
  second.bytes.fill(200);
  auto out = llvm::cantFail(device->allocate(131));
  EXPECT_EQ(llvm::toString(kernel->launch(
                warp(), makeArguments(int8_t(77), first, *out, second))),
            "");
  std::vector<uint8_t> expected(131, 200), got(131);
  for (int i = 1; i < 128; i += 2)
    expected[i] = first.bytes[i];
  expected[128] = 77;
  expected[129] = 0; // aligned to 64 bytes
  expected[130] = first.bytes[0];
  EXPECT_EQ(llvm::toString(out->copyTo(got.data(), 131)), "");
  EXPECT_EQ(got, expected);
}

TEST(SimtDevice, WithoutNvrtcCudaIsMissing) {
  ScopedVariable hide("RT_HIDE_CUDA", "1");
  auto module = createSimtDevice()->loadCuda(strideSource());
  ASSERT_FALSE(bool(module));
  llvm::Error error = module.takeError();
  EXPECT_EQ(int(problemOf(error)), int(Problem::Missing));
  EXPECT_EQ(llvm::toString(std::move(error)),
            "simt: NVRTC is hidden: expected RT_HIDE_CUDA unset or 0, got 1");
}

} // namespace
