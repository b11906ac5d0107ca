//===- TensorMapTest.cpp - what each device makes of a tensor map ---------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/TensorMap.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/device/simt/SimtDevice.h"

#include "tests/device/FakeCuda.h"
#include "tests/device/Support.h"

#include <cstring>

using namespace raytention;
using namespace raytention::device;
using namespace raytention::test;

namespace {

/// Three dimensions whose numbers all differ.
TensorShape threeDimensions() {
  TensorShape shape;
  shape.element = TensorElement::BF16;
  shape.rank = 3;
  shape.swizzle = Swizzle::Bytes64;
  shape.fillNaN = true;
  shape.size = {50, 7, 3};
  shape.stride = {0, 112, 800};
  shape.box = {32, 6, 5};
  shape.step = {1, 2, 3};
  return shape;
}
constexpr int64_t kBytes = 2 * 800 + 6 * 112 + 100, kOffset = 48;

std::string messageOn(const Device &device, const Buffer &buffer) {
  return messageOf(device.encodeTensorMap(buffer, kOffset, threeDimensions()));
}

std::string messageOn(Device &device) {
  return messageOn(device, *llvm::cantFail(device.allocate(kBytes + kOffset)));
}

/// The cuda device on a driver in host memory, of that compute capability.
std::shared_ptr<Device> fakeGpu(const char *capability,
                                const char *driver = RAYTENTION_FAKE_CUDA) {
  ScopedVariable show("RT_HIDE_CUDA", nullptr);
  ScopedVariable fake("RT_LIBCUDA", driver);
  ScopedVariable can("RT_FAKE_CUDA_CAPABILITY", capability);
  return llvm::cantFail(createCudaDevice());
}

TEST(TensorMapDevices, OnTheCpuThereAreNone) {
  EXPECT_EQ(messageOn(*createCpuDevice()),
            "cpu: tensor map: expected a GPU of compute capability 9.0 or "
            "newer, or the simt device, got no GPU");
}

TEST(TensorMapDevices, TheSimtDeviceHasItsOwn) {
  auto device = createSimtDevice();
  auto buffer = llvm::cantFail(device->allocate(kBytes + kOffset));
  TensorShape shape = threeDimensions();
  auto encoded =
      llvm::cantFail(device->encodeTensorMap(*buffer, kOffset, shape));
  std::optional<simt::TensorMap> map = simt::decode(encoded.bytes.data());
  ASSERT_TRUE(map);
  EXPECT_EQ(map->base, buffer->address() + kOffset);
  EXPECT_EQ(map->stride, shape.stride);
  EXPECT_EQ(map->bytesMoved(), shape.bytesMoved());
}

TEST(TensorMapDevices, TheDriverGetsWhatItsInterfaceSays) {
  auto device = fakeGpu("90");
  EXPECT_TRUE(device->capabilities().copiesTensors);
  auto buffer = llvm::cantFail(device->allocate(kBytes + kOffset));
  auto encoded = llvm::cantFail(
      device->encodeTensorMap(*buffer, kOffset, threeDimensions()));
  fake::TensorMapArguments got;
  std::memcpy(&got, encoded.bytes.data(), sizeof(got));
  EXPECT_EQ(got.type, 9u); // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
  EXPECT_EQ(got.rank, 3u);
  EXPECT_EQ(got.address, buffer->address() + kOffset);
  EXPECT_EQ(std::vector<uint64_t>(got.size, got.size + 5),
            (std::vector<uint64_t>{50, 7, 3, 0, 0}));
  EXPECT_EQ(std::vector<uint64_t>(got.stride, got.stride + 4),
            (std::vector<uint64_t>{112, 800, 0, 0}));
  EXPECT_EQ(std::vector<uint16_t>(got.box, got.box + 5),
            (std::vector<uint16_t>{32, 6, 5, 0, 0}));
  EXPECT_EQ(std::vector<uint8_t>(got.step, got.step + 5),
            (std::vector<uint8_t>{1, 2, 3, 0, 0}));
  EXPECT_EQ(got.interleave, 0); // CU_TENSOR_MAP_INTERLEAVE_NONE
  EXPECT_EQ(got.swizzle, 2);    // CU_TENSOR_MAP_SWIZZLE_64B
  EXPECT_EQ(got.promotion, 2);  // CU_TENSOR_MAP_L2_PROMOTION_L2_128B
  EXPECT_EQ(got.fill, 1); // CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
}

TEST(TensorMapDevices, OlderGpusAndDriversAreNamed) {
  std::string expected = "cuda:0: tensor map: expected a GPU of compute "
                         "capability 9.0 or newer, or the simt device, got ";
  EXPECT_EQ(messageOn(*fakeGpu("89")), expected + "one of 8.9");
  EXPECT_EQ(messageOn(*fakeGpu("120")), "");
  auto old = fakeGpu("90", RAYTENTION_FAKE_CUDA_OLD);
  EXPECT_FALSE(old->capabilities().copiesTensors);
  EXPECT_EQ(messageOn(*old),
            expected + "a driver without cuTensorMapEncodeTiled; update it");
}

TEST(TensorMapDevices, TheDriversRefusalIsNamed) {
  auto device = fakeGpu("90");
  ScopedVariable fail("RT_FAKE_CUDA_FAIL", "cuTensorMapEncodeTiled:1");
  EXPECT_EQ(messageOn(*device),
            "tensor map: cuda:0: cuTensorMapEncodeTiled: expected "
            "CUDA_SUCCESS, got CUDA_ERROR_INVALID_VALUE (1)");
}

/// The capability is asked first, then the buffer's owner.
TEST(TensorMapDevices, BuffersOfOtherDevicesAreRefused) {
  auto cpu = createCpuDevice(), simt = createSimtDevice();
  auto buffer = llvm::cantFail(cpu->allocate(kBytes + kOffset));
  EXPECT_EQ(messageOn(*simt, *buffer),
            "simt: tensor map: expected a buffer of this device, got one of "
            "cpu");
  EXPECT_EQ(messageOn(*fakeGpu("90"), *buffer),
            "cuda:0: tensor map: expected a buffer of this device, got one of "
            "cpu");
}

} // namespace
