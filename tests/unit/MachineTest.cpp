//===- MachineTest.cpp - rt where the machine has too little --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program itself, run by a shell: few threads, limits on memory and files,
// inputs that never end, signals.
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "llvm/Support/Program.h"

#include "gtest/gtest.h"

#include <csignal>
#include <fstream>
#include <numeric>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace raytention::tool;
using namespace raytention::test;

namespace {

/// A folder with ids of 4 x 6 tokens, a pipe that no one writes to, and a
/// shell within in which $rt is the program.
class Machine : public testing::Test {
protected:
  void SetUp() override {
    std::vector<int32_t> ids(24);
    std::iota(ids.begin(), ids.end(), 0);
    writeFile(folder.file("ids.npy"), npyBytes(NpyType::I4, {4, 6}, ids));
    ASSERT_EQ(mkfifo(folder.file("pipe").c_str(), 0600), 0);
    before = folder.entries();
  }

  void TearDown() override {
    unlink(folder.file("pipe").c_str()); // LLVM removes no pipes
  }

  /// Runs a script; the code is that of its end, 128 + n for signal n.
  ToolOutput shell(const std::string &script) {
    TempFolder streams;
    std::string out = streams.file("out"), err = streams.file("err"),
                text =
                    "rt=" RAYTENTION_RT "; cd " + folder.path + "; " + script;
    ToolOutput output;
    output.code = llvm::sys::ExecuteAndWait(
        "/bin/sh", {"/bin/sh", "-c", text}, std::nullopt,
        {llvm::StringRef(), llvm::StringRef(out), llvm::StringRef(err)});
    output.out = readFile(out);
    output.err = readFile(err);
    return output;
  }

  /// The script ends with this code and one line that has `part`, and leaves
  /// nothing.
  void refuses(const std::string &script, int code, const std::string &part) {
    ToolOutput output = shell(script);
    EXPECT_EQ(output.code, code) << script << "\n" << output.err;
    EXPECT_EQ(output.out, "") << script;
    EXPECT_EQ(output.err.rfind("rt: error: ", 0), 0u) << script << "\n"
                                                      << output.err;
    EXPECT_EQ(output.err.find('\n') + 1, output.err.size()) << script << "\n"
                                                            << output.err;
    EXPECT_NE(output.err.find(part), std::string::npos) << script << "\n"
                                                        << output.err;
    EXPECT_EQ(folder.entries(), before) << script;
  }

  TempFolder folder;
  std::vector<std::string> before;
};

const std::string run = "$rt run --ids ids.npy --d-model 8 ";

} // namespace

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_F(Machine, DoesWithFewerThreads) {
  std::string work =
      run +
      "--channels centroid,top:1 --backward --check --json --threads 16 --out ";
  ToolOutput all = shell(work + "all");
  ASSERT_EQ(all.code, 0) << all.err;
  for (std::string left : {"0", "3"}) {
    ToolOutput output = shell(
        "export LD_PRELOAD=" RAYTENTION_FEW_THREADS " RT_TEST_THREADS=" + left +
        "; " + work + "few" + left);
    EXPECT_EQ(output.code, 0) << left << output.err;
    if (left == "0") {
      EXPECT_NE(output.out.find("\"threads\":1,"), std::string::npos)
          << output.out;
    }
    for (llvm::StringRef name : {"signals.npy", "dq.npy", "dtable.npy"})
      EXPECT_TRUE(readFile(folder.file("few" + left + "/" + name.str())) ==
                  readFile(folder.file("all/" + name.str())))
          << left << name.str();
  }
}

