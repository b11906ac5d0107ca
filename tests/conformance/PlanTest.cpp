//===- PlanTest.cpp - plans on every device -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/PlanRunner.h"

#include "tests/conformance/Support.h"
#include "tests/plan/TestPlan.h"

using namespace raytention::device;
using namespace raytention::plan;
using namespace raytention::test;
using Id = TestPlan::Id;

namespace {

/// As addOne of Kernels.cu takes it.
constexpr int64_t kCount = 5;
const std::vector<int> kFirst = {10, 20, 30, 40, 50};

/// The plan over the kernels of the suite.
llvm::Expected<PlanRunner> create(std::shared_ptr<Device> device,
                                  const std::unique_ptr<Module> &module,
                                  const TestPlan &test) {
  return PlanRunner::create(std::move(device), test.plan,
                            llvm::ArrayRef(&module, 1));
}

/// A plan of one argument of `size` numbers.
llvm::Expected<PlanReport> run(std::shared_ptr<Device> device,
                               const std::unique_ptr<Module> &module,
                               const TestPlan &test, const Buffer &buffer,
                               int64_t size = kCount, int64_t cap = 1000) {
  auto runner = create(std::move(device), module, test);
  if (!runner)
    return runner.takeError();
  return runner->run({{&buffer, {0, {size}}}}, cap);
}

/// Adds 1 to its argument as often as the plan launches it.
struct AddOnes : TestPlan {
  AddOnes() {
    kernelId = kernel("addOne", {buffer({kDynamic})});
    x = argument(buffer({kDynamic}));
    n = dim(x, 0);
  }
  uint32_t kernelId;
  Id x, n;
};

TEST_P(Conformance, PlansRunTheirLaunchesInOrder) {
  AddOnes test;
  Id zero = test.constant(0), one = test.constant(1), three = test.constant(3);
  test.addFor(zero, three, one, {}, [&](auto &) {
    test.launch(test.kernelId, test.n, {test.x});
    test.yield({});
  });
  auto buffer = upload(kFirst);
  expectOk(run(target, module, test, *buffer).takeError());
  EXPECT_EQ(download<int>(*buffer), (std::vector<int>{13, 23, 33, 43, 53}));
}

TEST_P(Conformance, PlansPassValuesOfEveryKind) {
  TestPlan test;
  auto floats = TestPlan::buffer({kDynamic}, ElementType::F32);
  auto axpy =
      test.kernel("axpy", {TestPlan::scalar(ElementType::F32),
                           TestPlan::buffer({2}, ElementType::F32), floats});
  Id x = test.argument(floats), y = test.argument(floats);
  Id fixed = test.add(Opcode::Reshape, {x}, 0,
                      TestPlan::buffer({2}, ElementType::F32));
  Id half = test.constant(0x3f000000, ElementType::F32);
  test.launch(axpy, test.constant(2), {half, fixed, y});
  auto xs = upload(std::vector<float>{4, 6}), ys = upload<float>({1, 2});
  auto runner = create(target, module, test);
  ASSERT_TRUE(bool(runner)) << llvm::toString(runner.takeError());
  expectOk(
      runner->run({{xs.get(), {0, {2}}}, {ys.get(), {0, {2}}}}, 0).takeError());
  EXPECT_EQ(download<float>(*ys), (std::vector<float>{3, 5}));
}

TEST_P(Conformance, PlansWorkOnBuffersOfTheirOwn) {
  TestPlan test;
  auto ints = TestPlan::buffer({kDynamic});
  auto sums = test.kernel("useShared", {TestPlan::scalar(ElementType::I32),
                                        TestPlan::buffer({kCount})});
  auto addOne = test.kernel("addOne", {ints});
  Id x = test.argument(ints), n = test.dim(x, 0), one = test.constant(1);
  Id bytes = test.constant(16, ElementType::I32);
  // Scratch of an iteration; then the argument gets the same sums.
  test.addFor(test.constant(0), n, one, {}, [&](auto &) {
    Id own = test.alloc(TestPlan::buffer({kCount}));
    test.append(Opcode::Launch, {n, one, one, one, one, one, bytes, bytes, own},
                sums);
    test.free(own);
    test.yield({});
  });
  Id fixed = test.add(Opcode::Reshape, {x}, 0, TestPlan::buffer({kCount}));
  test.append(Opcode::Launch, {n, one, one, one, one, one, bytes, bytes, fixed},
              sums);
  test.launch(addOne, n, {x});
  auto buffer = upload(kFirst);
  auto report = run(target, module, test, *buffer);
  ASSERT_TRUE(bool(report)) << llvm::toString(report.takeError());
  EXPECT_EQ(report->workspaceBytes, 20);
  EXPECT_GE(report->milliseconds, 0);
  EXPECT_EQ(download<int>(*buffer),
            (std::vector<int>{121, 137, 153, 169, 185}));
}

TEST_P(Conformance, PlansKeepToTheCapOfTheWorkspace) {
  AddOnes test;
  test.launch(test.kernelId, test.n, {test.x});
  test.free(test.alloc(TestPlan::buffer({kDynamic}), {test.n}));
  auto buffer = upload(kFirst);
  EXPECT_EQ(llvm::toString(
                run(target, module, test, *buffer, kCount, 19).takeError()),
            "plan test: expected at most 19 bytes of workspace, got a need of "
            "20; use a smaller query chunk or tile, or raise the cap");
  EXPECT_EQ(download<int>(*buffer), kFirst) << "nothing runs";
  expectOk(run(target, module, test, *buffer, kCount, 20).takeError());
}

TEST_P(Conformance, PlansTakeNullBuffersOfNothing) {
  AddOnes test;
  test.launch(test.kernelId, test.n, {test.x});
  auto runner = create(target, module, test);
  ASSERT_TRUE(bool(runner)) << llvm::toString(runner.takeError());
  expectOk(runner->run({{nullptr, {0, {0}}}}, 0).takeError());
}

TEST_P(Conformance, PlansRefuseWhatDoesNotFit) {
  AddOnes test;
  test.launch(test.kernelId, test.n, {test.x});
  auto buffer = upload(kFirst);
  EXPECT_EQ(llvm::toString(run(target, module, test, *buffer, 6).takeError()),
            "plan test: argument 0: expected a buffer of 24 bytes, got 20");
  // A grid that no device has.
  AddOnes wide;
  Id one = wide.constant(1), many = wide.constant(int64_t(1) << 40);
  wide.append(Opcode::Launch,
              {one, many, one, one, one, one, wide.constant(0), wide.x},
              wide.kernelId);
  std::string message =
      llvm::toString(run(target, module, wide, *buffer).takeError());
  EXPECT_NE(message.find("expected a grid of 0.."), std::string::npos)
      << message;
  EXPECT_NE(message.find("along y, got 1099511627776"), std::string::npos)
      << message;
  TestPlan unknown;
  unknown.kernel("noSuchKernel", {});
  EXPECT_NE(llvm::toString(create(target, module, unknown).takeError())
                .find("noSuchKernel"),
            std::string::npos);
  unknown.plan.kernels[0] = {"addOne", 3, {1, 1, 1}, {}};
  EXPECT_EQ(llvm::toString(create(target, module, unknown).takeError()),
            "kernel addOne: expected a module of number 3, got 1 modules");
}

TEST_P(Conformance, PlansTellWrongAccesses) {
  if (!target->capabilities().findsFaults)
    return;
  // The kernel takes a size that the buffer has not.
  TestPlan test;
  auto kernel = test.kernel("addOne", {TestPlan::buffer({kCount}),
                                       TestPlan::scalar(ElementType::Index)});
  Id x = test.argument(TestPlan::buffer({kCount}));
  Id more = test.constant(kCount + 1);
  test.launch(kernel, more, {x, more});
  auto buffer = upload(kFirst);
  llvm::Error error = run(target, module, test, *buffer).takeError();
  EXPECT_EQ(int(problemOf(error)), int(Problem::Findings));
  std::string message = llvm::toString(std::move(error));
  EXPECT_NE(message.find("out-of-bounds"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

} // namespace
