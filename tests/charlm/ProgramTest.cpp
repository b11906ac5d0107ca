//===- ProgramTest.cpp - the command line, batches and output -------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Program.h"
#include "examples/charlm/Plot.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace raytention;
using namespace raytention::charlm;

namespace {

struct Output {
  int code;
  std::string out, err;
};

Output run(std::vector<const char *> args) {
  Output output;
  llvm::raw_string_ostream out(output.out), err(output.err);
  output.code = runCharLm(args, out, err);
  return output;
}

/// A wrong command line: one line, exit code 2, nothing on stdout.
void expectRefused(std::vector<const char *> args, const std::string &line) {
  Output output = run(std::move(args));
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(output.err, "charlm: error: " + line + "\n");
}

std::vector<int32_t> upTo(int32_t end) {
  std::vector<int32_t> ids(static_cast<size_t>(end));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

} // namespace

TEST(CharLmProgram, RefusesBadInputInOneLine) {
  expectRefused({}, "--text: expected a file, got none");
  expectRefused({"--txt", "a"}, "expected an option (charlm --help lists "
                                "them), got '--txt'");
  expectRefused({"--text"}, "--text: expected a value (FILE), got none");
  expectRefused({"--text", "a", "--steps", "0"},
                "--steps: expected an integer in 1..100000000, got '0'");
  expectRefused({"--text=a", "--rate=nan"},
                "--rate: expected a number in 0..10, got 'nan'");
  expectRefused({"--text", "/nowhere/a"},
                "--text: expected a readable file, got '/nowhere/a': No such "
                "file or directory");
  expectRefused({"--text", RAYTENTION_TEST_DATA "/plays.txt", "--context",
                 "65536", "--out", "/dev/null/a", "--steps", "1"},
                "--out: expected a folder at '/dev/null/a', got: Not a "
                "directory");
}

TEST(CharLmProgram, HelpNamesEachOption) {
  Output output = run({"--help"});
  EXPECT_EQ(output.code, 0);
  for (const char *name : {"--text", "--steps", "--minutes", "--seed", "--out",
                           "--generate", "--threads"})
    EXPECT_NE(output.out.find(name), std::string::npos) << name;
}

TEST(CharLmCorpus, HasTheBytesThatOccur) {
  Corpus corpus = makeCorpus("banana bandana");
  EXPECT_EQ(corpus.vocab(), 5);
  EXPECT_EQ(corpus.split, 12);
  EXPECT_EQ(corpus.textOf(corpus.ids), "banana bandana");
}

TEST(CharLmBatches, ScoringPredictsEachIdOnce) {
  std::vector<int32_t> text = upTo(103), predicted;
  for (const Batch &batch : scoringBatches(text, 10, 10, 4, 1)) {
    EXPECT_EQ(batch.ids.size(), size_t(batch.sequences * batch.keys));
    for (int64_t row = 0; row < batch.rows(); ++row)
      EXPECT_EQ(batch.targets[size_t(row)], batch.idOf(row) + 1);
    predicted.insert(predicted.end(), batch.targets.begin(),
                     batch.targets.end());
  }
  std::vector<int32_t> all = upTo(103);
  EXPECT_EQ(predicted, std::vector<int32_t>(all.begin() + 10, all.end()));
}

TEST(CharLmBatches, RandomWindowsPredictTheNextId) {
  Random random(1);
  Batch batch = randomBatch(upTo(9), 50, 8, random);
  EXPECT_EQ(batch.sequences, 50); // the only window: 0..7, predicting 1..8
  for (int64_t row = 0; row < batch.rows(); ++row)
    EXPECT_EQ(batch.targets[size_t(row)], batch.idOf(row) + 1);
}

TEST(CharLmGenerate, TemperatureZeroTakesTheLikeliest) {
  Random random(1);
  EXPECT_EQ(sample({0.5f, 2.0f, 1.0f}, 0, random), 1);
}

TEST(CharLmGenerate, SamplesWithTheProbabilities) {
  Random random(1);
  int64_t second = 0;
  for (int i = 0; i < 10000; ++i)
    second += sample({0.0f, std::log(3.0f)}, 1, random);
  EXPECT_NEAR(double(second) / 10000, 0.75, 0.02);
}

TEST(CharLmPlot, HasBothCurvesAndTheBaseline) {
  std::string svg;
  llvm::raw_string_ostream os(svg);
  plotCurve({{100, 3.0, 3.1, 1}, {200, 2.0, 2.2, 2}}, 2.5, os);
  EXPECT_EQ(svg.find("<svg"), 0u);
  // Losses from 1.9 to 3.2 over 300 pixels: 2.0 lies 23.1 above the bottom.
  EXPECT_NE(svg.find("620.0,316.9"), std::string::npos) << svg;
  EXPECT_NE(svg.find("trigram 2.500"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}
