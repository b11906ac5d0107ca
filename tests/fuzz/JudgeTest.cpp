//===- JudgeTest.cpp - the judge finds what is wrong ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Judge.h"
#include "tests/fuzz/Domain.h"
#include "tests/fuzz/GradientTerms.h"

#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <fstream>

using namespace raytention::fuzz;

namespace {

/// One key and one query of `value`, the gradient of whose centroid is 1.
Case makeSingle(double query, double key) {
  Case c;
  c.name = "judge-test";
  c.queries = {query};
  c.table = {key};
  c.ids = {0};
  c.gradient = {1};
  c.backward = true;
  return c;
}

/// The verdict on a program that does `script` in place of rt.
Verdict judgeScript(const Case &c, const std::string &script) {
  namespace fs = llvm::sys::fs;
  std::string folder = RAYTENTION_FUZZ_FOLDER, program = folder + "/program";
  fs::create_directories(folder);
  std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
  fs::setPermissions(program, fs::all_all);
  setenv("RT_FUZZ_PROGRAM", program.c_str(), 1);
  Verdict verdict = judge(c, Relation::None);
  unsetenv("RT_FUZZ_PROGRAM");
  fs::remove_directories(folder + "/" + c.name);
  fs::remove(program);
  return verdict;
}

void expectFailure(const Case &c, const std::string &script,
                   const std::string &why) {
  Verdict verdict = judgeScript(c, script);
  EXPECT_EQ(verdict.kind, Verdict::Failed) << script;
  EXPECT_NE(verdict.why.find(why), std::string::npos) << verdict.why;
  EXPECT_EQ(verdict.commands.size(), 1u);
}

TEST(Judge, FindsAProgramThatIsWrong) {
  Case inside = makeSingle(1, 1), outside = makeSingle(1e30, 1);
  expectFailure(inside, "exit 0", "signals.npy is missing");
  expectFailure(inside, "exit 3", "exit code 3");
  expectFailure(inside, "kill -SEGV $$", "exit code -2");
  expectFailure(inside, "echo 'rt: error: too large' >&2; exit 2",
                "refused inside of the domain: rt: error: too large");
  expectFailure(outside, "exit 0", "accepted outside of the domain");
  expectFailure(outside, "echo a >&2; echo b >&2; exit 2", "expected one line");
  expectFailure(inside, "exit 1", "exit 1 without a check");
  expectFailure(inside,
                "echo '{\"check\": {\"passed\": false, \"items\": [{\"name\": "
                "\"dq\", \"err\": 1, \"tol\": 0.5, \"passed\": false}]}}'; "
                "exit 1",
                "dq err 1.0e+00 tol 5.0e-01");
  expectFailure(inside, "echo 'rt: error: dq: not finite' >&2; exit 1",
                "terms of gradients up to");
  EXPECT_EQ(
      judgeScript(outside, "echo 'rt: error: too large' >&2; exit 2").kind,
      Verdict::Refused);
}

TEST(Judge, KnowsHowLargeTheTermsOfAGradientAre) {
  // y is 1 or -1 whatever the key is: its gradient cancels to nothing.
  EXPECT_EQ(findLargestTerms(makeSingle(1, 3)), 0);
  // x is 0, so dx = dy / 1e-10, which the key receives.
  EXPECT_NEAR(double(findLargestTerms(makeSingle(1, 0))), 1e10, 1);
  Case c = makeSingle(3, 0);
  c.channels = {"spread"};
  c.table = {3};
  c.tau = 1e20; // x is 0 again, and both sides receive 2 G tau (q - k)
  EXPECT_EQ(findLargestTerms(c), 0);
  c.queries = {3 + 0x1p-22};
  c.tau = 0x1p-22;
  EXPECT_GT(findLargestTerms(c), 0);
}

TEST(Domain, PlacesCasesByEachLimit) {
  auto place = [](Case c) { return findDomain(c).place; };
  Case c = makeSingle(0, std::ldexp(1, 59));
  EXPECT_EQ(place(c), Domain::Inside);
  c.tau = 0.01;
  EXPECT_EQ(findDomain(c).limit, "d / t");
  EXPECT_EQ(place(c), Domain::Outside);
  c.table = {std::ldexp(1, 60)};
  c.tau = 1000;
  EXPECT_EQ(place(c), Domain::Border) << findDomain(c).limit;
  c.table = {std::ldexp(1, 61)};
  EXPECT_EQ(place(c), Domain::Outside);
  c.type = Type::F64;
  EXPECT_EQ(place(c), Domain::Inside);
  c.gradient = {std::ldexp(1, 501)};
  EXPECT_EQ(place(c), Domain::Outside);
  c.lengths = {0};
  EXPECT_EQ(place(c), Domain::Inside) << "nothing is visible";
  c = makeSingle(0, std::ldexp(1, 7)); // dist^4 is 2^56, then 2^64
  c.channels = {"moment:4"};
  EXPECT_EQ(place(c), Domain::Inside);
  c.table = {std::ldexp(1, 8)};
  EXPECT_EQ(findDomain(c).limit, "||x||^2");
  EXPECT_EQ(place(c), Domain::Outside);
  c = makeSingle(1, 1);
  c.channels = {"decay:backward:0"};
  c.gammas = {0};
  EXPECT_EQ(place(c), Domain::Outside);
}

} // namespace
