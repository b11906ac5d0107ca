//===- OutputDirTest.cpp - a folder whole or not at all -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/OutputDir.h"

#include "tests/unit/Support.h"

#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace raytention::tool;
using namespace raytention::test;

namespace {

const llvm::StringRef names[] = {"a.npy", "b.npy"};

/// Writes one value as `name`.
llvm::Error writeValue(OutputDir &folder, llvm::StringRef name, float value) {
  return folder.writeNpy(name, NpyType::F4, {1}, [&](llvm::raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(&value), 4);
  });
}

/// Writes a.npy = value and commits.
std::string publish(const std::string &path, float value) {
  auto folder = OutputDir::create(path, names);
  if (!folder)
    return llvm::toString(folder.takeError());
  if (llvm::Error error = writeValue(**folder, "a.npy", value))
    return llvm::toString(std::move(error));
  return llvm::toString((*folder)->commit());
}

float valueIn(const std::string &path) {
  auto array = readNpy(path + "/a.npy", true, 1, false);
  if (array)
    return float(array->floatAt(0));
  llvm::consumeError(array.takeError());
  return -1;
}

} // namespace

TEST(OutputDir, AppearsOnCommitOnly) {
  TempFolder parent;
  std::string path = parent.file("out");
  {
    auto folder = OutputDir::create(path, names);
    ASSERT_TRUE(bool(folder)) << llvm::toString(folder.takeError());
    ASSERT_EQ(llvm::toString(writeValue(**folder, "a.npy", 1)), "");
    EXPECT_FALSE(llvm::sys::fs::exists(path));
    EXPECT_EQ(parent.entries().size(), 1u);
    ASSERT_EQ(llvm::toString((*folder)->commit()), "");
  }
  EXPECT_EQ(parent.entries(), std::vector<std::string>{"out"});
  EXPECT_EQ(valueIn(path), 1);
}

TEST(OutputDir, LeavesNothingWithoutCommit) {
  TempFolder parent;
  {
    auto folder = OutputDir::create(parent.file("out"), names);
    ASSERT_TRUE(bool(folder));
    ASSERT_EQ(llvm::toString(writeValue(**folder, "a.npy", 1)), "");
  }
  EXPECT_EQ(parent.entries().size(), 0u);
}

TEST(OutputDir, ReplacesEarlierResults) {
  TempFolder parent;
  std::string path = parent.file("out");
  EXPECT_EQ(publish(path, 1), "");
  EXPECT_EQ(publish(path + "//", 2), "");
  EXPECT_EQ(valueIn(path), 2);
  EXPECT_EQ(parent.entries(), std::vector<std::string>{"out"});
}

TEST(OutputDir, KeepsEarlierResultsOnFailure) {
  TempFolder parent;
  std::string path = parent.file("out");
  ASSERT_EQ(publish(path, 1), "");
  {
    auto folder = OutputDir::create(path, names);
    ASSERT_TRUE(bool(folder));
    ASSERT_EQ(llvm::toString(writeValue(**folder, "a.npy", 2)), "");
  }
  EXPECT_EQ(valueIn(path), 1);
  EXPECT_EQ(parent.entries(), std::vector<std::string>{"out"});
}

TEST(OutputDir, RefusesWhatIsNotItsOwn) {
  TempFolder parent;
  writeFile(parent.file("file"), "mine");
  EXPECT_NE(publish(parent.file("file"), 1).find("got a file"),
            std::string::npos);
  EXPECT_EQ(readFile(parent.file("file")), "mine");

  llvm::sys::fs::create_directory(parent.file("full"));
  writeFile(parent.file("full/letter.txt"), "mine");
  EXPECT_NE(publish(parent.file("full"), 1).find("got one with 'letter.txt'"),
            std::string::npos);
  EXPECT_EQ(readFile(parent.file("full/letter.txt")), "mine");

  EXPECT_NE(publish(parent.file("no/such/out"), 1).find("got none at"),
            std::string::npos);
  EXPECT_EQ(parent.entries(), (std::vector<std::string>{"file", "full"}));
}

