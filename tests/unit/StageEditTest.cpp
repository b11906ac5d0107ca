//===- StageEditTest.cpp - an edited stage runs as edited -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "raytention/Attention.h"

#include "gtest/gtest.h"

using namespace raytention;
using namespace raytention::test;

namespace {

AttentionSpec makeSpec() {
  AttentionSpec spec;
  spec.dModel = 32;
  spec.idBits = 32;
  spec.channels = {"centroid", "predecessor", "top:1"};
  return spec;
}

std::string print(llvm::StringRef stage,
                  const AttentionSpec &spec = makeSpec()) {
  auto text = printStage(spec, CompileOptions(), stage);
  EXPECT_TRUE(static_cast<bool>(text)) << text.status().message();
  return text ? *text : "";
}

/// Replaces every `from`; how often it stood.
int replaceAll(std::string &text, const std::string &from,
               const std::string &to) {
  int count = 0;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       ++count) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return count;
}

/// Runs the text of a stage on 300 words of the plays, checked as `channels`.
ToolOutput runText(const std::string &text, const std::string &channels) {
  TempFolder folder;
  writeFile(folder.file("stage.mlir"), text);
  return runRt({"run", "--ir", folder.file("stage.mlir"), "--text",
                RAYTENTION_TEST_DATA "/plays.txt", "--vocab", "word",
                "--seq-len", "300", "--d-model", "32", "--channels", channels,
                "--check"});
}

} // namespace

TEST(StageEdit, EveryStageRunsAsPrinted) {
  for (const char *stage : {"attention", "sweeps", "products", "tiled"}) {
    ToolOutput output = runText(print(stage), "centroid,predecessor,top:1");
    EXPECT_EQ(output.code, 0) << stage << ": " << output.out << output.err;
  }
}

TEST(StageEdit, AnotherChunkGivesTheSameSignals) {
  std::string text = print("tiled");
  ASSERT_EQ(replaceAll(text, "arith.constant 192 :", "arith.constant 50 :"), 1);
  ToolOutput output = runText(text, "centroid,predecessor,top:1");
  EXPECT_EQ(output.code, 0) << output.out << output.err;
}

TEST(StageEdit, AnotherTileGivesTheSameSignals) {
  std::string text = print("tiled");
  ASSERT_EQ(replaceAll(text, "arith.constant 32 :", "arith.constant 20 :"), 1);
  ToolOutput output = runText(text, "centroid,predecessor,top:1");
  EXPECT_EQ(output.code, 0) << output.out << output.err;
}

/// The sweeps still carry the removed channel; only rt.finalize lets it go.
TEST(StageEdit, ARemovedChannelIsGoneFromTheSignals) {
  std::string text = print("sweeps");
  ASSERT_EQ(replaceAll(text, "rt.finalize [#rt.centroid, #rt.predecessor, ",
                       "rt.finalize [#rt.centroid, "),
            1);
  EXPECT_GT(replaceAll(text, "x96xf32", "x64xf32"), 0);
  EXPECT_GT(replaceAll(text, "x2xi32", "x1xi32"), 0);
  ToolOutput output = runText(text, "centroid,top:1");
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  // The check is against the edited list: the unedited one must not pass.
  EXPECT_NE(runText(text, "centroid,predecessor").code, 0);
}

TEST(StageEdit, SizesThatCannotBeAreRefused) {
  for (const char *constant : {"192", "32"})
    for (const char *value :
         {"0", "-1", "576460752303423488", "9223372036854775807"}) {
      std::string text = print("tiled"), from = "arith.constant ";
      from += constant;
      ASSERT_EQ(replaceAll(text, from + " :",
                           std::string("arith.constant ") + value + " :"),
                1);
      ToolOutput output = runText(text, "centroid,predecessor,top:1");
      EXPECT_EQ(output.code, 2) << constant << " to " << value << output.out;
    }
}

TEST(StageEdit, SchedulesThatCannotBeAreRefused) {
  const std::pair<std::string, std::string> fields[] = {
      {"query_tile = ", "32"}, {"key_chunk = ", "192"}, {"split_keys = ", "1"}};
  for (auto &[field, usual] : fields)
    for (const char *value : {"0", "-1", "2147483647", "2147483648",
                              "576460752303423488", "9223372036854775807"}) {
      std::string text = print("attention");
      ASSERT_EQ(replaceAll(text, field + usual, field + value), 1);
      ToolOutput output = runText(text, "centroid,predecessor,top:1");
      EXPECT_EQ(output.code, 2) << field << value << output.out;
      EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1)
          << field << value << ": " << output.err;
    }
}

TEST(StageEdit, AWrongEditIsRefusedInOneLine) {
  std::string text = print("sweeps");
  ASSERT_GT(replaceAll(text, "x96xf32", "x95xf32"), 0);
  ToolOutput output = runText(text, "centroid,predecessor,top:1");
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1)
      << output.err;
}

/// What a list keeps of a sweep may be less than what the sweeps share.
TEST(StageEdit, SomeChannelsReadTheStatesOfAll) {
  AttentionSpec spec = makeSpec();
  spec.channels = {"top:1", "centroid", "entropy", "decay:backward:0"};
  spec.numGammas = 1;
  const std::string all = "[#rt.top<1>, #rt.centroid, #rt.entropy, "
                          "#rt.decay<backward, 0>]",
                    some = "[#rt.entropy, #rt.centroid, "
                           "#rt.decay<backward, 0>]";
  for (const char *stage : {"sweeps", "tiled"}) {
    std::string text = print(stage, spec);
    for (auto [from, to] :
         {std::pair("rt.init <reduce> " + all, "rt.init <reduce> " + some),
          {"rt.reduce_sweep " + all, "rt.reduce_sweep " + some + " of " + all},
          {" of " + all + " score",
           " of " + all + " reduced " + some + " score"}})
      ASSERT_EQ(replaceAll(text, from, to), 1) << stage << ": " << from;
    if (stage == std::string("tiled")) {
      ASSERT_EQ(replaceAll(text, "rt.weigh " + all,
                           "rt.weigh " + some + " of " + all),
                1);
    }
    ToolOutput output =
        runText(text, "top:1,centroid,entropy,decay:backward:0");
    EXPECT_EQ(output.code, 0) << stage << ": " << output.out << output.err;
  }
}
