//===- ParallelFor.cpp - the worker pool of the CPU target ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ParallelFor.h"

#include "llvm/Support/Threading.h"

#include <algorithm>
#include <atomic>

#if defined(__SSE3__) || defined(__x86_64__)
#include <xmmintrin.h>
#define RAYTENTION_HAS_MXCSR 1
#endif

using namespace llvm;
using namespace raytention::cpu;

namespace {

/// Treats denormals as zero, in and out, as long as it lives: one denormal
/// weight costs as much as a hundred multiply-adds.
class FlushDenormals {
#ifdef RAYTENTION_HAS_MXCSR
public:
  FlushDenormals() : saved(_mm_getcsr()) {
    _mm_setcsr(saved | kFlushToZero | kDenormalsAreZero);
  }
  ~FlushDenormals() { _mm_setcsr(saved); }

private:
  static constexpr unsigned kFlushToZero = 0x8000;
  static constexpr unsigned kDenormalsAreZero = 0x0040;
  unsigned saved;
#else
public:
  FlushDenormals() {}
  ~FlushDenormals() {}
#endif
};

} // namespace

/// Pages: no two workers share one, and slices keep their alignment.
static constexpr int64_t kWorkspaceAlignment = 4096;

int raytention::cpu::getDefaultThreads() {
  return std::max(1u, llvm::hardware_concurrency().compute_thread_count());
}

bool WorkerPool::Workspace::resize(int64_t wanted) {
  if (wanted == bytes)
    return true;
  memory.reset();
  bytes = 0;
  if (wanted == 0)
    return true;
  int64_t pages = wanted / kWorkspaceAlignment + 1;
  if (pages > INT64_MAX / kWorkspaceAlignment)
    return false;
  memory.reset(
      std::aligned_alloc(kWorkspaceAlignment, pages * kWorkspaceAlignment));
  if (!memory)
    return false;
  bytes = wanted;
  return true;
}

WorkerPool::WorkerPool(int threads) : workspaces(std::max(1, threads)) {
  if (threads > 1)
    pool = std::make_unique<DefaultThreadPool>(
        llvm::hardware_concurrency(threads - 1));
}

Error WorkerPool::parallelFor(TaskFunction body, int64_t tasks,
                              int64_t workspaceBytes, void *arguments) {
  if (tasks <= 0)
    return Error::success();
  if (workspaceBytes < 0)
    return createStringError("expected a workspace of at least 0 bytes, got " +
                             Twine(workspaceBytes));
  std::atomic<int64_t> next{0};
  std::atomic<bool> refused{false};
  auto work = [&](Workspace &workspace) {
    if (!workspace.resize(workspaceBytes)) {
      refused = true;
      return;
    }
    FlushDenormals flush;
    while (!refused) {
      int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks)
        return;
      body(arguments, task, workspace.memory.get());
    }
  };
  int64_t workers = std::min<int64_t>(tasks, threads());
  for (int64_t worker = 1; worker < workers; ++worker)
    pool->async([&, worker] { work(workspaces[worker]); });
  work(workspaces[0]);
  if (pool)
    pool->wait();
  // Workers that had nothing to do keep nothing that nobody may use again.
  for (int64_t worker = workers; worker < threads(); ++worker)
    if (workspaces[worker].bytes != workspaceBytes)
      workspaces[worker].resize(0);
  if (refused)
    return createStringError("expected " + Twine(workspaceBytes) +
                             " bytes of workspace for each of " +
                             Twine(workers) +
                             " workers, got a refusal from the system; use "
                             "fewer threads or a smaller tile");
  return Error::success();
}

int64_t WorkerPool::allocatedBytes() const {
  int64_t bytes = 0;
  for (const Workspace &workspace : workspaces)
    bytes += workspace.bytes;
  return bytes;
}

//===----------------------------------------------------------------------===//
// The run in progress
//===----------------------------------------------------------------------===//

static thread_local RunContext *currentContext = nullptr;

RunContext::RunContext(WorkerPool &pool)
    : pool(pool), outer(currentContext), error(Error::success()) {
  currentContext = this;
}

RunContext::~RunContext() {
  currentContext = outer;
  consumeError(std::move(error));
}

RunContext *RunContext::current() { return currentContext; }

void RunContext::parallelFor(TaskFunction body, int64_t tasks,
                             int64_t workspaceBytes, void *arguments) {
  if (failed)
    return;
  if (Error problem =
          pool.parallelFor(body, tasks, workspaceBytes, arguments)) {
    failed = true;
    error = joinErrors(std::move(error), std::move(problem));
    return;
  }
  if (tasks > 0)
    perWorker = std::max(perWorker, workspaceBytes);
  total = std::max(total, pool.allocatedBytes());
}

extern "C" void rt_parallel_for(TaskFunction body, int64_t tasks,
                                int64_t workspaceBytes, void *arguments) {
  if (RunContext *context = RunContext::current()) {
    context->parallelFor(body, tasks, workspaceBytes, arguments);
    return;
  }
  WorkerPool alone(1);
  consumeError(alone.parallelFor(body, tasks, workspaceBytes, arguments));
}