TEST(OutputDir, TellsOfAFullDisk) {
  TempFolder parent;
  auto folder = OutputDir::create(parent.file("out"), names);
  ASSERT_TRUE(bool(folder));
  // A device that is always full, in the place of the file.
  ASSERT_EQ(symlink("/dev/full",
                    ((*folder)->temporaryPath() + "/a.npy").str().c_str()),
            0);
  EXPECT_NE(llvm::toString(writeValue(**folder, "a.npy", 1)).find("No space"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// What is refused before there is anything to write
//===----------------------------------------------------------------------===//

namespace {

std::string refusal(const std::string &path) {
  auto folder = OutputDir::create(path, names);
  return folder ? "" : llvm::toString(folder.takeError());
}

bool has(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

} // namespace

TEST(OutputDir, RefusesWhatCannotBeReplaced) {
  EXPECT_TRUE(has(refusal("/proc"), "got a mount point; name one inside it"))
      << refusal("/proc");
  EXPECT_TRUE(has(refusal("/"), "got a mount point")) << refusal("/");
  TempFolder parent;
  writeFile(parent.file("file"), "mine");
  EXPECT_TRUE(has(refusal(parent.file("file/out")), "got a file at"));
  EXPECT_TRUE(has(refusal(parent.file("none/out")), "make it first"));
  EXPECT_TRUE(has(refusal(parent.file("..")), "got .."));
  std::string cannot = refusal("/proc/out");
  EXPECT_TRUE(has(cannot, "that can be written")) << cannot;
  EXPECT_TRUE(has(cannot, "name one elsewhere")) << cannot;
  EXPECT_EQ(parent.entries(), std::vector<std::string>{"file"});
}

TEST(OutputDir, RefusesFoldersOfOthers) {
  if (geteuid() != 0)
    GTEST_SKIP() << "only root can be another user";
  TempFolder parent;
  llvm::sys::fs::create_directory(parent.file("sticky"));
  llvm::sys::fs::create_directory(parent.file("sticky/out"));
  llvm::sys::fs::create_directory(parent.file("plain"));
  llvm::sys::fs::create_directory(parent.file("plain/out"));
  llvm::sys::fs::create_directory(parent.file("closed"));
  chmod(parent.path.c_str(), 0755);
  chmod(parent.file("sticky").c_str(), 01777);
  chmod(parent.file("plain").c_str(), 0777);
  chmod(parent.file("closed").c_str(), 0755);
  int status = -1;
  pid_t child = fork();
  if (child == 0)
    _exit(setuid(12345) || //
          !has(refusal(parent.file("sticky/out")), "one of another user") ||
          !has(refusal(parent.file("plain/out")), "can be emptied") ||
          !has(refusal(parent.file("closed/out")), "Permission denied at"));
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(OutputDir, TakesEveryNameThatFits) {
  TempFolder parent;
  for (size_t length : {200, 244, 255}) {
    std::string name(length, 'x');
    EXPECT_EQ(publish(parent.file(name), 1), "");
    EXPECT_EQ(publish(parent.file(name), 2), "");
    EXPECT_EQ(valueIn(parent.file(name)), 2);
  }
  EXPECT_EQ(parent.entries().size(), 3u);
  std::string message = refusal(parent.file(std::string(256, 'x')));
  EXPECT_TRUE(has(message, "at most 255 bytes, got 256")) << message;
  EXPECT_TRUE(has(refusal(std::string(5000, '/') + std::string(5000, 'x')),
                  "expected a"));
  EXPECT_EQ(parent.entries().size(), 3u);
}

TEST(OutputDir, KnowsTheRoomBeforeItWrites) {
  TempFolder parent;
  auto folder = OutputDir::create(parent.file("out"), names);
  ASSERT_TRUE(bool(folder));
  EXPECT_EQ(llvm::toString((*folder)->checkRoom({})), "");
  EXPECT_EQ(llvm::toString((*folder)->checkRoom({100, 1000})), "");
  std::string message =
      llvm::toString((*folder)->checkRoom({100, uint64_t(1) << 62}));
  EXPECT_TRUE(has(message, "bytes of room")) << message;
  struct rlimit limit, small;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  small = limit;
  small.rlim_cur = 1000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(llvm::toString((*folder)->checkRoom({1000, 900})), "");
  message = llvm::toString((*folder)->checkRoom({100, 1001}));
  EXPECT_TRUE(has(message, "at most 1000 bytes")) << message;
  // And where it was not known, the write fails, in a process that ignores
  // the signal.
  auto before = std::signal(SIGXFSZ, SIG_IGN);
  std::string large(5000, 'x');
  message = llvm::toString(
      (*folder)->writeNpy("a.npy", NpyType::F4, {1250},
                          [&](llvm::raw_ostream &os) { os << large; }));
  std::signal(SIGXFSZ, before);
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_TRUE(has(message, "File too large")) << message;
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

namespace {

/// Status of a process that opens a folder, writes a file and calls `end`.
int endedBy(const TempFolder &parent, llvm::function_ref<void()> end) {
  pid_t child = fork();
  if (child == 0) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    auto folder = OutputDir::create(parent.file("out"), names);
    if (!folder || writeValue(**folder, "b.npy", 1))
      _exit(1);
    end();
    _exit(2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int overflow(volatile char *outer) {
  volatile char frame[4096];
  frame[0] = outer ? outer[0] : 0;
  return overflow(frame) + frame[0];
}

} // namespace

TEST(OutputDir, LeavesNothingAfterASignal) {
  TempFolder parent;
  std::vector<int> numbers = {
      SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,   SIGBUS,
      SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM,   SIGTERM,
      SIGXCPU, SIGXFSZ, SIGPROF, SIGIO,   SIGSYS,  SIGVTALRM, SIGPWR};
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number)
    numbers.push_back(number);
  for (int number : numbers) {
    int status = endedBy(parent, [&] { raise(number); });
    EXPECT_TRUE(WIFSIGNALED(status)) << number << " " << status;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_EQ(parent.entries().size(), 0u) << number;
  }
}

/// The signal comes somewhere between the making and the end of a folder.
TEST(OutputDir, LeavesNothingWheneverASignalComes) {
  TempFolder parent;
  for (int attempt = 0; attempt < 40; ++attempt) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0)
      for (;;) {
        publish(parent.file("out"), 1);
        (void)!write(ready[1], "x", 1);
      }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    usleep(attempt * 25);
    kill(child, SIGTERM);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
    EXPECT_EQ(parent.entries(), std::vector<std::string>{"out"});
    close(ready[0]);
    close(ready[1]);
  }
}

TEST(OutputDir, LeavesNothingAfterACrash) {
  TempFolder parent;
  int *volatile nowhere = nullptr;
  EXPECT_EQ(WTERMSIG(endedBy(parent, [&] { *nowhere = 1; })), SIGSEGV);
  EXPECT_EQ(WTERMSIG(endedBy(parent, [&] { std::abort(); })), SIGABRT);
  EXPECT_EQ(WTERMSIG(endedBy(parent, [&] { overflow(nullptr); })), SIGSEGV);
  EXPECT_EQ(WTERMSIG(endedBy(parent, [&] { std::terminate(); })), SIGABRT);
  // Several threads at once, as when compiled code is wrong.
  EXPECT_EQ(WTERMSIG(endedBy(parent,
                             [&] {
                               std::vector<std::thread> threads;
                               for (int i = 0; i < 4; ++i)
                                 threads.emplace_back([&] { *nowhere = 1; });
                               for (std::thread &thread : threads)
                                 thread.join();
                             })),
            SIGSEGV);
  EXPECT_EQ(parent.entries().size(), 0u);
}

/// A process that was killed leaves its folder to the next one.
TEST(OutputDir, RemovesFoldersOfTheDead) {
  TempFolder parent;
  EXPECT_EQ(WTERMSIG(endedBy(parent, [] { raise(SIGKILL); })), SIGKILL);
  ASSERT_EQ(parent.entries().size(), 1u);
  std::string stale = parent.file(parent.entries()[0]);
  auto setAge = [&](const std::string &folder, time_t age) {
    struct timespec then = {time(nullptr) - age, 0};
    struct timespec times[] = {then, then};
    ASSERT_EQ(utimensat(AT_FDCWD, folder.c_str(), times, 0), 0);
  };
  EXPECT_EQ(publish(parent.file("out"), 1), ""); // it may be starting
  EXPECT_EQ(parent.entries().size(), 2u);
  setAge(stale, 3600);
  EXPECT_EQ(publish(parent.file("other"), 1), ""); // not its own
  EXPECT_EQ(parent.entries().size(), 3u);
  {
    auto folder = OutputDir::create(parent.file("out"), names);
    ASSERT_TRUE(bool(folder));
    std::string own = (*folder)->temporaryPath().str();
    setAge(own, 3600);
    // Another process finds it locked.
    pid_t child = fork();
    if (child == 0) {
      int lock = open(own.c_str(), O_RDONLY | O_DIRECTORY);
      _exit(lock < 0 || flock(lock, LOCK_EX | LOCK_NB) == 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(parent.entries(), (std::vector<std::string>{"other", "out"}));
  // One that holds more than results is no one's to remove.
  std::string mine = parent.file("out.tmp-abcdef");
  llvm::sys::fs::create_directory(mine);
  writeFile(mine + "/letter.txt", "mine");
  setAge(mine, 3600);
  EXPECT_EQ(publish(parent.file("out"), 2), "");
  EXPECT_EQ(readFile(mine + "/letter.txt"), "mine");
}

/// What others do about a signal stays as it is, then and later.
TEST(OutputDir, LeavesHandlersAlone) {
  TempFolder parent;
  EXPECT_EQ(endedBy(parent,
                    [&] {
                      std::signal(SIGUSR1, [](int) {});
                      raise(SIGUSR1);
                      std::signal(SIGUSR1, SIG_DFL);
                    }),
            2 << 8);
  llvm::sys::fs::remove_directories(parent.path);
  llvm::sys::fs::create_directory(parent.path);
  static volatile int seen = 0;
  std::signal(SIGUSR1, [](int) { seen = seen + 1; });
  std::signal(SIGUSR2, SIG_IGN);
  {
    auto folder = OutputDir::create(parent.file("out"), names);
    ASSERT_TRUE(bool(folder));
    raise(SIGUSR1);
    raise(SIGUSR2);
    EXPECT_EQ(parent.entries().size(), 1u);
    // A child has no part in the folder.
    pid_t child = fork();
    if (child == 0)
      raise(SIGTERM);
    waitpid(child, nullptr, 0);
    EXPECT_EQ(parent.entries().size(), 1u);
  }
  EXPECT_EQ(seen, 1);
  for (int number : {SIGTERM, SIGSEGV, SIGALRM})
    EXPECT_EQ(std::signal(number, SIG_DFL), SIG_DFL) << number;
  std::signal(SIGUSR1, SIG_DFL);
  std::signal(SIGUSR2, SIG_DFL);
}
