//===- ParallelFor.cpp - the worker pool of the CPU target ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/cpu/ParallelFor.h"

#include "runtime/support/CpuCount.h"
#include "runtime/support/FloatEnvironment.h"

#include <algorithm>
#include <atomic>

using namespace llvm;
using namespace raytention;
using namespace raytention::cpu;

/// Pages: no two workers share one, and slices keep their alignment.
static constexpr int64_t kWorkspaceAlignment = 4096;

int raytention::cpu::getDefaultThreads() { return countCpus().workers(); }

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

WorkerPool::WorkerPool(int threads)
    : crew(threads), workspaces(crew.wanted()) {}

/// What a fork found in use stays: a worker that is not here any more may have
/// been about to exchange it.
void WorkerPool::abandonWorkspaces() {
  for (Workspace &workspace : workspaces) {
    (void)workspace.memory.release();
    workspace.bytes = 0;
  }
}

Error WorkerPool::parallelFor(TaskFunction body, int64_t tasks,
                              int64_t workspaceBytes, void *arguments) {
  if (tasks <= 0)
    return Error::success();
  if (workspaceBytes < 0)
    return createStringError("expected a workspace of at least 0 bytes, got " +
                             Twine(workspaceBytes));
  if (running)
    abandonWorkspaces();
  running = true;
  std::atomic<int64_t> next{0};
  std::atomic<int> serving{0};
  auto work = [&](int worker) {
    Workspace &workspace = workspaces[worker];
    if (!workspace.resize(workspaceBytes))
      return; // the others do its part
    ++serving;
    FloatEnvironment::flushDenormals();
    for (;;) {
      int64_t task = next.fetch_add(1, std::memory_order_relaxed);
      if (task >= tasks)
        return;
      body(arguments, task, workspace.memory.get());
    }
  };
  int workers = crew.run(std::min<int64_t>(tasks, crew.wanted()), work);
  // Workers that had nothing to do keep nothing that nobody may use again.
  for (int worker = workers; worker < crew.wanted(); ++worker)
    if (workspaces[worker].bytes != workspaceBytes)
      workspaces[worker].resize(0);
  running = false;
  if (!serving)
    return createStringError(
        std::make_error_code(std::errc::not_enough_memory),
        "expected " + Twine(workspaceBytes) +
            " bytes of workspace for one of " + Twine(workers) +
            " workers at least, got a refusal from the system; use a smaller "
            "tile");
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
