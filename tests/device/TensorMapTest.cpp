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
#include "runtime/device/cuda/Driver.h"
#include "runtime/device/simt/SimtDevice.h"

#include "tests/device/FakeCuda.h"
#include "tests/device/Support.h"

#include <cstring>
#include <random>

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

TEST(TensorMapDevices, ArgumentsAreAlignedAsTensorMapsAre) {
  Arguments arguments;
  for (int i = 0; i < 10; ++i)
    arguments.add(int8_t(i)).add(EncodedTensorMap());
  for (void *value : arguments.pointers())
    EXPECT_EQ(reinterpret_cast<uintptr_t>(value) % kTensorMapAlignment, 0u);
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

/// The driver in host memory, its context current, and some of its memory.
class FakeDriver {
public:
  FakeDriver() {
    ScopedVariable show("RT_HIDE_CUDA", nullptr);
    ScopedVariable fake("RT_LIBCUDA", RAYTENTION_FAKE_CUDA);
    driver = llvm::cantFail(cuda::Driver::open());
    void *context = nullptr;
    EXPECT_EQ(driver->cuDevicePrimaryCtxRetain(&context, 0), 0);
    EXPECT_EQ(driver->cuCtxPushCurrent_v2(context), 0);
    EXPECT_EQ(driver->cuMemAlloc_v2(&memory, 4096), 0);
  }
  ~FakeDriver() {
    void *context = nullptr;
    EXPECT_EQ(driver->cuMemFree_v2(memory), 0);
    EXPECT_EQ(driver->cuCtxPopCurrent_v2(&context), 0);
    EXPECT_EQ(driver->cuDevicePrimaryCtxRelease_v2(0), 0);
  }

  int encode(const TensorMap &map, int shift = 0, int interleave = 0,
             int promotion = 0) const {
    alignas(64) uint8_t bytes[192];
    return driver->cuTensorMapEncodeTiled(
        bytes + shift, int(map.element), map.rank, map.base, map.size.data(),
        map.stride.data() + 1, map.box.data(), map.step.data(), interleave,
        int(map.swizzle), promotion, map.fillNaN);
  }

  std::shared_ptr<cuda::Driver> driver;
  uint64_t memory = 0;
};

/// Sets one field to a value at the edge of what is allowed.
void changeOne(TensorMap &map, std::mt19937 &draw) {
  auto one = [&](std::initializer_list<uint64_t> values) {
    return values.begin()[draw() % values.size()];
  };
  unsigned i = draw() % 3;
  constexpr uint64_t maxSize = uint64_t(1) << 32, maxStride = uint64_t(1) << 40;
  switch (draw() % 9) {
  case 0:
    map.size[i] = one({0, 1, 7, 50, 56, 57, maxSize, maxSize + 1});
    break;
  case 1:
    map.stride[i] = one({0, 16, 96, 112, 120, 784, 800, maxStride - 16,
                         maxStride, maxStride + 16});
    break;
  case 2:
    map.box[i] = uint32_t(one({0, 1, 2, 8, 16, 32, 40, 64, 72, 256, 257}));
    break;
  case 3:
    map.step[1 + i] = uint32_t(one({0, 1, 8, 9}));
    break;
  case 4:
    map.rank = uint8_t(draw() % 7);
    break;
  case 5:
    map.element = TensorElement(draw() % 14);
    break;
  case 6:
    map.swizzle = Swizzle(draw() % 5);
    break;
  case 7:
    map.fillNaN = !map.fillNaN;
    break;
  case 8:
    map.base += one({0, 8, 16});
    break;
  }
}

/// The rules are written down twice, here and in the driver of the tests.
TEST(TensorMapDevices, TheRulesAreThoseOfTheDriver) {
  FakeDriver fake;
  std::mt19937 draw(1);
  int kept = 0;
  for (int round = 0; round < 20000; ++round) {
    TensorMap map{threeDimensions(), fake.memory};
    for (unsigned changes = draw() % 4; changes; --changes)
      changeOne(map, draw);
    std::string message = llvm::toString(checkTensorMap(map));
    ASSERT_EQ(fake.encode(map) == 0, message.empty()) << message;
    kept += message.empty();
  }
  EXPECT_GT(kept, 2000);
  EXPECT_LT(kept, 18000);
}

TEST(TensorMapDevices, TheDriverIsStrict) {
  constexpr int invalidValue = 1, invalidContext = 201;
  FakeDriver fake;
  TensorMap map{threeDimensions(), fake.memory};
  EXPECT_EQ(fake.encode(map), 0);
  EXPECT_EQ(fake.encode(map, 64), 0);
  EXPECT_EQ(fake.encode(map, 32), invalidValue);
  EXPECT_EQ(fake.encode(map, 0, 1), invalidValue);
  EXPECT_EQ(fake.encode(map, 0, 0, 3), 0);
  EXPECT_EQ(fake.encode(map, 0, 0, 4), invalidValue);
  map.base = 4096;
  EXPECT_EQ(fake.encode(map), invalidValue) << "not of the device";
  void *context = nullptr;
  EXPECT_EQ(fake.driver->cuCtxPopCurrent_v2(&context), 0);
  EXPECT_EQ(fake.encode(map), invalidContext);
  EXPECT_EQ(fake.driver->cuCtxPushCurrent_v2(context), 0);
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
