//===- Crew.cpp - threads that work together ------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/support/Crew.h"

#include "runtime/support/FloatEnvironment.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <vector>

#include <pthread.h>

using namespace raytention;

//===----------------------------------------------------------------------===//
// Forks
//===----------------------------------------------------------------------===//

namespace {

/// What the handlers of a fork know. Never destroyed: threads may outlive the
/// destructors of the process.
struct Forks {
  std::mutex mutex;
  std::condition_variable changed;
  int guards = 0;  ///< ForkGuards of all threads, nested ones counted once
  int waiting = 0; ///< forks that wait for them
  uint64_t depth = 0;
};

union ForksStorage {
  ForksStorage() : forks() {}
  ~ForksStorage() {}
  Forks forks;
};
ForksStorage storage;
Forks &forks = storage.forks;

thread_local int guardsHere = 0;

} // namespace

static void beforeFork() {
  std::unique_lock<std::mutex> lock(forks.mutex);
  ++forks.waiting;
  // A fork from within a guard, by a handler of a signal, does not wait for
  // itself.
  forks.changed.wait(lock, [] { return forks.guards == (guardsHere ? 1 : 0); });
  --forks.waiting;
  lock.release(); // held until after the fork
}

static void afterForkInParent() {
  forks.mutex.unlock();
  forks.changed.notify_all();
}

/// The other threads are gone, those that waited here too.
static void afterForkInChild() {
  uint64_t depth = forks.depth + 1;
  int guards = forks.guards;
  new (&forks) Forks;
  forks.depth = depth;
  forks.guards = guards;
}

/// Before any thread can fork.
static const int registered =
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);

uint64_t raytention::forkDepth() {
  (void)registered;
  return forks.depth;
}

ForkGuard::ForkGuard() {
  if (guardsHere++)
    return;
  std::unique_lock<std::mutex> lock(forks.mutex);
  // Forks come first, or threads that compile in turns would keep them off.
  forks.changed.wait(lock, [] { return forks.waiting == 0; });
  ++forks.guards;
}

ForkGuard::~ForkGuard() {
  if (--guardsHere)
    return;
  {
    std::lock_guard<std::mutex> lock(forks.mutex);
    --forks.guards;
  }
  forks.changed.notify_all();
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

std::thread raytention::startThread(std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error &) {
    return std::thread();
  }
}

/// What the threads of a crew share. Each call of run() is a round.
struct Crew::Threads {
  const uint64_t born = forkDepth();
  std::vector<std::thread> all; ///< of workers 1, 2, ...
  std::mutex mutex;
  std::condition_variable began, ended;
  uint64_t round = 0;
  int members = 0; ///< workers of this round
  int busy = 0;    ///< those of them in threads that have not ended it
  bool over = false;
  std::optional<llvm::function_ref<void(int)>> body;

  void serve(int worker);
};

void Crew::Threads::serve(int worker) {
  std::unique_lock<std::mutex> lock(mutex);
  for (uint64_t seen = 0;;) {
    began.wait(lock, [&] { return over || round != seen; });
    if (over)
      return;
    seen = round;
    if (worker >= members)
      continue;
    auto work = *body;
    lock.unlock();
    {
      FloatEnvironment environment;
      work(worker);
    }
    lock.lock();
    if (--busy == 0)
      ended.notify_one();
  }
}

Crew::Crew(int workers)
    : most(std::max(1, workers)), have(most), threads(nullptr) {}

Crew::~Crew() {
  if (!threads)
    return;
  // Of another process: there is nothing to join, and the lock may be held by
  // a thread that is not here. The little memory it takes is left.
  if (threads->born != forkDepth()) {
    (void)threads.release();
    return;
  }
  {
    std::lock_guard<std::mutex> lock(threads->mutex);
    threads->over = true;
  }
  threads->began.notify_all();
  for (std::thread &thread : threads->all)
    thread.join();
}

/// Makes up to `wanted` workers be there; returns how many are.
int Crew::start(int wanted) {
  if (threads && threads->born != forkDepth())
    (void)threads.release();
  if (wanted <= 1)
    return 1;
  if (!threads)
    threads = std::make_unique<Threads>();
  have = most;
  while (int(threads->all.size()) + 1 < wanted) {
    int worker = int(threads->all.size()) + 1;
    std::thread thread =
        startThread([state = threads.get(), worker] { state->serve(worker); });
    if (!thread.joinable()) {
      have = worker;
      break;
    }
    threads->all.push_back(std::move(thread));
  }
  return std::min(wanted, int(threads->all.size()) + 1);
}

int Crew::run(int limit, llvm::function_ref<void(int)> body) {
  int members = start(std::min(limit, most));
  if (members > 1) {
    std::lock_guard<std::mutex> lock(threads->mutex);
    threads->members = members;
    threads->busy = members - 1;
    threads->body = body;
    ++threads->round;
    threads->began.notify_all();
  }
  {
    FloatEnvironment environment;
    body(0);
  }
  if (members > 1) {
    std::unique_lock<std::mutex> lock(threads->mutex);
    threads->ended.wait(lock, [&] { return threads->busy == 0; });
  }
  return members;
}

int raytention::runTogether(int limit, llvm::function_ref<void(int)> body) {
  return Crew(limit).run(limit, body);
}
