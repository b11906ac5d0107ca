//===- RunTest.cpp - rt run from end to end -------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"
#include "tools/rt/Measure.h"
#include "tools/rt/Progress.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

using namespace raytention::tool;
using namespace raytention::test;

namespace {

const std::string plays = RAYTENTION_TEST_DATA "/plays.txt";

/// `rt run` on 48 words of the plays with more options.
ToolOutput runPlays(std::vector<std::string> more) {
  std::vector<std::string> args = {"run",     "--text",    plays,
                                   "--vocab", "word",      "--seq-len",
                                   "48",      "--d-model", "16"};
  args.insert(args.end(), more.begin(), more.end());
  return runRt(args);
}

bool has(const std::string &text, llvm::StringRef part) {
  return llvm::StringRef(text).contains(part);
}

} // namespace

TEST(Run, ReportsForPeople) {
  ToolOutput output = runPlays({"--check", "--explain", "40"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_EQ(output.err, "");
  EXPECT_TRUE(has(output.out, "B 1, Tq 48, T 48, V 13338, D 16, S 162, f32"));
  EXPECT_TRUE(has(output.out, "check of all 48 rows: passed")) << output.out;
  EXPECT_TRUE(has(output.out, "position 40 ' ' sees 41 keys")) << output.out;
  EXPECT_TRUE(has(output.out, "attends most to")) << output.out;
}

TEST(Run, ReportsForPrograms) {
  ToolOutput output =
      runPlays({"--check", "--json", "--explain", "40", "--repeat", "3"});
  EXPECT_EQ(output.code, 0) << output.err;
  auto value = llvm::json::parse(output.out);
  ASSERT_TRUE(bool(value)) << llvm::toString(value.takeError());
  const llvm::json::Object *object = value->getAsObject();
  ASSERT_TRUE(object);
  EXPECT_EQ(object->getInteger("version"), 1);
  for (const char *field :
       {"shape", "target", "schedule", "threads", "workspace_bytes",
        "workspace_bytes_per_thread", "peak_extra_bytes", "compile_ms",
        "run_ms", "useful_gflops", "check"})
    EXPECT_TRUE(object->get(field)) << field;
  const llvm::json::Object *check = object->getObject("check");
  ASSERT_TRUE(check);
  EXPECT_EQ(check->getBoolean("passed"), true);
  ASSERT_EQ(check->getArray("items")->size(), 12u);
  const llvm::json::Object *item = (*check->getArray("items"))[0].getAsObject();
  EXPECT_EQ(item->getString("name"), "centroid");
  for (const char *field : {"err", "tol", "score_error"})
    EXPECT_TRUE(item->getNumber(field)) << field;
  const llvm::json::Object *explain =
      (*object->getArray("explain"))[0].getAsObject();
  EXPECT_EQ(explain->getString("token"), " ");
  EXPECT_TRUE(explain->getObject("keys")->getObject("top:1"));
}

TEST(Run, WritesArrays) {
  TempFolder folder;
  std::string out = folder.file("out");
  ASSERT_EQ(runPlays({"--out", out, "--dtype", "f64"}).code, 0);
  EXPECT_EQ(folder.entries(), std::vector<std::string>{"out"});
  auto signals = readNpy(out + "/signals.npy", true, 3, false);
  auto raw = readNpy(out + "/raw.npy", true, 3, false);
  ASSERT_TRUE(signals && raw);
  EXPECT_EQ(signals->type, NpyType::F8);
  EXPECT_EQ(signals->shape, (llvm::SmallVector<int64_t, 4>{1, 48, 162}));
  EXPECT_EQ(raw->shape, signals->shape);
  double square = 0, rawSquare = 0;
  for (int64_t i = 0; i < 162; ++i) {
    square += signals->floatAt(i) * signals->floatAt(i);
    rawSquare += raw->floatAt(i) * raw->floatAt(i);
  }
  EXPECT_NEAR(square, 1, 1e-12);
  EXPECT_NEAR(raw->floatAt(5), signals->floatAt(5) * std::sqrt(rawSquare),
              1e-12);
}

TEST(Run, LargestScoreIsAChannelLikeAnyOther) {
  for (const char *target : {"cpu", "reference"}) {
    ToolOutput output =
        runPlays({"--channels", "max_score,centroid", "--target", target,
                  "--split-keys", "2", "--check"});
    EXPECT_EQ(output.code, 0) << target << output.out << output.err;
  }
}

TEST(Run, MomentsAreChannelsLikeAnyOther) {
  for (const char *target : {"cpu", "reference"})
    for (const char *dtype : {"f32", "f64", "bf16"})
      for (const char *metric : {"sq_l2", "l2"}) {
        ToolOutput output =
            runPlays({"--channels", "moment:1,moment:4,entropy", "--target",
                      target, "--dtype", dtype, "--metric", metric,
                      "--split-keys", "2", "--backward", "--check"});
        EXPECT_EQ(output.code, 0)
            << target << dtype << output.out << output.err;
      }
}

/// Distances of rows wider than a block are sums of the blocks' sums.
TEST(Run, TheReferenceTakesRowsWiderThanABlock) {
  for (const char *metric : {"sq_l2", "l2"})
    for (const char *precision : {"fast", "exact"}) {
      ToolOutput output =
          runRt({"run", "--text", plays, "--vocab", "byte", "--seq-len", "20",
                 "--d-model", "65", "--metric", metric, "--precision",
                 precision, "--channels", "centroid,top:1,spread", "--target",
                 "reference", "--backward", "--check"});
      EXPECT_EQ(output.code, 0)
          << metric << precision << output.out << output.err;
    }
}

TEST(Run, MomentsRunOnDevices) {
  RT_NVRTC_OR_SKIP(compiler);
  for (const char *family : {"fused", "stored"}) {
    ToolOutput output =
        runPlays({"--channels", "moment:2,antitop,top:1,centroid", "--target",
                  "simt", "--family", family, "--check"});
    EXPECT_EQ(output.code, 0) << family << output.out << output.err;
  }
}

/// Where |z| is large, m + log l has no digits left for the weights.
TEST(Run, WeightsStayExactAtLowTemperatures) {
  for (const char *tau : {"0.05", "0.011"})
    for (const char *width : {"33", "1000"}) {
      ToolOutput output =
          runRt({"run", "--text", plays, "--vocab", "word", "--seq-len", "33",
                 "--d-model", width, "--batch", "2", "--seed", "40", "--tau",
                 tau, "--channels", "spread,entropy,centroid,decay:backward:0",
                 "--check"});
      EXPECT_EQ(output.code, 0) << tau << " " << width << output.out;
    }
}

TEST(Run, ExplainsWhatIsComputed) {
  ToolOutput output = runPlays({"--channels", "top:2", "--explain", "3"});
  EXPECT_EQ(output.code, 0) << output.err;
  EXPECT_TRUE(has(output.out, "attends most to       not known"));
  EXPECT_FALSE(has(output.out, "then to               not known"));
  output = runPlays({"--lengths", "3", "--explain", "3"});
  EXPECT_TRUE(has(output.out, "beyond its sequence")) << output.out;
}

TEST(Run, RefusesInOneLineAndLeavesNothing) {
  TempFolder folder;
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"--channels", "wild"}, "wild"},
      {{"--channels", "moment"}, "moment:K, predecessor, spread, top:K, got"},
      {{"--channels", "moment:0"}, "a power of moment from 1 to 4, got 0"},
      {{"--channels", "moment:5"}, "a power of moment from 1 to 4, got 5"},
      {{"--explain", "48"}, "got 48"},
      {{"--explain", "1:0"}, "got 1"},
      {{"--ir", folder.file("none.mlir")}, "--ir"},
      {{"--gammas", "0.5"}, "got 1"}};
  for (auto &[more, part] : cases) {
    std::vector<std::string> args = more;
    args.insert(args.end(), {"--out", folder.file("out")});
    ToolOutput output = runPlays(args);
    EXPECT_EQ(output.code, 2) << output.err;
    EXPECT_EQ(output.out, "");
    EXPECT_TRUE(has(output.err, part)) << output.err;
    EXPECT_EQ(output.err.find('\n'), output.err.size() - 1) << output.err;
    EXPECT_EQ(folder.entries().size(), 0u);
  }
}

TEST(Run, TakesEmptySequences) {
  for (const char *option : {"--batch=0", "--lengths=0"}) {
    ToolOutput output = runPlays({option, "--check"});
    EXPECT_EQ(output.code, 0) << option << output.err << output.out;
  }
}

TEST(Measure, FindsTheMedian) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Measure, SeesMemoryThatIsTouched) {
  PeakMeter meter;
  meter.start();
  {
    std::vector<char> touched(32 << 20, 1);
    ASSERT_EQ(touched[12345], 1);
  }
  auto extra = meter.extraBytes();
  if (!extra)
    GTEST_SKIP() << "the peak of this process cannot be reset here";
  EXPECT_GE(*extra, 30 << 20);
  EXPECT_LE(*extra, 48 << 20);
}

TEST(Progress, DrawsABar) {
  EXPECT_EQ(progressLine("compile", 0, 0, 1.25), "compile  1.2 s");
  EXPECT_EQ(progressLine("check", 1, 2, 3),
            "check  [###############...............]  50%  3.0 s");
  EXPECT_EQ(progressLine("check", 5, 2, 3),
            "check  [##############################] 100%  3.0 s");
}
