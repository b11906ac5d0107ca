//===- LaunchTest.cpp - modules and launches of every device --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/conformance/Support.h"

#include <numeric>

using namespace raytention::device;
using namespace raytention::test;

namespace {

struct Pair {
  int32_t first;
  double second;
};

TEST_P(Conformance, LoadsWhatItSaysAndNamesTheRest) {
  const Capabilities &can = target->capabilities();
  raytention::nvrtc::Source source = kernelSource();
  if (!can.loadsCuda)
    expectProblem(target->loadCuda(source).takeError(), Problem::NotSupported,
                  "got CUDA C++");
  if (!can.loadsPtx)
    expectProblem(target->loadPtx(".version 8.0").takeError(),
                  Problem::NotSupported, "got PTX");
  if (!can.loadsCubin)
    expectProblem(target->loadCubin({'x'}).takeError(), Problem::NotSupported,
                  "got a cubin");
  if (!can.loadsEntryPoints)
    expectProblem(target->loadEntryPoints({}).takeError(),
                  Problem::NotSupported, "got compiled entry points");
}

TEST_P(Conformance, RefusesBrokenModules) {
  const Capabilities &can = target->capabilities();
  if (can.loadsPtx)
    expectProblem(target->loadPtx("this is no PTX").takeError(),
                  Problem::BuildFailed, "load");
  if (can.loadsCubin)
    expectProblem(target->loadCubin({'n', 'o'}).takeError(),
                  Problem::BuildFailed,
                  "expected a cubin (an ELF file), got 2 other bytes");
  if (can.loadsEntryPoints)
    expectProblem(
        target->loadEntryPoints({EntryPoint{"k", nullptr, {}}}).takeError(),
        Problem::BuildFailed, "entry point k: expected a function, got null");
}

TEST_P(Conformance, NamesTheKernelThatIsMissing) {
  expectProblem(module->getKernel("noSuchKernel").takeError(),
                Problem::InvalidArgument, "noSuchKernel");
  EXPECT_EQ(kernel("addOne")->info().name, "addOne");
}

TEST_P(Conformance, PassesArgumentsOfEverySize) {
  auto out = upload(std::vector<double>(7, 0.0));
  Pair pair{-7, 2.5};
  expectOk(kernel("mixed")->launch(
      LaunchShape(), makeArguments(int8_t(-3), int64_t(1) << 40, int16_t(-300),
                                   1e100, 0.5f, pair, *out)));
  EXPECT_EQ(download<double>(*out),
            (std::vector<double>{-3, double(int64_t(1) << 40), -300, 1e100, 0.5,
                                 -7, 2.5}));
}

TEST_P(Conformance, ArgumentsAreCopiedWhenTheyAreAdded) {
  auto values = upload(std::vector<int>{1, 1});
  int64_t count = 1;
  Arguments arguments = makeArguments(*values, count);
  count = 2;
  expectOk(kernel("addOne")->launch(shapeFor(*target, 2), arguments));
  EXPECT_EQ(download<int>(*values), (std::vector<int>{2, 1}));
}

TEST_P(Conformance, RefusesArgumentsThatDoNotFit) {
  auto addOne = kernel("addOne");
  if (!addOne->info().argumentBytes)
    GTEST_SKIP() << "this driver does not tell what a kernel takes";
  auto buffer = allocate(4);
  expectProblem(addOne->launch(LaunchShape(), makeArguments(*buffer)),
                Problem::InvalidArgument,
                "kernel addOne: expected 2 arguments, got 1");
  expectProblem(addOne->launch(LaunchShape(), makeArguments(*buffer, 1)),
                Problem::InvalidArgument,
                "argument 1: expected 8 bytes, got 4");
}

TEST_P(Conformance, RefusesShapesThatDoNotFit) {
  auto addOne = kernel("addOne");
  auto buffer = allocate(4);
  Arguments arguments = makeArguments(*buffer, int64_t(0));
  const Capabilities &can = target->capabilities();
  auto refuse = [&](LaunchShape shape, const std::string &part) {
    expectProblem(addOne->launch(shape, arguments), Problem::InvalidArgument,
                  "kernel addOne: expected " + part);
  };
  LaunchShape shape;
  shape.grid.y = -1;
  refuse(shape, "a grid of 0..");
  shape = LaunchShape();
  shape.grid.z = can.maxGrid.z + 1;
  refuse(shape, "a grid of 0.." + std::to_string(can.maxGrid.z) +
                    " along z, got " + std::to_string(can.maxGrid.z + 1));
  shape = LaunchShape();
  shape.block.x = 0;
  refuse(shape, "a block of 1..");
  shape.block.x = can.maxBlock.x + 1;
  refuse(shape, "a block of 1..");
  shape.block = can.maxBlock;
  if (can.maxBlock.x * can.maxBlock.y > can.maxThreadsPerBlock)
    refuse(shape, "at most ");
  shape = LaunchShape();
  shape.sharedBytes = can.maxSharedBytes + 1;
  refuse(shape, "0..");
  shape.sharedBytes = -1;
  refuse(shape, "0..");
}

TEST_P(Conformance, RunsEveryBlockOfAGridOnce) {
  auto out = upload(std::vector<int>(5 * 3 * 4, -1));
  LaunchShape shape;
  shape.grid = {5, 3, 4};
  expectOk(kernel("number")->launch(shape, makeArguments(*out, 5, 3)));
  std::vector<int> expected(5 * 3 * 4);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(download<int>(*out), expected);
}

TEST_P(Conformance, CountsAreExactAroundABlock) {
  for (int64_t count : {1, 127, 128, 129, 1000}) {
    std::vector<float> x(count), y(count), expected(count);
    for (int64_t i = 0; i < count; ++i) {
      x[i] = float(i % 64);
      y[i] = float(i % 7);
      expected[i] = 0.5f * x[i] + y[i];
    }
    auto xs = upload(x), ys = upload(y);
    expectOk(kernel("axpy")->launch(shapeFor(*target, count),
                                    makeArguments(0.5f, *xs, *ys, count)));
    EXPECT_EQ(download<float>(*ys), expected) << count;
  }
}

TEST_P(Conformance, BlocksHaveSharedMemoryOfTheirOwn) {
  // The last one is more than a GPU gives without being asked.
  for (int bytes : {1, 1000, 60000}) {
    auto sums = upload(std::vector<int>(6, -1));
    LaunchShape shape;
    shape.grid.x = 6;
    shape.sharedBytes = bytes;
    expectOk(kernel("useShared")->launch(shape, makeArguments(bytes, *sums)));
    std::vector<int> expected(6, 0);
    for (int block = 0; block < 6; ++block)
      for (int i = 0; i < bytes; ++i)
        expected[block] += uint8_t(i + block);
    EXPECT_EQ(download<int>(*sums), expected) << bytes;
  }
}

TEST_P(Conformance, RunsManyLaunches) {
  auto value = upload(std::vector<int>{0});
  auto addOne = kernel("addOne");
  auto stream = llvm::cantFail(target->createStream());
  Arguments arguments = makeArguments(*value, int64_t(1));
  for (int i = 0; i < 2000; ++i)
    expectOk(addOne->launchAsync(*stream, LaunchShape(), arguments));
  expectOk(stream->synchronize());
  EXPECT_EQ(download<int>(*value), std::vector<int>{2000});
}

TEST_P(Conformance, GivesTheSameBitsInEveryRun) {
  std::vector<float> x(777), y(777);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = 1.0f / float(i + 1);
    y[i] = 1e-3f * float(i);
  }
  auto xs = upload(x);
  std::vector<float> first;
  for (int round = 0; round < 5; ++round) {
    auto ys = upload(y);
    expectOk(kernel("axpy")->launch(
        shapeFor(*target, 777), makeArguments(1.7f, *xs, *ys, int64_t(777))));
    std::vector<float> got = download<float>(*ys);
    if (round == 0)
      first = got;
    EXPECT_EQ(got, first);
  }
}

} // namespace
