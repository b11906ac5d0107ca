//===- PendingFolder.cpp - a folder that no end leaves behind -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/PendingFolder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::StringRef;

namespace raytention::tool {

namespace {

/// Nothing to remove, something, or a thread is at it.
enum class State { Idle, Armed, Removing };

/// What a handler needs, in fixed memory: it may not allocate.
struct Pending {
  static constexpr int maxFiles = 8;
  char folder[PATH_MAX];
  char files[maxFiles][PATH_MAX];
  int numFiles = 0;
  pid_t owner = 0; ///< a child that was forked off removes nothing
  int lock = -1;   ///< on the folder, as long as the process lives
  std::atomic<State> state{State::Idle};
  bool taken[NSIG] = {};
  /// A stack for the handler where the thread's own has overflowed.
  alignas(64) char stack[1 << 16];
  stack_t stackBefore;
};
Pending pending;

} // namespace

/// Whether the signal ends a process that does nothing about it.
static bool endsProcess(int number) {
  switch (number) {
  case SIGKILL:
  case SIGSTOP: // no one can do anything about these two
  case SIGCHLD:
  case SIGCONT:
  case SIGTSTP:
  case SIGTTIN:
  case SIGTTOU:
  case SIGURG:
  case SIGWINCH:
    return false;
  default: // those between are the C library's own
    return number <= SIGSYS || number >= SIGRTMIN;
  }
}

/// Another thread may be creating a file meanwhile, so a folder that is not
/// empty is tried again.
static void removeFiles() {
  for (int attempt = 0; attempt < 100; ++attempt) {
    for (int i = 0; i < pending.numFiles; ++i)
      unlink(pending.files[i]);
    if (rmdir(pending.folder) == 0 || errno != ENOTEMPTY)
      return;
  }
}

void removePendingFolder() {
  if (getpid() != pending.owner)
    return;
  // A handler on this thread would wait below for what it interrupts.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  State armed = State::Armed;
  if (pending.state.compare_exchange_strong(armed, State::Removing)) {
    removeFiles();
    pending.state = State::Idle;
  }
  // Two threads that crash: the second must not end the process too early.
  while (pending.state == State::Removing)
    sched_yield();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

static void onSignal(int number) {
  removePendingFolder();
  // The signal is blocked here: it ends the process once this returns.
  signal(number, SIG_DFL);
  raise(number);
}

static void copyPath(char (&out)[PATH_MAX], StringRef text) {
  size_t length = std::min<size_t>(text.size(), PATH_MAX - 1);
  std::memcpy(out, text.data(), length);
  out[length] = 0;
}

static void takeSignals() {
  stack_t stack = {};
  stack.ss_sp = pending.stack;
  stack.ss_size = sizeof(pending.stack);
  sigaltstack(&stack, &pending.stackBefore);
  struct sigaction action = {}, before;
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  sigfillset(&action.sa_mask);
  for (int number = 1; number < NSIG; ++number) {
    pending.taken[number] = endsProcess(number) &&
                            sigaction(number, nullptr, &before) == 0 &&
                            before.sa_handler == SIG_DFL &&
                            sigaction(number, &action, nullptr) == 0;
  }
}

//===----------------------------------------------------------------------===//
// Those of processes that were killed
//===----------------------------------------------------------------------===//

/// Removes `folder` if it is ours and no process has its lock.
static void removeIfStale(const std::string &folder,
                          llvm::ArrayRef<StringRef> names) {
  // Between its making and its locking a folder looks stale.
  constexpr time_t age = 60;
  struct stat status;
  int lock =
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0)
    return;
  if (fstat(lock, &status) == 0 && status.st_uid == geteuid() &&
      status.st_mtime + age < time(nullptr) &&
      flock(lock, LOCK_EX | LOCK_NB) == 0) {
    for (StringRef name : names)
      unlink((folder + "/" + name.str()).c_str());
    rmdir(folder.c_str());
  }
  close(lock);
}

static void removeStale(StringRef pattern, llvm::ArrayRef<StringRef> names) {
  StringRef begin = llvm::sys::path::filename(pattern).drop_back(6);
  std::error_code code;
  for (llvm::sys::fs::directory_iterator
           it(llvm::sys::path::parent_path(pattern), code),
       end;
       it != end && !code; it.increment(code)) {
    StringRef name = llvm::sys::path::filename(it->path());
    if (name.size() == begin.size() + 6 && name.starts_with(begin))
      removeIfStale(it->path(), names);
  }
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

int makePendingFolder(std::string &name, llvm::ArrayRef<StringRef> names) {
  removeStale(name, names);
  // No signal may come between the folder and its registration.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int code = mkdtemp(name.data()) ? 0 : errno;
  if (!code) {
    mode_t mask = umask(0);
    umask(mask);
    chmod(name.c_str(), 0777 & ~mask);
    copyPath(pending.folder, name);
    pending.numFiles = 0;
    for (StringRef file : names.take_front(Pending::maxFiles))
      copyPath(pending.files[pending.numFiles++], name + "/" + file.str());
    pending.owner = getpid();
    pending.lock = open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    flock(pending.lock, LOCK_EX | LOCK_NB);
    pending.state = State::Armed;
    takeSignals();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return code;
}

void keepPendingFolder() {
  if (!pending.owner)
    return;
  pending.owner = 0;
  pending.state = State::Idle;
  struct sigaction now;
  for (int number = 1; number < NSIG; ++number)
    if (pending.taken[number] && sigaction(number, nullptr, &now) == 0 &&
        now.sa_handler == onSignal)
      signal(number, SIG_DFL);
  sigaltstack(&pending.stackBefore, nullptr);
  close(pending.lock);
}

} // namespace raytention::tool
