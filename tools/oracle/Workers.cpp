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
#include <thread>
#include <vector>

using namespace raytention;

int oracle::workerCount(int threads) {
  if (threads > 0)
    return threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

void oracle::forEachIndex(size_t count, int threads,
                          const std::function<void(size_t, int)> &body) {
  std::atomic<size_t> next{0};
  auto work = [&](int worker) {
    for (size_t n = next++; n < count; n = next++)
      body(n, worker);
  };
  std::vector<std::thread> others;
  for (int worker = 1; worker < workerCount(threads); ++worker)
    others.emplace_back(work, worker);
  work(0);
  for (std::thread &other : others)
    other.join();
}