TEST_F(Machine, ChecksGradientsAndDevicesWithoutThreads) {
  std::string none = "export LD_PRELOAD=" RAYTENTION_FEW_THREADS
                     " RT_TEST_THREADS=0 RT_HIDE_CUDA=1; ";
  ToolOutput output =
      shell(none + "$rt run --ids ids.npy --d-model 2 --dtype f64 "
                   "--backward --gradcheck --channels centroid");
  EXPECT_EQ(output.code, 0) << output.err;
  output = shell(none + "$rt doctor");
  EXPECT_EQ(output.code, 0) << output.err;
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

TEST_F(Machine, FilesThatGrowPastTheirLimit) {
  refuses("ulimit -f 4; $rt run --ids ids.npy --d-model 512 --out ox", 3,
          "ulimit -f");
  // Standard output is a file too.
  ToolOutput output = shell("{ (ulimit -f 0; $rt run --help > help); "
                            "echo $?; rm help; } 2>&1 | cat");
  EXPECT_EQ(output.out, "rt: error: stdout: expected to write all results, "
                        "got: File too large\n3\n");
}

TEST_F(Machine, InputsThatNeverEnd) {
  ASSERT_EQ(symlink("/dev/zero", folder.file("zero.npy").c_str()), 0);
  before = folder.entries();
  std::string limit = "ulimit -v 2000000; ";
  for (std::string option : {"--table", "--queries", "--lengths",
                             "--backward "
                             "--grad"})
    refuses(limit + run + option + " zero.npy", 2, "expected a .npy file");
  refuses(limit + "$rt run --d-model 8 --ids zero.npy", 2,
          "expected a .npy file");
  refuses(limit + run + "--ir zero.npy", 3, "memory");
  refuses(limit + "$rt run --d-model 8 --seq-len 4 --vocab byte --text "
                  "/dev/zero --out ox",
          3, "memory");
}

TEST_F(Machine, InputsOfOtherKinds) {
  for (std::string option : {"--table", "--queries", "--ir"})
    for (std::string place : {"/dev/null", "/", "none"})
      refuses(run + option + " " + place, 2, "expected");
  // A pipe is as good as a file.
  std::string feed = "head -c $size ids.npy > pipe & ";
  ToolOutput output = shell("size=1000000; " + feed +
                            "$rt run --d-model 8 --ids pipe --out a && " + run +
                            "--out b > /dev/null");
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(readFile(folder.file("a/signals.npy")) ==
              readFile(folder.file("b/signals.npy")));
  before = folder.entries();
  refuses("size=140; " + feed + "$rt run --d-model 8 --ids pipe", 2,
          "expected 96 bytes of data for shape [4, 6] of <i4, got 12");
  refuses("size=100; " + feed + "$rt run --d-model 8 --ids pipe", 2,
          "expected a header of 118 bytes, got 90");
  refuses("cat ids.npy ids.npy > pipe & $rt run --d-model 8 --ids pipe", 2,
          "expected 96 bytes of data for shape [4, 6] of <i4, got more");
}

/// Holes take no room on the disk.
TEST_F(Machine, ArraysBeyondTheMemory) {
  std::string head = npyHeader(NpyType::F4, {int64_t(1) << 32, 8});
  writeFile(folder.file("large.npy"), head);
  if (truncate(folder.file("large.npy").c_str(),
               off_t(head.size()) + (off_t(1) << 37)))
    GTEST_SKIP() << "no file with holes of 128 GiB can be made here";
  before = folder.entries();
  std::string limit = "ulimit -v 2000000; ";
  refuses(limit + run + "--out ox --table large.npy", 3, "memory");
  refuses(limit + "$rt run --ids ids.npy --d-model 60000000 --out ox", 3,
          "memory");
  // A header that would be larger than any.
  std::string bytes("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
  writeFile(folder.file("large.npy"), bytes);
  ASSERT_EQ(truncate(folder.file("large.npy").c_str(), off_t(1) << 33), 0);
  refuses(run + "--table large.npy", 2, "header length of 4294967295");
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// It waits for a pipe, with its folder open, when the signal comes.
TEST_F(Machine, LeavesNothingAfterASignal) {
  for (int number : {SIGQUIT, SIGALRM, SIGUSR1, SIGXCPU, SIGSEGV, SIGABRT,
                     SIGTERM, SIGRTMAX}) {
    pid_t child = fork();
    if (child == 0) {
      if (chdir(folder.path.c_str()))
        _exit(1);
      execl(RAYTENTION_RT, "rt", "run", "--ids", "pipe", "--d-model", "8",
            "--out", "ox", nullptr);
      _exit(1);
    }
    while (folder.entries() == before && waitpid(child, nullptr, WNOHANG) == 0)
      std::this_thread::yield();
    kill(child, number);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number) << number;
    EXPECT_EQ(folder.entries(), before) << number;
  }
}
