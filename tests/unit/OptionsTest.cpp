//===- OptionsTest.cpp - the command line of rt ---------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Options.h"
#include "tests/unit/Support.h"

#include "gtest/gtest.h"

using namespace raytention;
using namespace raytention::tool;
using namespace raytention::test;

namespace {

/// `rt run` on some ids with more options.
RunOptions parseRun(std::vector<const char *> more) {
  std::vector<const char *> args = {"run", "--ids", "i.npy"};
  args.insert(args.end(), more.begin(), more.end());
  auto command = parseCommandLine(args);
  EXPECT_TRUE(bool(command));
  if (!command) {
    ADD_FAILURE() << llvm::toString(command.takeError());
    return {};
  }
  EXPECT_EQ(command->kind, Command::Kind::Run);
  return command->run;
}

} // namespace

TEST(Options, HasDefaults) {
  RunOptions options = parseRun({});
  EXPECT_EQ(options.idsPath, "i.npy");
  EXPECT_EQ(options.tau, 1);
  EXPECT_EQ(options.seed, 0u);
  EXPECT_EQ(options.dtype, DType::F32);
  EXPECT_EQ(options.target, TargetKind::Cpu);
  EXPECT_EQ(options.workspaceCap, int64_t(64) << 20);
  EXPECT_EQ(options.schedule.splitKeys, 1);
  EXPECT_EQ(options.repeat, 1);
  EXPECT_FALSE(options.check || options.json || options.exactDistances ||
               options.backward || options.gradcheck);
}

