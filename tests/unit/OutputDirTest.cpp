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

TEST(OutputDir, LeavesNothingAfterASignal) {
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    TempFolder parent;
    pid_t child = fork();
    if (child == 0) {
      auto folder = OutputDir::create(parent.file("out"), names);
      if (!folder || writeValue(**folder, "b.npy", 1))
        _exit(1);
      raise(number);
      _exit(2);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(WTERMSIG(status), number);
    EXPECT_EQ(parent.entries().size(), 0u);
  }
}
