//===- PlanTest.cpp - hand-written plans on the simt device ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/exec/PlanProblem.h"
#include "tests/support/Results.h"

using namespace raytention;
using namespace raytention::test;

namespace {

/// Lengths, an offset, tiles that are full and not, more than one chunk.
const std::vector<PlanShape> kShapes = {
    {1, 0, {}},   {1, 0, {0, 1}},   {7, 2, {}},         {7, 2, {3, 7}},
    {33, 0, {}},  {33, 11, {}},     {33, 11, {16, 33}}, {70, 0, {}},
    {70, 23, {}}, {70, 0, {70, 0}}, {70, 23, {35, 70}}};
const std::vector<PlanShape> kFew = {{33, 11, {16, 33}}, {70, 0, {}}};

TEST(PlanRun, ComputesWhatTheCpuDoes) {
  RT_NVRTC_OR_SKIP(compiler);
  auto attention = compilePlan(readCentroidPlan());
  ASSERT_TRUE(attention);
  EXPECT_EQ(attention->signalWidth(), 64);
  expectLikeCpu(*attention, kShapes);
}

TEST(PlanRun, ReportsTheWorkspaceAndTheThreads) {
  RT_NVRTC_OR_SKIP(compiler);
  auto attention = compilePlan(readCentroidPlan(), 2 * 33 * 64 * 4);
  ASSERT_TRUE(attention);
  PlanProblem problem({33, 0, {}});
  PlanProblem::Result first, other;
  for (int threads : {1, 2, 3}) {
    RunReport report = test::cantFail(problem.run(*attention, other, threads));
    EXPECT_EQ(report.threads, threads);
    EXPECT_EQ(report.workspaceBytes, 2 * 33 * 64 * 4);
    EXPECT_EQ(report.workspaceBytesPerThread, 2 * 33 * 64 * 4);
    EXPECT_GT(report.runMs, 0);
    if (threads == 1)
      first = other;
    EXPECT_EQ(first.signals, other.signals);
  }
  PlanProblem longer({34, 0, {}});
  EXPECT_EQ(test::messageOf(longer.run(*attention, other)),
            "plan attend: expected at most 16896 bytes of workspace, got a "
            "need of 17408; use a smaller query chunk or tile, or raise the "
            "cap");
}

TEST(PlanRun, WhatIsNotWantedNeedsNoMemoryOfTheCaller) {
  RT_NVRTC_OR_SKIP(compiler);
  auto attention = compilePlan(readCentroidPlan());
  ASSERT_TRUE(attention);
  PlanProblem problem({20, 0, {}});
  PlanProblem::Result wanted = problem.expected();
  std::vector<float> signals(wanted.signals.size());
  Outputs outputs;
  outputs.signals = signals.data();
  test::cantFail(attention->run(problem.inputs, outputs, 1));
  EXPECT_NEAR(signals.back(), wanted.signals.back(), 1e-5);
  problem.inputs.numKeys = 0;
  test::cantFail(attention->run(problem.inputs, outputs, 1));
  EXPECT_EQ(signals, std::vector<float>(signals.size(), 0.0f));
  problem.inputs.batch = 0;
  test::cantFail(attention->run(problem.inputs, outputs, 1));
}

//===----------------------------------------------------------------------===//
// Edits
//===----------------------------------------------------------------------===//

TEST(PlanEdit, AnotherTileIsComputedAsWritten) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  text = edit(text, "%c8 = arith.constant 8 ", "%c8 = arith.constant 16 ", 3);
  text = edit(text, "constant 4608 ", "constant 5120 ");
  text = edit(text, "8x2xf32", "16x2xf32", 9);
  if (auto attention = compilePlan(text))
    expectLikeCpu(*attention, kFew);
}

const char *const kSecondLaunch = "  gpu.launch_func @kernels::@normalize";

TEST(PlanEdit, ALoopAndAConditionOnTheHostRun) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  // Twice the same sums; then the kernel that is chosen by the last time.
  text = edit(text, "  gpu.launch_func @kernels::@sum_keys",
              "  %c2 = arith.constant 2 : index\n"
              "  scf.for %again = %c0 to %c2 step %c1 {\n"
              "  gpu.launch_func @kernels::@sum_keys");
  text = edit(text, kSecondLaunch,
              std::string("  %last = arith.cmpi eq, %again, %c1 : index\n"
                          "  scf.if %last {\n") +
                  kSecondLaunch);
  text = edit(text, "  memref.dealloc", "  } }\n  memref.dealloc");
  if (auto attention = compilePlan(text))
    expectLikeCpu(*attention, kFew);
}

TEST(PlanEdit, AnotherOrderRunsAsWritten) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  size_t at = text.find(kSecondLaunch), end = text.find("  memref.dealloc");
  std::string launch = text.substr(at, end - at);
  std::string before = edit(text, "  gpu.launch_func @kernels::@sum_keys",
                            launch + "  gpu.launch_func @kernels::@sum_keys");
  // What the first launch makes of nothing, the last one overwrites.
  if (auto attention = compilePlan(before))
    expectLikeCpu(*attention, kFew);
  // Without the last one, the rows stay what nothing gives.
  std::string wrong = before;
  wrong.erase(wrong.rfind(launch), launch.size());
  auto attention = compilePlan(wrong);
  ASSERT_TRUE(attention);
  PlanProblem problem({33, 0, {}});
  PlanProblem::Result got, wanted = problem.expected();
  test::cantFail(problem.run(*attention, got));
  EXPECT_NE(got.signals, wanted.signals);
}