TEST(Options, ReadsValuesInBothForms) {
  RunOptions options = parseRun({"--tau=0.5",
                                 "--gammas",
                                 "0.9, 1,0.25",
                                 "--channels=top:1, centroid",
                                 "--dtype",
                                 "bf16",
                                 "--target=reference",
                                 "--query-tile",
                                 "16",
                                 "--query-chunk=128",
                                 "--chunk=64",
                                 "--split-keys",
                                 "2",
                                 "--scores=recompute",
                                 "--threads",
                                 "3",
                                 "--explain=7",
                                 "--explain",
                                 "1:8",
                                 "--precision",
                                 "exact",
                                 "--lengths=3,4",
                                 "--query-offset",
                                 "2",
                                 "--seed",
                                 "18446744073709551615",
                                 "--metric",
                                 "l2",
                                 "--decay-origin=query",
                                 "--schedule=direct",
                                 "--math",
                                 "ffma",
                                 "--backward",
                                 "--grad",
                                 "g.npy",
                                 "--json",
                                 "--check"});
  EXPECT_EQ(options.tau, 0.5);
  EXPECT_EQ(*options.gammas, (std::vector<double>{0.9, 1, 0.25}));
  EXPECT_EQ(options.channelList,
            (std::vector<std::string>{"top:1", "centroid"}));
  EXPECT_EQ(options.dtype, DType::BF16);
  EXPECT_EQ(options.target, TargetKind::Reference);
  EXPECT_EQ(options.schedule.queryTile, 16);
  EXPECT_EQ(options.schedule.queryChunk, 128);
  EXPECT_EQ(options.schedule.keyChunk, 64);
  EXPECT_EQ(options.schedule.splitKeys, 2);
  EXPECT_EQ(options.schedule.scores, Schedule::Scores::Recompute);
  EXPECT_EQ(options.threads, 3);
  ASSERT_EQ(options.explain.size(), 2u);
  EXPECT_EQ(options.explain[1].sequence, 1);
  EXPECT_EQ(options.explain[1].position, 8);
  EXPECT_TRUE(options.exactDistances);
  EXPECT_EQ(*options.lengths, (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(options.queryOffset, 2);
  EXPECT_EQ(options.seed, UINT64_MAX);
  EXPECT_EQ(options.metric, "l2");
  EXPECT_EQ(options.decayOrigin, "query");
  EXPECT_EQ(options.gradPath, "g.npy");
  EXPECT_TRUE(options.json && options.check && options.backward);
  EXPECT_TRUE(parseRun({"--backward", "--dtype=f64", "--gradcheck"}).gradcheck);
}

TEST(Options, KnowsTargetsAndFamilies) {
  const std::pair<const char *, TargetKind> targets[] = {
      {"auto", TargetKind::Cpu},
      {"cpu", TargetKind::Cpu},
      {"reference", TargetKind::Reference},
      {"simt", TargetKind::Simt},
      {"cuda", TargetKind::Cuda}};
  for (auto [name, target] : targets)
    EXPECT_EQ(parseRun({"--target", name}).target, target) << name;
  using Family = Schedule::Family;
  EXPECT_EQ(parseRun({}).schedule.family, Family::Auto);
  EXPECT_EQ(parseRun({"--family=fused"}).schedule.family, Family::Fused);
  EXPECT_EQ(parseRun({"--family=stored", "--target=simt"}).schedule.family,
            Family::Stored);
}

TEST(Options, RefusesInOneLine) {
  struct Case {
    std::vector<std::string> args;
    std::string got;
    int code = 2;
  };
  const Case cases[] = {
      {{}, "got none"},
      {{"bench"}, "got 'bench'"},
      {{"run"}, "got neither"},
      {{"run", "--ids", "a", "--text", "b", "--vocab", "byte"}, "got both"},
      {{"run", "--text", "b"}, "got none"},
      {{"run", "--ids", "b", "--vocab", "byte"}, "got --ids"},
      {{"run", "--tua", "1"}, "perhaps --tau, got '--tua'"},
      {{"run", "--wild\nname"}, "got '--wild\\nname'"},
      {{"run", "file"}, "got 'file'"},
      {{"run", ""}, "got ''"},
      {{"run", "--tau"}, "got none"},
      {{"run", "--tau", "1", "--tau", "2"}, "got twice"},
      {{"run", "--json=1"}, "got '1'"},
      {{"run", "--tau", "0"}, "got '0'"},
      {{"run", "--tau", "-1"}, "got '-1'"},
      {{"run", "--tau", "nan"}, "got 'nan'"},
      {{"run", "--tau", "inf"}, "got 'inf'"},
      {{"run", "--tau", "1x"}, "got '1x'"},
      {{"run", "--gammas", "0.5,"}, "got ''"},
      {{"run", "--gammas", "0.5,0"}, "got '0'"},
      {{"run", "--gammas", "1.5"}, "got '1.5'"},
      {{"run", "--gammas", "1e-31"}, "got '1e-31'"},
      {{"run", "--channels", "decay:up:1"}, "got 'decay:up:1'"},
      {{"run", "--d-model", "0"}, "got '0'"},
      {{"run", "--d-model", "9999999999"}, "got '9999999999'"},
      {{"run", "--seq-len", "-1"}, "got '-1'"},
      {{"run", "--batch", "two"}, "got 'two'"},
      {{"run", "--seed", "-1"}, "got '-1'"},
      {{"run", "--dtype", "f16"}, "f32, f64, bf16, got 'f16'"},
      {{"run", "--metric", "dot"}, "got 'dot'"},
      {{"run", "--precision", "best"}, "got 'best'"},
      {{"run", "--decay-origin", "start"}, "got 'start'"},
      {{"run", "--scores", "no"}, "got 'no'"},
      {{"run", "--target", "tpu"}, "got 'tpu'"},
      {{"run", "--vocab", "bpe"}, "got 'bpe'"},
      {{"run", "--chunk", "0"}, "got '0'"},
      {{"run", "--repeat", "0"}, "got '0'"},
      {{"run", "--lengths", "1,-2"}, "got '-2'"},
      {{"run", "--explain", "1:"}, "got ''"},
      {{"run", "--out", ""}, "got ''"},
      {{"run", "--profile"}, "not there yet"},
      {{"run", "--no-skip"}, "not there yet"},
      {{"run", "--ids", "b", "--grad", "g.npy"},
       "--backward with it, got none"},
      {{"run", "--ids", "b", "--gradcheck"}, "--backward with it, got none"},
      {{"run", "--ids", "b", "--backward", "--gradcheck"},
       "--dtype f64 with it (differences of rounded values have no digits "
       "left), got f32"},
      {{"run", "--ids", "b", "--backward", "--grad", ""}, "got ''"},
      {{"run", "--backward=1"}, "got '1'"},
      {{"run", "--schedule", "mixed"}, "auto, direct, folded, got 'mixed'"},
      {{"run", "--ids", "b", "--fold-chunk", "8"},
       "--schedule folded with it, got none"},
      {{"run", "--ids", "b", "--schedule", "folded", "--target", "simt"},
       "--target cpu with it (others are not there yet), got simt"},
      {{"run", "--ids", "b", "--schedule", "folded", "--family", "stored"},
       "--family auto or fused with it (the other is not there yet), got "
       "stored"},
      {{"run", "--ids", "b", "--schedule", "folded", "--split-keys", "2"},
       "--split-keys 1 with it, got 2"},
      {{"run", "--math", "tf32"}, "--math tf32 is not there yet"},
      {{"run", "--family", "loops"}, "auto, fused, stored, got 'loops'"},
      {{"run", "--ids", "b", "--family", "stored", "--target", "reference"},
       "--target cpu, simt or cuda with it, got reference"},
      {{"run", "--ids", "b", "--family", "stored", "--target", "simt",
        "--scores", "recompute"},
       "--scores auto or keep with it (it stores them), got recompute"},
      {{"run", "--ids", "b", "--target", "simt", "--backward"},
       "(gradients on devices are not there yet), got simt"},
      {{"run", "--ids", "b", "--target", "cuda", "--backward"},
       "(gradients on devices are not there yet), got cuda"}};
  for (const Case &c : cases) {
    ToolOutput output = runRt(c.args);
    EXPECT_EQ(output.code, c.code) << c.got;
    EXPECT_EQ(output.out, "");
    EXPECT_EQ(output.err.rfind("rt: error: ", 0), 0u) << output.err;
    EXPECT_EQ(output.err.find('\n'), output.err.size() - 1) << output.err;
    EXPECT_NE(output.err.find(c.got), std::string::npos) << output.err << c.got;
    if (c.code == 2) {
      EXPECT_NE(output.err.find("expected"), std::string::npos) << output.err;
    }
  }
}

TEST(Options, HelpsOnStdout) {
  for (std::vector<std::string> args :
       std::vector<std::vector<std::string>>{{"--help"},
                                             {"--version"},
                                             {"run", "--help"},
                                             {"run", "--tau", "2", "-h"}}) {
    ToolOutput output = runRt(args);
    EXPECT_EQ(output.code, 0);
    EXPECT_NE(output.out, "");
    EXPECT_EQ(output.err, "");
  }
}

TEST(Options, HelpListsTheRegisteredChannels) {
  std::string help = runRt({"run", "--help"}).out;
  llvm::StringRef list =
      llvm::StringRef(help).split("channels of a LIST").second;
  for (const char *channel : {"antitop", "decay:backward:I", "top:K", "spread"})
    EXPECT_TRUE(list.contains(channel)) << help;
}

TEST(Options, HelpOfAllOptionsFitsTheScreen) {
  std::string help = runRt({"run", "--help"}).out;
  for (llvm::StringRef rest = help; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    EXPECT_LE(line.size(), 100u) << line.str();
    rest = next;
  }
}
