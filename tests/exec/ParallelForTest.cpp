//===- ParallelForTest.cpp - the worker pool --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ParallelFor.h"

#include "gtest/gtest.h"

#include <cfloat>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace raytention::cpu;

namespace {

/// Fills its workspace, then writes what follows from the task alone.
void square(void *arguments, int64_t task, void *workspace) {
  auto *scratch = static_cast<int64_t *>(workspace);
  for (int64_t i = 0; i < 64; ++i)
    scratch[i] = task + i;
  static_cast<int64_t *>(arguments)[task] +=
      std::accumulate(scratch, scratch + 64, int64_t(0));
}

/// Halves the smallest normal number.
void halve(void *arguments, int64_t task, void *) {
  volatile float smallest = FLT_MIN;
  static_cast<float *>(arguments)[task] = smallest * 0.5f;
}

void doNothing(void *, int64_t, void *) {}

TEST(ParallelFor, SameResultForAnyNumberOfThreads) {
  std::vector<int64_t> expected(1000);
  for (int64_t task = 0; task < 1000; ++task)
    expected[task] = 64 * task + 63 * 32;
  for (int threads = 1; threads <= 8; ++threads) {
    WorkerPool pool(threads);
    std::vector<int64_t> sums(1000, 0);
    llvm::cantFail(pool.parallelFor(square, 1000, 512, sums.data()));
    EXPECT_EQ(sums, expected) << threads << " threads";
  }
}

TEST(ParallelFor, WorkspacesArePageAlignedAndKeptWhileTheirSizeStays) {
  WorkerPool pool(1);
  auto note = [](void *arguments, int64_t, void *workspace) {
    *static_cast<void **>(arguments) = workspace;
  };
  void *first = nullptr, *second = nullptr;
  llvm::cantFail(pool.parallelFor(note, 1, 1 << 20, &first));
  llvm::cantFail(pool.parallelFor(note, 1, 1 << 20, &second));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 4096, 0u);
  EXPECT_EQ(first, second);
  EXPECT_EQ(pool.allocatedBytes(), 1 << 20);
  llvm::cantFail(pool.parallelFor(note, 1, 64, &first));
  EXPECT_EQ(pool.allocatedBytes(), 64);
}

TEST(ParallelFor, DenormalsAreZeroInTasksOnly) {
#if defined(__x86_64__)
  WorkerPool pool(2);
  std::vector<float> values(16, 1.0f);
  llvm::cantFail(pool.parallelFor(halve, 16, 0, values.data()));
  EXPECT_EQ(values, std::vector<float>(16, 0.0f));
  float outside = 0;
  halve(&outside, 0, nullptr);
  EXPECT_GT(outside, 0.0f);
#else
  GTEST_SKIP() << "no control of denormals here";
#endif
}

TEST(ParallelFor, RefusedWorkspaceIsAnError) {
  WorkerPool pool(2);
  llvm::Error error = pool.parallelFor(doNothing, 4, INT64_MAX - 5000, nullptr);
  EXPECT_EQ(llvm::toString(std::move(error)),
            "expected 9223372036854770807 bytes of workspace for one of 2 "
            "workers at least, got a refusal from the system; use a smaller "
            "tile");
  error = pool.parallelFor(doNothing, 4, -1, nullptr);
  EXPECT_EQ(llvm::toString(std::move(error)),
            "expected a workspace of at least 0 bytes, got -1");
}

/// A worker that gets no workspace leaves its part to the others.
TEST(ParallelFor, OneWorkspaceIsEnough) {
  pid_t child = fork();
  if (child == 0) {
    WorkerPool pool(3);
    std::vector<int64_t> sums(100, 0);
    llvm::cantFail(pool.parallelFor(square, 100, 512, sums.data()));
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    constexpr int64_t large = int64_t(1) << 30;
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + large + large / 2;
    setrlimit(RLIMIT_AS, &limit);
    if (llvm::Error error = pool.parallelFor(square, 100, large, sums.data()))
      _exit(2);
    _exit(sums[99] == 2 * (64 * 99 + 63 * 32) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(ParallelFor, CallbackUsesTheContextOfItsThread) {
  WorkerPool pool(3);
  EXPECT_EQ(RunContext::current(), nullptr);
  std::vector<int64_t> sums(10, 0);
  {
    RunContext context(pool);
    EXPECT_EQ(RunContext::current(), &context);
    rt_parallel_for(square, 10, 512, sums.data());
    EXPECT_EQ(context.bytesPerWorker(), 512);
    EXPECT_LE(context.bytesInTotal(), 3 * 512);
    EXPECT_FALSE(bool(context.takeError()));
  }
  EXPECT_EQ(RunContext::current(), nullptr);
  // Without one, the tasks still run.
  rt_parallel_for(square, 10, 512, sums.data());
  EXPECT_EQ(sums[1], 2 * (64 + 63 * 32));
}

TEST(ParallelFor, LoopsAfterAFailedOneDoNotRun) {
  WorkerPool pool(1);
  RunContext context(pool);
  rt_parallel_for(doNothing, 1, INT64_MAX - 5000, nullptr);
  std::vector<int64_t> sums(1, 0);
  rt_parallel_for(square, 1, 512, sums.data());
  EXPECT_EQ(sums[0], 0);
  EXPECT_TRUE(bool(context.takeError()));
}

} // namespace
