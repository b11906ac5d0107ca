//===- StreamTest.cpp - streams, threads and lifetimes --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/Support.h"

#include <algorithm>
#include <functional>
#include <thread>

using namespace raytention::device;
using namespace raytention::test;

namespace {

TEST_P(Conformance, AStreamKeepsItsOrder) {
  constexpr int64_t count = 1000;
  std::vector<int> host(count, 5), back(count, -1);
  auto buffer = allocate(count * 4);
  auto addOne = kernel("addOne");
  auto stream = llvm::cantFail(target->createStream());
  Arguments arguments = makeArguments(*buffer, count);
  expectOk(buffer->fillAsync(*stream, 0xFF, count * 4));
  expectOk(buffer->copyFromAsync(*stream, host.data(), count * 4));
  for (int i = 0; i < 10; ++i)
    expectOk(addOne->launchAsync(*stream, shapeFor(*target, count), arguments));
  expectOk(buffer->copyToAsync(*stream, back.data(), count * 4));
  expectOk(stream->synchronize());
  EXPECT_EQ(back, std::vector<int>(count, 15));
}

TEST_P(Conformance, EventsOrderTwoStreams) {
  constexpr int64_t count = 100000;
  auto buffer = upload(std::vector<int>(count, 0));
  auto addOne = kernel("addOne");
  auto first = llvm::cantFail(target->createStream());
  auto second = llvm::cantFail(target->createStream());
  auto event = llvm::cantFail(target->createEvent());
  Arguments arguments = makeArguments(*buffer, count);
  LaunchShape shape = shapeFor(*target, count);
  for (int i = 0; i < 4; ++i) {
    expectOk(addOne->launchAsync(*first, shape, arguments));
    expectOk(first->record(*event));
    expectOk(second->wait(*event));
    expectOk(addOne->launchAsync(*second, shape, arguments));
    expectOk(second->record(*event));
    expectOk(first->wait(*event));
  }
  expectOk(event->synchronize());
  EXPECT_TRUE(llvm::cantFail(event->isDone()));
  EXPECT_EQ(download<int>(*buffer), std::vector<int>(count, 8));
}

TEST_P(Conformance, EventsMeasureTime) {
  auto stream = llvm::cantFail(target->createStream());
  auto start = llvm::cantFail(target->createEvent());
  auto end = llvm::cantFail(target->createEvent());
  auto buffer = upload(std::vector<int>(1000, 0));
  expectOk(stream->record(*start));
  expectOk(kernel("addOne")->launchAsync(
      *stream, shapeFor(*target, 1000), makeArguments(*buffer, int64_t(1000))));
  expectOk(stream->record(*end));
  expectOk(end->synchronize());
  double milliseconds = llvm::cantFail(end->millisecondsSince(*start));
  EXPECT_GE(milliseconds, 0);
  EXPECT_LT(milliseconds, 60000);
}

TEST_P(Conformance, RefusesEventsThatWereNotRecorded) {
  auto stream = llvm::cantFail(target->createStream());
  auto event = llvm::cantFail(target->createEvent());
  auto recorded = llvm::cantFail(target->createEvent());
  expectOk(stream->record(*recorded));
  llvm::StringRef part = "expected an event that a stream recorded, got one "
                         "that none has";
  expectProblem(stream->wait(*event), Problem::InvalidArgument, part);
  expectProblem(event->synchronize(), Problem::InvalidArgument, part);
  expectProblem(event->isDone().takeError(), Problem::InvalidArgument, part);
  expectProblem(event->millisecondsSince(*recorded).takeError(),
                Problem::InvalidArgument, part);
  expectProblem(recorded->millisecondsSince(*event).takeError(),
                Problem::InvalidArgument, part);
}

TEST_P(Conformance, ManyThreadsUseOneDevice) {
  constexpr int threads = 4, launches = 50;
  constexpr int64_t count = 500;
  std::vector<std::vector<int>> results(threads);
  std::vector<std::string> errors(threads);
  auto work = [&](int self) -> llvm::Error {
    auto stream = target->createStream();
    if (!stream)
      return stream.takeError();
    auto buffer = target->allocate(count * 4);
    if (!buffer)
      return buffer.takeError();
    auto addOne = module->getKernel("addOne");
    if (!addOne)
      return addOne.takeError();
    results[self].assign(count, self);
    llvm::Error error =
        (*buffer)->copyFromAsync(**stream, results[self].data(), count * 4);
    Arguments arguments = makeArguments(**buffer, count);
    for (int i = 0; i < launches && !error; ++i)
      error =
          (*addOne)->launchAsync(**stream, shapeFor(*target, count), arguments);
    if (!error)
      error = (*buffer)->copyToAsync(**stream, results[self].data(), count * 4);
    return error ? std::move(error) : (*stream)->synchronize();
  };
  std::vector<std::thread> workers;
  for (int self = 0; self < threads; ++self)
    workers.emplace_back(
        [&, self] { errors[self] = llvm::toString(work(self)); });
  for (std::thread &worker : workers)
    worker.join();
  for (int self = 0; self < threads; ++self) {
    EXPECT_EQ(errors[self], "");
    EXPECT_EQ(results[self], std::vector<int>(count, self + launches));
  }
}

/// Each order of dropping the six objects; what is left still works.
TEST_P(Conformance, ObjectsGoInAnyOrder) {
  std::vector<int> order = {0, 1, 2, 3, 4, 5};
  do {
    std::shared_ptr<Device> device = target;
    auto kernels = kernel("addOne");
    auto stream = llvm::cantFail(device->createStream());
    auto event = llvm::cantFail(device->createEvent());
    auto buffer = llvm::cantFail(device->allocate(4));
    auto spare = llvm::cantFail(device->allocate(4));
    expectOk(stream->record(*event));
    const std::function<void()> drop[] = {
        [&] { device.reset(); }, [&] { kernels.reset(); },
        [&] { stream.reset(); }, [&] { event.reset(); },
        [&] { buffer.reset(); }, [&] { spare.reset(); }};
    for (int index : order)
      drop[index]();
  } while (std::next_permutation(order.begin(), order.end()));
  expectOk(target->synchronize());
}

TEST_P(Conformance, AKernelOutlivesItsModuleAndItsDevice) {
  auto addOne = kernel("addOne");
  auto buffer = upload(std::vector<int>{41});
  module.reset();
  target.reset();
  expectOk(addOne->launch(LaunchShape(), makeArguments(*buffer, int64_t(1))));
  int value = 0;
  expectOk(buffer->copyTo(&value, 4));
  EXPECT_EQ(value, 42);
}

} // namespace
