//===- ParallelFor.h - the worker pool of the CPU target --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_CPU_PARALLELFOR_H
#define RAYTENTION_RUNTIME_DEVICE_CPU_PARALLELFOR_H

#include "runtime/support/Crew.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace raytention::cpu {

/// One task of a compiled parallel loop.
using TaskFunction = void (*)(void *arguments, int64_t task, void *workspace);

/// The number of workers that 0 stands for: the cores that this process may
/// use, by its affinity and the quota of its control groups.
int getDefaultThreads();

/// Workers, the calling thread one of them; each has a workspace of its own
/// that is kept while its size stays the same. Usable in a process that was
/// forked off, whatever the pool was doing.
class WorkerPool {
public:
  /// `threads` >= 1.
  explicit WorkerPool(int threads);

  /// The workers that were asked for.
  int wanted() const { return crew.wanted(); }
  /// Those there are: fewer where the system refused a thread.
  int threads() const { return crew.workers(); }

  /// Runs tasks 0 .. tasks - 1, each once, on whichever worker is free next.
  /// Tasks are independent, so the result does not depend on the workers.
  /// A task rounds to nearest, with denormals taken as zero and no traps,
  /// whatever the modes of the caller, who finds them as they were. Fails,
  /// with no task run, where no worker gets its workspace.
  llvm::Error parallelFor(TaskFunction body, int64_t tasks,
                          int64_t workspaceBytes, void *arguments);

  /// Bytes of all workspaces that stand at the moment.
  int64_t allocatedBytes() const;

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  struct Workspace {
    std::unique_ptr<void, Free> memory;
    int64_t bytes = 0;
    /// Makes it `wanted` bytes long; false where the system refuses.
    bool resize(int64_t wanted);
  };

  void abandonWorkspaces();

  Crew crew;
  std::vector<Workspace> workspaces;
  /// Set at the begin of a run only in a child that was forked off during one.
  bool running = false;
};

/// What a run of compiled code on this thread uses and leaves behind. While it
/// lives, rt_parallel_for on this thread uses its pool.
class RunContext {
public:
  explicit RunContext(WorkerPool &pool);
  ~RunContext();
  RunContext(const RunContext &) = delete;
  RunContext &operator=(const RunContext &) = delete;

  /// The context of this thread, or null.
  static RunContext *current();

  void parallelFor(TaskFunction body, int64_t tasks, int64_t workspaceBytes,
                   void *arguments);

  /// The first error of the run; later loops were not run.
  llvm::Error takeError() { return std::move(error); }
  /// Most bytes that one worker, and all of them together, had.
  int64_t bytesPerWorker() const { return perWorker; }
  int64_t bytesInTotal() const { return total; }

private:
  WorkerPool &pool;
  RunContext *outer;
  llvm::Error error;
  bool failed = false;
  int64_t perWorker = 0, total = 0;
};

} // namespace raytention::cpu

/// The callback of compiled code; without a RunContext the tasks run one after
/// another on this thread.
extern "C" void rt_parallel_for(raytention::cpu::TaskFunction body,
                                int64_t tasks, int64_t workspaceBytes,
                                void *arguments);

#endif // RAYTENTION_RUNTIME_DEVICE_CPU_PARALLELFOR_H
