//===- CrewTest.cpp - threads that work together --------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Crew.h"

#include "runtime/support/FloatEnvironment.h"
#include "tools/oracle/Workers.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cerrno>
#include <cfenv>
#include <cfloat>
#include <chrono>
#include <mutex>
#include <set>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace raytention;

/// Threads that the system still has; below 0 as many as wanted.
static std::atomic<int> threadsLeft{-1};

/// Stands before the system's in this program.
extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                              void *(*body)(void *), void *argument) {
  using Function =
      int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static auto system =
      reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  int left = threadsLeft;
  if (left == 0)
    return EAGAIN;
  if (left > 0)
    threadsLeft = left - 1;
  return system(thread, how, body, argument);
}

namespace {

/// Lets the system have `count` threads more.
class FewThreads {
public:
  explicit FewThreads(int count) { threadsLeft = count; }
  ~FewThreads() { threadsLeft = -1; }
};

/// The numbers that the workers of one run got.
std::multiset<int> numbersOf(Crew &crew, int limit) {
  std::mutex mutex;
  std::multiset<int> numbers;
  int count = crew.run(limit, [&](int worker) {
    std::lock_guard<std::mutex> lock(mutex);
    numbers.insert(worker);
  });
  EXPECT_EQ(int(numbers.size()), count);
  return numbers;
}

/// Exit status of `body` in a process of its own; far too long ends it.
int inChild(llvm::function_ref<bool()> body) {
  pid_t child = fork();
  if (child == 0) {
    alarm(120);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Crew, EachWorkerOnceInEachRun) {
  Crew crew(4);
  for (int limit : {4, 1, 3, 2, 4, 9, 4}) {
    std::multiset<int> numbers = numbersOf(crew, limit);
    std::multiset<int> expected;
    for (int worker = 0; worker < std::min(limit, 4); ++worker)
      expected.insert(worker);
    EXPECT_EQ(numbers, expected);
  }
  EXPECT_EQ(crew.workers(), 4);
}

TEST(Crew, ManyRunsFollowEachOther) {
  Crew crew(3);
  std::atomic<int> calls{0};
  for (int run = 0; run < 2000; ++run)
    crew.run(1 + run % 3, [&](int) { ++calls; });
  EXPECT_EQ(calls, 667 * 1 + 667 * 2 + 666 * 3);
}

TEST(Crew, FewerWorkersWhereThreadsAreRefused) {
  for (int left : {0, 1, 2}) {
    FewThreads few(left);
    Crew crew(8);
    EXPECT_EQ(int(numbersOf(crew, 8).size()), left + 1);
    EXPECT_EQ(crew.workers(), left + 1);
    EXPECT_EQ(crew.wanted(), 8);
    threadsLeft = -1; // they are tried for again
    EXPECT_EQ(int(numbersOf(crew, 8).size()), 8);
    EXPECT_EQ(crew.workers(), 8);
  }
  FewThreads few(0);
  EXPECT_FALSE(startThread([] {}).joinable());
  EXPECT_EQ(runTogether(5, [](int) {}), 1);
}

TEST(Crew, TheOracleDoesWithFewerThreads) {
  for (int left : {0, 1, 20}) {
    FewThreads few(left);
    std::vector<std::atomic<int>> visits(100);
    oracle::forEachIndex(100, 16, [&](size_t n, int worker) {
      EXPECT_LT(worker, 16);
      ++visits[n];
    });
    for (auto &visit : visits)
      EXPECT_EQ(visit, 1);
  }
}

TEST(Crew, OneCpuMakesOneWorkerOfTheOracle) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before))
      CPU_SET(cpu, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(oracle::workerCount(0), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
  EXPECT_EQ(oracle::workerCount(0), CPU_COUNT(&before));
  EXPECT_EQ(oracle::workerCount(7), 7);
}

/// Threads inherit the modes of the one that starts them.
TEST(Crew, EveryWorkerRoundsToNearest) {
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    Crew crew(3);
    std::fesetround(mode);
    std::atomic<int> others{0};
    auto look = [&](int = 0) {
      volatile float smallest = FLT_MIN;
      others += std::fegetround() != FE_TONEAREST || smallest * 0.5f == 0;
    };
    crew.run(3, look);
    oracle::forEachIndex(3, 3, [&](size_t, int) { look(); });
    EXPECT_EQ(std::fegetround(), mode);
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(others, 0) << mode;
  }
}

TEST(Crew, WorksInTheChildOfAFork) {
  Crew crew(3);
  numbersOf(crew, 3);
  EXPECT_EQ(inChild([&] {
              bool here = numbersOf(crew, 3).size() == 3;
              int below =
                  inChild([&] { return numbersOf(crew, 3).size() == 3; });
              return here && below == 0 && forkDepth() == 1;
            }),
            0);
  // One that is not used there is destroyed there.
  EXPECT_EQ(inChild([] {
              auto other = std::make_unique<Crew>(2);
              other->run(2, [](int) {});
              return inChild([&] {
                       other.reset();
                       return true;
                     }) == 0;
            }),
            0);
  EXPECT_EQ(numbersOf(crew, 3).size(), 3u);
}

TEST(Crew, AForkWaitsForGuards) {
  std::atomic<bool> inside{false}, leave{false}, left{false};
  std::thread holder([&] {
    ForkGuard guard;
    ForkGuard nested;
    inside = true;
    while (!leave)
      std::this_thread::yield();
    left = true;
  });
  while (!inside)
    std::this_thread::yield();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    leave = true;
  });
  EXPECT_EQ(inChild([&] {
              ForkGuard free; // no one else has it here
              return bool(left);
            }),
            0);
  holder.join();
  opener.join();
  // From within a guard a fork does not wait for itself.
  ForkGuard guard;
  EXPECT_EQ(inChild([] {
              ForkGuard nested;
              return true;
            }),
            0);
}

} // namespace
