//===- Crew.h - threads that work together ----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_SUPPORT_CREW_H
#define RAYTENTION_RUNTIME_SUPPORT_CREW_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>

namespace raytention {

/// Starts a thread; one that is not joinable where the system refuses it.
std::thread startThread(std::function<void()> body);

/// Some workers, the calling thread one of them. The others start when they are
/// first needed and stay for later work. Where the system has no thread to
/// spare there are fewer. In a process that was forked off they start anew: a
/// fork takes along only the thread that calls it.
class Crew {
public:
  /// `workers` >= 1.
  explicit Crew(int workers);
  ~Crew();
  Crew(const Crew &) = delete;
  Crew &operator=(const Crew &) = delete;

  /// The most workers there may be.
  int wanted() const { return most; }
  /// The workers there are, as far as is known: fewer than wanted() once a
  /// thread was refused.
  int workers() const { return have; }

  /// Calls body(worker) once from each of up to `limit` workers, each with a
  /// number of its own from 0 on, and returns how many there were. Each thread
  /// rounds to nearest (FloatEnvironment). One call at a time.
  int run(int limit, llvm::function_ref<void(int worker)> body);

private:
  struct Threads;
  int start(int wanted);

  int most, have;
  std::unique_ptr<Threads> threads; ///< null where none was needed yet
};

/// The same once, with threads that end with the work.
int runTogether(int limit, llvm::function_ref<void(int worker)> body);

/// The number of forks between the first process and this one, as far as they
/// ran the handlers of pthread_atfork.
uint64_t forkDepth();

/// While one lives in any thread, a fork waits: what is shared by the whole
/// process is then in no state that the child could not go on from. May be
/// nested within a thread.
class ForkGuard {
public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard &) = delete;
  ForkGuard &operator=(const ForkGuard &) = delete;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_SUPPORT_CREW_H