TEST(PlanEdit, AKernelBetweenOthersRuns) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  text =
      edit(text, kSecondLaunch,
           std::string("  %two = arith.constant 2.0 : f32\n"
                       "  gpu.launch_func @kernels::@\"scale by\" blocks in "
                       "(%rows, %batch, %c1) threads in (%c64, %c1, %c1)\n"
                       "    args(%two : f32, %sums : memref<?x?x64xf32>)\n") +
               kSecondLaunch);
  text = edit(text, "  gpu.func @normalize", R"(
  gpu.func @"scale by"(%factor: f32, %x: memref<?x?x64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.block_id x
    %b = gpu.block_id y
    %d = gpu.thread_id x
    %old = memref.load %x[%b, %i, %d] : memref<?x?x64xf32>
    %new = arith.mulf %old, %factor : f32
    memref.store %new, %x[%b, %i, %d] : memref<?x?x64xf32>
    gpu.return
  }
  gpu.func @normalize)");
  auto attention = compilePlan(text);
  ASSERT_TRUE(attention);
  PlanProblem problem({33, 0, {}});
  PlanProblem::Result got, wanted = problem.expected();
  test::cantFail(problem.run(*attention, got));
  for (size_t i = 0; i < wanted.norm.size(); ++i)
    ASSERT_NEAR(got.norm[i], 2 * wanted.norm[i], 1e-4) << i;
  for (size_t i = 0; i < wanted.signals.size(); ++i)
    ASSERT_NEAR(got.signals[i], wanted.signals[i], 1e-5) << i;
}

/// As bytes: memory of i1 is refused.
TEST(PlanEdit, TruthValuesPassThroughSharedMemory) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  text = edit(text, kSecondLaunch,
              std::string("  %c64_i32 = arith.constant 64 : i32\n"
                          "  gpu.launch_func @kernels::@double_even blocks in "
                          "(%rows, %batch, %c1) threads in (%c64, %c1, %c1)\n"
                          "    dynamic_shared_memory_size %c64_i32\n"
                          "    args(%sums : memref<?x?x64xf32>)\n") +
                  kSecondLaunch);
  // The thread at the other end says whether its own column is even.
  text = edit(text, "  gpu.func @normalize", R"(
  gpu.func @double_even(%x: memref<?x?x64xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c63 = arith.constant 63 : index
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %even = memref.view %shared[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xi8, #gpu.address_space<workgroup>>
    %i = gpu.block_id x
    %b = gpu.block_id y
    %d = gpu.thread_id x
    %rest = arith.remsi %d, %c2 : index
    %is_even = arith.cmpi eq, %rest, %c0 : index
    %byte = arith.extui %is_even : i1 to i8
    memref.store %byte, %even[%d] : memref<64xi8, #gpu.address_space<workgroup>>
    gpu.barrier
    %other = arith.subi %c63, %d : index
    %other_byte = memref.load %even[%other] : memref<64xi8, #gpu.address_space<workgroup>>
    %is_odd = arith.trunci %other_byte : i8 to i1
    %factor = arith.select %is_odd, %one, %two : f32
    %old = memref.load %x[%b, %i, %d] : memref<?x?x64xf32>
    %new = arith.mulf %old, %factor : f32
    memref.store %new, %x[%b, %i, %d] : memref<?x?x64xf32>
    gpu.return
  }
  gpu.func @normalize)");
  auto attention = compilePlan(text);
  ASSERT_TRUE(attention);
  PlanProblem problem({33, 0, {}});
  PlanProblem::Result got, wanted = problem.expected();
  test::cantFail(problem.run(*attention, got));
  for (size_t i = 0; i < wanted.signals.size(); ++i)
    ASSERT_NEAR(got.signals[i] * got.norm[i / 64],
                wanted.signals[i] * wanted.norm[i / 64] * (i % 2 ? 1 : 2), 1e-4)
        << i;
}

TEST(PlanEdit, KernelsMayStandInSeveralModules) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  text = edit(text, "  gpu.func @normalize",
              "}\ngpu.module @others {\n  gpu.func @sum_keys");
  text = edit(text, "@kernels::@normalize", "@others::@sum_keys");
  text += "func.func private @unused(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
          "  return %x : tensor<4xf32>\n}\n";
  size_t close = text.rfind("}\nfunc.func");
  text.erase(close, 2);
  if (auto attention = compilePlan(text + "}\n"))
    expectLikeCpu(*attention, kFew);
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

void expectFinding(const std::string &text, const std::string &kind) {
  auto attention = compilePlan(text);
  ASSERT_TRUE(attention);
  std::string message = runError(*attention);
  EXPECT_NE(message.find("expected no finding, got"), std::string::npos)
      << message;
  EXPECT_NE(message.find(kind), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST(PlanFault, IsAnErrorOfTheRun) {
  RT_NVRTC_OR_SKIP(compiler);
  std::string text = readCentroidPlan();
  std::string barrier = "        gpu.barrier\n", without = text;
  size_t at = without.find(barrier);
  ASSERT_NE(at, std::string::npos);
  without.erase(at, barrier.size());
  expectFinding(without, "race-in-block");
  expectFinding(edit(text, "memref.store %zero, %state[%i, %c1]",
                     "memref.store %zero, %state[%i, %c0]"),
                "uninitialized-shared");
  expectFinding(edit(text, "%n = arith.minsi %left, %c8 : index",
                     "%n = arith.addi %c0, %c8 : index", 2),
                "race-between-blocks");
  expectFinding(edit(text, "arith.constant 9024 ", "arith.constant 4500 "),
                "out-of-bounds");
}

} // namespace
