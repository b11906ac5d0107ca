//===- TextFaultTest.cpp - faults that CUDA cannot express ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

static std::string wrap(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 p) {\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
         "ld.param.u64 %rd1, [p];\n" +
         body + "ret;\n}\n";
}

static Report runText(const std::string &body) {
  Machine machine(wrap(body));
  int *ints = machine.buffer(std::vector<int>(64), "ints");
  return machine.run("k", {}, {32, 1, 1}, 0, pack(ints));
}

TEST(TextFaultTest, RegisterNeverWritten) {
  Report report = runText("add.s32 %r1, %r2, 1;\n"
                          "st.global.u32 [%rd1], %r1;\n");
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].kind, FindingKind::UninitializedRegister);
  EXPECT_EQ(report.findings[0].ptxLine, 10u);
  EXPECT_NE(report.findings[0].message.find("%r1"), std::string::npos);
}

/// What nobody looks at may be computed from what nobody wrote.
TEST(TextFaultTest, BroadcastOfTheOnlyLaneThatWrote) {
  const char *start = "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n"
                      "@%p1 mov.u32 %r1, 5;\nadd.u32 %r1, %r1, 1;\n"
                      "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
                      "shfl.sync.idx.b32 %r3, %r1, ";
  const char *end = ", 31, -1;\nst.global.u32 [%rd2], %r3;\n";
  Report report = runText(std::string(start) + "0" + end);
  EXPECT_TRUE(report.clean()) << describe(report);
  report = runText(std::string(start) + "1" + end);
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].kind, FindingKind::UninitializedRegister);
  EXPECT_EQ(report.findings[0].ptxLine, 16u);
  EXPECT_EQ(report.findings[0].count, 1u);
}

TEST(TextFaultTest, BranchOnARegisterNeverWritten) {
  Report report = runText("setp.eq.u32 %p1, %r2, 0;\n@%p1 bra past;\npast:\n");
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].kind, FindingKind::UninitializedRegister);
  EXPECT_EQ(report.findings[0].ptxLine, 10u);
}

TEST(TextFaultTest, CopyOfRegisterNeverWrittenIsNoRead) {
  EXPECT_TRUE(runText("mov.u32 %r1, %r2;\n").clean());
  Report report = runText("mov.u32 %r1, %r2;\nst.global.u32 [%rd1], %r1;\n");
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].ptxLine, 10u);
}

TEST(TextFaultTest, WrittenInSomeLanesOnly) {
  const char *half = "mov.u32 %r2, %tid.x;\nsetp.lt.u32 %p1, %r2, 16;\n"
                     "@%p1 mov.u32 %r1, 5;\n";
  std::string guarded = std::string(half) + "@%p1 add.u32 %r3, %r1, 1;\n";
  EXPECT_TRUE(runText(guarded).clean());
  Report report = runText(std::string(half) + "add.u32 %r3, %r1, 1;\n"
                                              "st.global.u32 [%rd1], %r3;\n");
  ASSERT_FALSE(report.clean());
  EXPECT_EQ(report.findings[0].lane, 16u);
}

TEST(TextFaultTest, DeadlockNamesTheWaits) {
  Report report = runText("bar.sync 3, 64;\n");
  ASSERT_EQ(report.findings.size(), 1u) << describe(report);
  EXPECT_EQ(report.findings[0].kind, FindingKind::Deadlock);
  EXPECT_NE(report.findings[0].message.find("ptx line 9 in barrier 3"),
            std::string::npos)
      << report.findings[0].message;
}

/// Atomics at one word take turns; loads of it are one.
TEST(TextFaultTest, AtomicsAtOneWordTakeTurns) {
  Report report = runText(".shared .align 4 .b32 s;\nmov.u32 %r2, 0;\n"
                          "st.shared.u32 [s], 1;\nbar.warp.sync -1;\n"
                          "atom.shared.add.u32 %r1, [s], 1;\n"
                          "bar.warp.sync -1;\nld.shared.u32 %r1, [s];\n");
  const Profile &p = report.profile;
  EXPECT_EQ(p.sharedAtomics.wavefronts, 32u);
  EXPECT_EQ(p.sharedAtomics.conflicts, 31u);
  EXPECT_EQ(p.sharedLoads.wavefronts, 1u);
}
