//===- Workers.cpp - the threads of the oracle ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Workers.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <system_error>
#include <thread>
#include <vector>

#include <sched.h>

using namespace raytention;

/// The CPUs that this thread may run on.
static int allowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return std::max(1, CPU_COUNT(&set));
  return std::max(1u, std::thread::hardware_concurrency());
}

int oracle::workerCount(int threads) {
  return threads > 0 ? threads : allowedCpus();
}

namespace {

/// Rounds to nearest, without traps or flushed denormals, while it lives.
struct DefaultRounding {
  DefaultRounding() {
    std::fegetenv(&before);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultRounding() { std::fesetenv(&before); }
  std::fenv_t before;
};

} // namespace

void oracle::forEachIndex(size_t count, int threads,
                          const std::function<void(size_t, int)> &body) {
  std::atomic<size_t> next{0};
  auto work = [&](int worker) {
    DefaultRounding rounding;
    for (size_t n = next++; n < count; n = next++)
      body(n, worker);
  };
  std::vector<std::thread> others;
  try {
    for (int worker = 1; worker < workerCount(threads); ++worker)
      others.emplace_back(work, worker);
  } catch (const std::system_error &) {
    // The system has no more threads: those there are do the work.
  }
  work(0);
  for (std::thread &other : others)
    other.join();
}
