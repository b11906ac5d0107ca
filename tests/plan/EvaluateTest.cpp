//===- EvaluateTest.cpp - what a plan does for given sizes ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/plan/TestPlan.h"

#include "gtest/gtest.h"

#include <limits>

using namespace raytention;
using namespace raytention::plan;
using namespace raytention::test;
using Id = TestPlan::Id;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

std::string errorOf(const TestPlan &test,
                    std::vector<ArgumentSize> arguments = {}) {
  return llvm::toString(evaluate(test.plan, arguments).takeError());
}

/// Launches that tell a value as the x of their grid.
class Probe : public TestPlan {
public:
  Probe() : probe(kernel("probe", {})) {}
  void tell(Id value) { launch(probe, value, {}); }
  std::vector<int64_t> told(std::vector<ArgumentSize> arguments = {}) const {
    auto commands = evaluate(plan, arguments);
    EXPECT_TRUE(bool(commands)) << llvm::toString(commands.takeError());
    std::vector<int64_t> values;
    if (commands)
      for (const Command &command : commands->list)
        values.push_back(command.grid[0]);
    return values;
  }

private:
  uint32_t probe;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST(Evaluate, KnowsSizesAndIndices) {
  Probe test;
  Id x = test.argument(TestPlan::buffer({kDynamic, 7, kDynamic}));
  Id offset = test.argument(TestPlan::scalar(ElementType::Index));
  for (int64_t dim : {0, 1, 2})
    test.tell(test.dim(x, dim));
  test.tell(offset);
  EXPECT_EQ(test.told({{0, {3, 7, 5}}, {11, {}}}),
            (std::vector<int64_t>{3, 7, 5, 11}));
}

TEST(Evaluate, ComputesInTheWidthOfTheType) {
  Probe test;
  auto i32 = TestPlan::scalar(ElementType::I32);
  Id a = test.constant(2147483647, ElementType::I32);
  Id b = test.constant(3, ElementType::I32);
  Id sum = test.add(Opcode::Add, {a, b}, 0, i32); // wraps
  Id wide = test.add(Opcode::CastS, {sum}, 64, i32);
  test.tell(test.add(Opcode::Sub, {test.constant(7), wide}));
  test.tell(test.add(Opcode::CastU, {sum}, 64, i32));
  EXPECT_EQ(test.told(), (std::vector<int64_t>{2147483653, 2147483650}));
}

TEST(Evaluate, ChoosesByConditions) {
  Probe test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  Id ten = test.constant(10), one = test.constant(1);
  Id isLess = test.add(Opcode::Cmp, {n, ten}, int64_t(Predicate::SLT),
                       TestPlan::scalar(ElementType::Index));
  test.tell(test.add(Opcode::Select, {isLess, one, ten}));
  auto chosen = test.addIf(
      isLess,
      [&] {
        test.yield({test.add(Opcode::Add, {n, one})});
      },
      [&] { test.yield({ten}); }, 1);
  test.tell(chosen[0]);
  test.addIf(
      isLess,
      [&] {
        test.tell(one);
        test.yield({});
      },
      [] {});
  EXPECT_EQ(test.told({{4, {}}}), (std::vector<int64_t>{1, 5, 1}));
  EXPECT_EQ(test.told({{12, {}}}), (std::vector<int64_t>{10, 10}));
}

TEST(Evaluate, LoopsCarryValues) {
  Probe test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  Id zero = test.constant(0), one = test.constant(1), two = test.constant(2);
  // Fibonacci: both are carried at once.
  auto pair = test.addFor(zero, n, two, {one, two}, [&](auto &carried) {
    test.tell(test.add(Opcode::Add, {carried[0], one}));
    test.yield({carried[2], test.add(Opcode::Add, {carried[1], carried[2]})});
  });
  test.tell(pair[0]);
  EXPECT_EQ(test.told({{7, {}}}), (std::vector<int64_t>{1, 3, 5, 7, 8}));
  EXPECT_EQ(test.told({{0, {}}}), (std::vector<int64_t>{1}));
  EXPECT_EQ(test.told({{-3, {}}}), (std::vector<int64_t>{1}));
}

TEST(Evaluate, LoopsNestAndEndBeforeTheirCounterWraps) {
  Probe test;
  Id one = test.constant(1), two = test.constant(2);
  Id high = test.constant(kMax), low = test.constant(kMax - 3);
  auto sum = test.addFor(low, high, two, {one}, [&](auto &outer) {
    auto inner = test.addFor(one, two, one, {outer[1]}, [&](auto &carried) {
      test.yield({test.add(Opcode::Mul, {carried[1], two})});
    });
    test.yield({inner[0]});
  });
  test.tell(sum[0]);
  EXPECT_EQ(test.told(), (std::vector<int64_t>{4}));
}

//===----------------------------------------------------------------------===//
// Buffers and launches
//===----------------------------------------------------------------------===//

TEST(Evaluate, KernelsGetAddressesDynamicSizesAndNumbers) {
  TestPlan test;
  Id x = test.argument(TestPlan::buffer({kDynamic, 4, kDynamic}));
  auto f32 = TestPlan::scalar(ElementType::F32);
  auto kernel = test.kernel("k", {TestPlan::buffer({kDynamic, 4, kDynamic}),
                                  TestPlan::scalar(ElementType::Index), f32});
  Id n = test.dim(x, 0), half = test.constant(0x3f000000, ElementType::F32);
  test.launch(kernel, n, {x, n, half});
  auto commands = llvm::cantFail(evaluate(test.plan, {{0, {2, 4, 3}}}));
  ASSERT_EQ(commands.list.size(), 1u);
  const auto &arguments = commands.list[0].arguments;
  ASSERT_EQ(arguments.size(), 5u);
  EXPECT_TRUE(arguments[0].isMemory);
  EXPECT_EQ(arguments[0].memory, 0u);
  EXPECT_EQ(arguments[1].bits, 2);
  EXPECT_EQ(arguments[2].bits, 3);
  EXPECT_EQ(arguments[3].bits, 2);
  EXPECT_EQ(arguments[3].bytes, 8);
  EXPECT_EQ(arguments[4].bits, 0x3f000000);
  EXPECT_EQ(arguments[4].bytes, 4);
}

TEST(Evaluate, CountsThePeakOfTheWorkspace) {
  TestPlan test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  auto type = TestPlan::buffer({kDynamic, 2});
  Id a = test.alloc(type, {n});                               // 8 n
  Id b = test.alloc(TestPlan::buffer({5}, ElementType::F64)); // 40
  test.free(a);
  Id c = test.alloc(TestPlan::buffer({kDynamic}, ElementType::BF16), {n});
  test.free(b);
  test.free(c);
  auto commands = llvm::cantFail(evaluate(test.plan, {{100, {}}}));
  EXPECT_EQ(commands.workspaceBytes, 840);
  EXPECT_EQ(commands.memoryBytes, (std::vector<int64_t>{800, 40, 200}));
  EXPECT_EQ(commands.list.size(), 6u);
  EXPECT_EQ(llvm::cantFail(evaluate(test.plan, {{1, {}}})).workspaceBytes, 48);
}

TEST(Evaluate, ABufferOfALoopIsANewOneEachTime) {
  TestPlan test;
  Id zero = test.constant(0), one = test.constant(1), three = test.constant(3);
  test.addFor(zero, three, one, {}, [&](auto &) {
    Id x = test.alloc(TestPlan::buffer({4}));
    test.free(x);
    test.yield({});
  });
  auto commands = llvm::cantFail(evaluate(test.plan, {}));
  EXPECT_EQ(commands.memoryBytes.size(), 3u);
  EXPECT_EQ(commands.workspaceBytes, 16);
}

TEST(Evaluate, AGridOfZeroRunsNothing) {
  Probe test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  test.tell(n);
  EXPECT_EQ(test.told({{0, {}}}), std::vector<int64_t>{});
  EXPECT_EQ(test.told({{2, {}}}), std::vector<int64_t>{2});
}

TEST(Evaluate, ACastHasToFit) {
  TestPlan test;
  Id x = test.argument(TestPlan::buffer({kDynamic}));
  Id fixed = test.add(Opcode::Reshape, {x}, 0, TestPlan::buffer({4}));
  test.launch(test.kernel("k", {TestPlan::buffer({4})}), test.constant(1),
              {fixed});
  EXPECT_EQ(errorOf(test, {{0, {4}}}), "");
  EXPECT_EQ(errorOf(test, {{0, {5}}}),
            "plan test: cast: expected a buffer of shape [4], got [5]");
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST(Evaluate, ArgumentsHaveToFit) {
  TestPlan test;
  test.argument(TestPlan::buffer({kDynamic, 4}));
  EXPECT_EQ(errorOf(test), "plan test: expected 1 arguments, got 0");
  EXPECT_EQ(errorOf(test, {{0, {3, 5}}}),
            "plan test: argument 0: expected a buffer of shape [?, 4], got "
            "[3, 5]");
  EXPECT_EQ(errorOf(test, {{0, {3}}}),
            "plan test: argument 0: expected a buffer of shape [?, 4], got "
            "[3]");
  EXPECT_EQ(errorOf(test, {{0, {-1, 4}}}),
            "plan test: argument 0: expected sizes of 0 or more, got [-1, 4]");
  EXPECT_EQ(errorOf(test, {{0, {int64_t(1) << 60, 4}}}),
            "plan test: argument 0: expected less than 2^63 bytes, got "
            "[1152921504606846976, 4] of 4 bytes each");
}

TEST(Evaluate, SizesHaveToBeSizes) {
  TestPlan test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  test.alloc(TestPlan::buffer({kDynamic, kDynamic}), {n, n});
  EXPECT_EQ(errorOf(test, {{-1, {}}}),
            "plan test: alloc: expected sizes of 0 or more, got [-1, -1]");
  EXPECT_EQ(errorOf(test, {{int64_t(1) << 31, {}}}),
            "plan test: alloc: expected less than 2^63 bytes, got "
            "[2147483648, 2147483648] of 4 bytes each");
  EXPECT_EQ(errorOf(test, {{0, {}}}), "");
  TestPlan many;
  for (int i = 0; i < 3; ++i)
    many.alloc(TestPlan::buffer({int64_t(1) << 60}));
  EXPECT_EQ(errorOf(many), "plan test: alloc: expected less than 2^63 bytes in "
                           "total, got more");
}

TEST(Evaluate, FreedBuffersAreGone) {
  auto used = [](auto use) {
    TestPlan test;
    auto kernel = test.kernel("k", {TestPlan::buffer({4})});
    Id x = test.argument(TestPlan::buffer({4}));
    Id y = test.alloc(TestPlan::buffer({4}));
    use(test, kernel, x, y);
    return errorOf(test, {{0, {4}}});
  };
  EXPECT_EQ(used([](TestPlan &test, uint32_t, Id, Id y) {
              test.free(y);
              test.free(y);
            }),
            "plan test: free: expected a buffer that is still allocated, got a "
            "freed one");
  EXPECT_EQ(used([](TestPlan &test, uint32_t kernel, Id, Id y) {
              test.free(y);
              test.launch(kernel, test.constant(1), {y});
            }),
            "plan test: launch of k: expected a buffer that is still "
            "allocated, got a freed one");
  EXPECT_EQ(used([](TestPlan &test, uint32_t, Id x, Id) { test.free(x); }),
            "plan test: free: expected a buffer that the plan allocated, got "
            "one of its arguments");
}

TEST(Evaluate, LaunchesHaveToBePossible) {
  auto launched = [](int64_t x, int64_t blockY, int64_t shared) {
    TestPlan test;
    auto kernel = test.kernel("k", {});
    Id one = test.constant(1);
    test.append(Opcode::Launch,
                {test.constant(x), one, one, one, test.constant(blockY), one,
                 test.constant(shared)},
                kernel);
    return errorOf(test);
  };
  EXPECT_EQ(launched(1, 1, 0), "");
  EXPECT_EQ(launched(-1, 1, 0), "plan test: launch of k: expected a grid of 0 "
                                "or more along x, got -1");
  EXPECT_EQ(launched(1, 2, 0),
            "plan test: launch of k: expected a block of 1 along y, got 2");
  EXPECT_EQ(launched(1, 1, -4), "plan test: launch of k: expected 0 bytes of "
                                "shared memory or more, got -4");
}

TEST(Evaluate, LoopsHaveToEnd) {
  TestPlan test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  Id zero = test.constant(0), last = test.constant(kMax);
  test.addFor(zero, last, n, {}, [&](auto &) { test.yield({}); });
  EXPECT_EQ(errorOf(test, {{0, {}}}),
            "plan test: for: expected a step above 0, got 0");
  EXPECT_EQ(errorOf(test, {{-1, {}}}),
            "plan test: for: expected a step above 0, got -1");
  EXPECT_EQ(errorOf(test, {{1, {}}}),
            "plan test: expected a host program of at most 4194304 steps, got "
            "more");
}

TEST(Evaluate, ArithmeticHasToBeDefined) {
  TestPlan test;
  Id n = test.argument(TestPlan::scalar(ElementType::Index));
  test.add(Opcode::CeilDivS, {n, n});
  EXPECT_EQ(errorOf(test, {{3, {}}}), "");
  EXPECT_EQ(errorOf(test, {{0, {}}}),
            "plan test: ceildivsi: expected a divisor other than 0, got 0");
  TestPlan outside;
  Id x = outside.argument(TestPlan::buffer({4}));
  outside.dim(x, 1);
  EXPECT_EQ(errorOf(outside, {{0, {4}}}),
            "plan test: dim: expected a dimension below 1, got 1");
}

TEST(Plan, Prints) {
  TestPlan test;
  Id x = test.argument(TestPlan::buffer({kDynamic, 4}, ElementType::F32));
  auto kernel =
      test.kernel("k", {TestPlan::buffer({kDynamic, 4}, ElementType::F32)});
  Id n = test.dim(x, 0), one = test.constant(1);
  test.addFor(one, n, one, {n}, [&](auto &carried) {
    Id y = test.alloc(TestPlan::buffer({kDynamic}), {carried[0]});
    test.launch(kernel, n, {x});
    test.free(y);
    test.yield({n});
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  test.plan.print(os);
  EXPECT_EQ(text, "plan test(%0: buffer<?x4xf32>)\n"
                  "kernel k(buffer<?x4xf32>) block 1, 1, 1\n"
                  "{\n"
                  "  %1 = constant 0 : index\n"
                  "  %2 = dim %0, %1\n"
                  "  %3 = constant 1 : index\n"
                  "  %9 = for %3, %2, %3, %2 { (%4, %5)\n"
                  "    %6 = alloc %4 : buffer<?xi32>\n"
                  "    %7 = constant 1 : index\n"
                  "    %8 = constant 0 : index\n"
                  "    launch k %2, %7, %7, %7, %7, %7, %8, %0\n"
                  "    free %6\n"
                  "    yield %2\n"
                  "  }\n"
                  "}\n");
}

} // namespace
