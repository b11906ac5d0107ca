//===- MemoryTest.cpp - buffers of every device ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/Support.h"

#include "runtime/device/cpu/CpuDevice.h"

#include <numeric>
#include <random>

using namespace raytention::device;
using namespace raytention::test;

namespace {

std::vector<uint8_t> countUp(size_t size) {
  std::vector<uint8_t> values(size);
  std::iota(values.begin(), values.end(), uint8_t(0));
  return values;
}

TEST_P(Conformance, SaysWhatItIs) {
  const Capabilities &can = target->capabilities();
  EXPECT_EQ(target->name().rfind(getName(target->kind()).str(), 0), 0u);
  EXPECT_FALSE(can.description.empty());
  EXPECT_GT(can.memoryBytes, 0);
  EXPECT_GE(can.processors, 1);
  EXPECT_GE(can.warpSize, 1);
  EXPECT_GE(can.maxThreadsPerBlock, can.warpSize);
  EXPECT_GE(can.maxGrid.x, 65535);
  EXPECT_GT(can.maxSharedBytes, 0);
  EXPECT_TRUE(can.loadsCuda || can.loadsPtx || can.loadsCubin ||
              can.loadsEntryPoints);
}

TEST_P(Conformance, CopiesInAndOutAtAnyOffset) {
  std::vector<uint8_t> model = countUp(5000);
  auto buffer = upload(model);
  EXPECT_EQ(buffer->size(), 5000);
  std::mt19937 draw(1);
  for (int round = 0; round < 50; ++round) {
    int64_t offset = draw() % 5000, count = draw() % (5001 - offset);
    std::vector<uint8_t> piece(count);
    for (uint8_t &byte : piece)
      byte = uint8_t(draw());
    expectOk(buffer->copyFrom(piece.data(), count, offset));
    std::copy(piece.begin(), piece.end(), model.begin() + offset);
    int64_t from = draw() % 5000, bytes = draw() % (5001 - from);
    std::vector<uint8_t> back(bytes);
    expectOk(buffer->copyTo(back.data(), bytes, from));
    EXPECT_TRUE(std::equal(back.begin(), back.end(), model.begin() + from));
  }
  EXPECT_EQ(download<uint8_t>(*buffer), model);
}

TEST_P(Conformance, FillsARangeAndNothingElse) {
  std::vector<uint8_t> model = countUp(1000);
  auto buffer = upload(model);
  expectOk(buffer->fill(0xAB, 333, 101));
  std::fill(model.begin() + 101, model.begin() + 434, 0xAB);
  EXPECT_EQ(download<uint8_t>(*buffer), model);
  auto stream = llvm::cantFail(target->createStream());
  expectOk(buffer->fillAsync(*stream, 7, 1000));
  expectOk(stream->synchronize());
  EXPECT_EQ(download<uint8_t>(*buffer), std::vector<uint8_t>(1000, 7));
}

TEST_P(Conformance, SizeZeroIsNothingToDo) {
  auto empty = allocate(0);
  EXPECT_EQ(empty->size(), 0);
  expectOk(empty->copyFrom(nullptr, 0));
  expectOk(empty->copyTo(nullptr, 0));
  expectOk(empty->fill(1, 0));
  auto buffer = upload(std::vector<int>{5});
  expectOk(buffer->copyFrom(nullptr, 0, 4));
  auto addOne = kernel("addOne");
  for (Dim3 grid : {Dim3{0, 1, 1}, Dim3{1, 0, 1}, Dim3{1, 1, 0}}) {
    LaunchShape shape;
    shape.grid = grid;
    expectOk(addOne->launch(shape, makeArguments(*buffer, int64_t(1))));
  }
  // An empty buffer is an argument like any other.
  expectOk(addOne->launch(LaunchShape(), makeArguments(*empty, int64_t(0))));
  EXPECT_EQ(download<int>(*buffer), std::vector<int>{5});
}

TEST_P(Conformance, RefusesRangesOutsideTheBuffer) {
  auto buffer = allocate(16);
  char host[64] = {};
  const std::pair<int64_t, int64_t> wrong[] = {
      {17, 0}, {1, 16}, {-1, 0}, {4, -1}, {8, 9}, {INT64_MAX, 1}};
  for (auto [count, offset] : wrong) {
    std::string part = "expected a range within the buffer's 16 bytes, got " +
                       std::to_string(count) + " bytes at " +
                       std::to_string(offset);
    expectProblem(buffer->copyFrom(host, count, offset),
                  Problem::InvalidArgument, "copy in: " + part);
    expectProblem(buffer->copyTo(host, count, offset), Problem::InvalidArgument,
                  "copy out: " + part);
    expectProblem(buffer->fill(0, count, offset), Problem::InvalidArgument,
                  "fill: " + part);
  }
  expectProblem(buffer->copyFrom(nullptr, 4), Problem::InvalidArgument,
                "expected host memory, got a null pointer");
}

TEST_P(Conformance, RunsOutOfMemoryAndGoesOn) {
  int64_t all = target->capabilities().memoryBytes;
  for (int64_t bytes : {all + 1, INT64_MAX})
    expectProblem(target->allocate(bytes).takeError(), Problem::OutOfMemory,
                  "allocate");
  expectProblem(target->allocate(-1).takeError(), Problem::InvalidArgument,
                "expected 0 bytes or more, got -1");
  auto buffer = upload(std::vector<int>{1, 2, 3});
  EXPECT_EQ(download<int>(*buffer), (std::vector<int>{1, 2, 3}));
}

TEST_P(Conformance, RefusesWhatBelongsToAnotherDevice) {
  std::shared_ptr<Device> other = createCpuDevice(1);
  auto foreign = llvm::cantFail(other->allocate(4));
  auto stream = llvm::cantFail(other->createStream());
  auto event = llvm::cantFail(other->createEvent());
  auto own = allocate(4);
  auto ownStream = llvm::cantFail(target->createStream());
  char host[4] = {};
  expectProblem(own->copyFromAsync(*stream, host, 4), Problem::InvalidArgument,
                "expected a stream of this device, got one of cpu");
  expectProblem(ownStream->record(*event), Problem::InvalidArgument,
                "expected an event of this device, got one of cpu");
  auto addOne = kernel("addOne");
  Arguments arguments = makeArguments(*foreign, int64_t(1));
  expectProblem(addOne->launch(LaunchShape(), arguments),
                Problem::InvalidArgument,
                "argument: expected a buffer of this device, got one of cpu");
  expectProblem(addOne->launchAsync(*stream, LaunchShape(),
                                    makeArguments(*own, int64_t(1))),
                Problem::InvalidArgument, "expected a stream of this device");
}

} // namespace
