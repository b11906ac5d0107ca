//===- TensorMapTest.cpp - tensor maps of every device --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/Support.h"

#include "runtime/device/cpu/CpuDevice.h"

#include "llvm/Support/MemoryBuffer.h"

#include <numeric>

using namespace raytention::device;
using namespace raytention::test;

namespace {

/// Rows of 64 halves, 160 bytes apart: the last one ends 32 bytes early.
constexpr int64_t kRows = 10, kTensorBytes = 160 * kRows - 32;
TensorShape rowsOfHalves() {
  TensorShape shape;
  shape.element = TensorElement::F16;
  shape.rank = 2;
  shape.size = {64, kRows};
  shape.stride = {0, 160};
  shape.box = {64, 8};
  shape.swizzle = Swizzle::Bytes128;
  return shape;
}

TEST_P(Conformance, EncodesTensorMapsOrSaysThatItHasNone) {
  auto buffer = allocate(kTensorBytes);
  auto map = target->encodeTensorMap(*buffer, 0, rowsOfHalves());
  if (target->capabilities().copiesTensors) {
    ASSERT_TRUE(bool(map)) << llvm::toString(map.takeError());
    EXPECT_NE(map->bytes, EncodedTensorMap().bytes);
    return;
  }
  const char *part = "tensor map: expected a GPU of compute capability 9.0 or "
                     "newer, or the simt device, got ";
  ASSERT_FALSE(bool(map));
  expectProblem(map.takeError(), Problem::NotSupported, part);
  expectProblem(target->encodeTensorMap(*buffer, -1, {}).takeError(),
                Problem::NotSupported, part);
}

TEST_P(Conformance, RefusesTensorMapsThatBreakARule) {
  if (!target->capabilities().copiesTensors)
    return; // the test above has seen it say so
  auto buffer = allocate(4096);
  TensorShape shape = rowsOfHalves();
  expectProblem(target->encodeTensorMap(*buffer, 8, shape).takeError(),
                Problem::InvalidArgument,
                target->name() +
                    ": tensor map: expected a base aligned to 16 bytes, got");
  shape.box[1] = 257;
  expectProblem(target->encodeTensorMap(*buffer, 0, shape).takeError(),
                Problem::InvalidArgument,
                "tensor map: dimension 1: expected a box of 1..256 elements, "
                "got 257");
  expectProblem(target->encodeTensorMap(*buffer, 0, {}).takeError(),
                Problem::InvalidArgument,
                "dimension 0: expected a size of 1..4294967296 elements, "
                "got 0");
}

TEST_P(Conformance, RefusesTensorsOutsideTheirBuffer) {
  if (!target->capabilities().copiesTensors)
    return; // the test above has seen it say so
  auto buffer = allocate(kTensorBytes + 16);
  for (int64_t offset : {0, 16})
    expectOk(
        target->encodeTensorMap(*buffer, offset, rowsOfHalves()).takeError());
  for (int64_t offset : {int64_t(-16), int64_t(32), INT64_MAX - 15})
    expectProblem(
        target->encodeTensorMap(*buffer, offset, rowsOfHalves()).takeError(),
        Problem::InvalidArgument,
        "tensor map: expected a tensor within the buffer's 1584 bytes, got "
        "1568 bytes at " +
            std::to_string(offset));
  auto cpu = createCpuDevice();
  auto foreign = llvm::cantFail(cpu->allocate(kTensorBytes));
  expectProblem(
      target->encodeTensorMap(*foreign, 0, rowsOfHalves()).takeError(),
      Problem::InvalidArgument,
      "tensor map: expected a buffer of this device, got one of cpu");
}

/// Compiled for the architecture that first had tensor maps, or a GPU's own.
raytention::nvrtc::Source tensorSource() {
  raytention::nvrtc::Source source;
  source.name = "TensorKernel.cu";
  auto file = llvm::MemoryBuffer::getFile(RAYTENTION_TENSOR_KERNEL);
  source.text = file ? (*file)->getBuffer().str() : "";
  return source;
}

/// Rows behind the tensor, and columns before it, are zeros.
TEST_P(Conformance, MovesBoxesOfTensors) {
  if (!target->capabilities().copiesTensors)
    return; // the test above has seen it say so
  if (GetParam() == DeviceCase::FakeCuda)
    return; // runs no CUDA code
  auto loaded = target->loadCuda(
      tensorSource(), GetParam() == DeviceCase::Simt ? "compute_90a" : "");
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  auto copyBox = llvm::cantFail((*loaded)->getKernel("copyBox"));
  std::vector<uint16_t> values(kTensorBytes / 2);
  std::iota(values.begin(), values.end(), uint16_t(1));
  auto tensor = upload(values);
  auto map =
      llvm::cantFail(target->encodeTensorMap(*tensor, 0, rowsOfHalves()));
  auto out = upload(std::vector<uint16_t>(512, 7));
  LaunchShape shape;
  shape.block.x = 32;
  constexpr int column = -3, row = 5;
  expectOk(copyBox->launch(shape, makeArguments(map, column, row, *out)));
  std::vector<uint16_t> got = download<uint16_t>(*out);
  for (int i = 0; i < 512; ++i) {
    int x = column + i % 64, y = row + i / 64;
    bool inside = x >= 0 && y < kRows;
    EXPECT_EQ(got[i], inside ? values[y * 80 + x] : 0) << i;
  }
}

/// Whatever a map is on the device, its bytes get to the kernel.
TEST_P(Conformance, PassesArgumentsOfTheSizeOfATensorMap) {
  EncodedTensorMap map;
  std::iota(map.bytes.begin(), map.bytes.end(), uint8_t(7));
  auto out = upload(std::vector<uint8_t>(kTensorMapBytes + 1));
  expectOk(kernel("opaque")->launch(LaunchShape(),
                                    makeArguments(int8_t(-3), map, *out)));
  std::vector<uint8_t> got = download<uint8_t>(*out);
  EXPECT_EQ(int8_t(got.back()), -3);
  EXPECT_TRUE(std::equal(map.bytes.begin(), map.bytes.end(), got.begin()));
}

} // namespace
