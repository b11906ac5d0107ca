//===- PlanRunTest.cpp - rt run on devices --------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

using namespace raytention::test;

namespace {

/// `rt run` on the hand-written plan of a centroid, or on an edited one.
ToolOutput runPlan(std::vector<std::string> more,
                   const std::string &path = RAYTENTION_PLAN) {
  std::vector<std::string> args = {
      "run",       "--text",  RAYTENTION_TEST_DATA "/plays.txt",
      "--vocab",   "word",    "--seq-len",
      "33",        "--batch", "2",
      "--d-model", "64",      "--channels",
      "centroid",  "--ir",    path};
  args.insert(args.end(), more.begin(), more.end());
  return runRt(args);
}

bool isOneLine(const std::string &text) {
  return !text.empty() && text.find('\n') == text.size() - 1;
}

TEST(PlanRun, IsCheckedAndReported) {
  RT_NVRTC_OR_SKIP(compiler);
  ToolOutput output =
      runPlan({"--target", "simt", "--threads", "2", "--check", "--json"});
  ASSERT_EQ(output.code, 0) << output.err;
  auto json = llvm::cantFail(llvm::json::parse(output.out));
  const llvm::json::Object &report = *json.getAsObject();
  EXPECT_EQ(report.getString("target"), "simt");
  EXPECT_EQ(report.getInteger("threads"), 2);
  EXPECT_EQ(report.getInteger("workspace_bytes"), 2 * 33 * 64 * 4);
  EXPECT_EQ(report.getObject("check")->getBoolean("passed"), true);
}

TEST(PlanRun, KeepsToTheCap) {
  RT_NVRTC_OR_SKIP(compiler);
  ToolOutput output = runPlan({"--target", "simt", "--workspace-cap", "16895"});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("expected at most 16895 bytes of workspace, got a "
                            "need of 16896"),
            std::string::npos)
      << output.err;
  EXPECT_TRUE(isOneLine(output.err)) << output.err;
}

TEST(PlanRun, AFaultOfAKernelIsAFailedCheck) {
  RT_NVRTC_OR_SKIP(compiler);
  TempFolder folder;
  std::string text = readFile(RAYTENTION_PLAN), barrier = "        gpu.barrier";
  ASSERT_NE(text.find(barrier), std::string::npos);
  text.erase(text.find(barrier), barrier.size());
  writeFile(folder.file("plan.mlir"), text);
  ToolOutput output = runPlan({"--target", "simt", "--out", folder.file("out")},
                              folder.file("plan.mlir"));
  EXPECT_EQ(output.code, 1);
  EXPECT_NE(output.err.find("race-in-block"), std::string::npos) << output.err;
  EXPECT_TRUE(isOneLine(output.err)) << output.err;
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"plan.mlir"});
}

TEST(PlanRun, SaysWhatIsMissing) {
  ScopedVariable hide("RT_HIDE_CUDA", "1");
  const std::pair<const char *, const char *> cases[] = {
      {"simt", "simt: NVRTC is hidden"},
      {"cuda", "cuda: the CUDA driver is hidden"}};
  for (auto [target, part] : cases) {
    ToolOutput output = runPlan({"--target", target});
    EXPECT_EQ(output.code, 3) << target;
    EXPECT_NE(output.err.find(part), std::string::npos) << output.err;
    EXPECT_TRUE(isOneLine(output.err)) << output.err;
  }
}

TEST(PlanRun, TheCpuRefusesPlans) {
  ToolOutput output = runPlan({});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("got a plan with kernels; use target simt or cuda"),
            std::string::npos)
      << output.err;
}

} // namespace
