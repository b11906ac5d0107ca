//===- LocaleTest.cpp - numbers where others write a comma ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"
#include "runtime/device/simt/Profile.h"
#include "tests/unit/Support.h"
#include "tools/rt/Progress.h"
#include "tools/rt/ToolError.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"

#include "gtest/gtest.h"

#include <clocale>
#include <locale>

using namespace raytention;
using namespace raytention::tool;
using namespace raytention::test;

namespace {

struct CommaPunct : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// The host program has chosen German: in the C library, made on the spot
/// where it is not installed, and for the streams of C++.
class Locale : public testing::Test {
protected:
  void SetUp() override {
    if (!std::setlocale(LC_ALL, name)) {
      auto tool = llvm::sys::findProgramByName("localedef");
      std::string place = folder.file(name);
      if (!tool || llvm::sys::ExecuteAndWait(
                       *tool, {*tool, "-i", "de_DE", "-f", "UTF-8", place}))
        GTEST_SKIP() << "no locale with a comma is or can be made here";
      setenv("LOCPATH", folder.path.c_str(), 1);
      if (!std::setlocale(LC_ALL, name))
        GTEST_SKIP() << "no locale with a comma can be chosen here";
    }
    ASSERT_STREQ(std::localeconv()->decimal_point, ",");
    std::locale::global(std::locale(std::locale(), new CommaPunct));
    std::setlocale(LC_ALL, name);
  }
  void TearDown() override { leave(); }
  void leave() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
  }
  ToolOutput run(std::vector<std::string> more) {
    std::vector<std::string> args = {
        "run",
        "--text",
        RAYTENTION_TEST_DATA "/plays.txt",
        "--vocab",
        "word",
        "--seq-len",
        "20",
        "--d-model",
        "8",
        "--channels",
        "centroid,decay:backward:0,decay:backward:1,entropy"};
    args.insert(args.end(), more.begin(), more.end());
    return runRt(args);
  }
  /// Where a digit stands before a comma and after it.
  static size_t findComma(const std::string &text) {
    for (size_t i = 1; i + 1 < text.size(); ++i)
      if (text[i] == ',' && isdigit(text[i - 1]) && isdigit(text[i + 1]))
        return i;
    return std::string::npos;
  }

  static constexpr const char *name = "de_DE.UTF-8";
  TempFolder folder;
};

} // namespace

TEST_F(Locale, RtReadsAndPrintsPoints) {
  std::vector<std::string> options = {
      "--tau", "0.5", "--gammas", "0.5,0.25", "--check", "--explain", "19"};
  ToolOutput text = run(options);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(findComma(text.out), std::string::npos) << text.out;
  options.insert(options.end(), {"--json", "--out", folder.file("a")});
  ToolOutput json = run(options);
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_STREQ(std::localeconv()->decimal_point, ","); // still the host's
  leave();
  auto value = llvm::json::parse(json.out);
  EXPECT_TRUE(bool(value)) << llvm::toString(value.takeError()) << json.out;
  // As without the locale.
  options.back() = folder.file("b");
  EXPECT_EQ(run(options).code, 0);
  EXPECT_TRUE(readFile(folder.file("a/signals.npy")) ==
              readFile(folder.file("b/signals.npy")));
}

TEST_F(Locale, MessagesHavePoints) {
  ToolOutput output = run({"--tau", "0,5"});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("got '0,5'"), std::string::npos) << output.err;
  output = run({"--gammas", "0.5,1.5"});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.err.find("got '1.5'"), std::string::npos) << output.err;
  EXPECT_EQ(numberText(1.5), "1.5");
  EXPECT_EQ(numberText(-1234567.25), "-1234567.25");
  EXPECT_EQ(numberText(1e39), "1e+39");
  EXPECT_EQ(progressLine("compile", 0, 0, 1.25), "compile  1.2 s");
  AttentionSpec spec;
  spec.numGammas = 1;
  Inputs inputs;
  inputs.gammas = {1.5};
  EXPECT_EQ(llvm::toString(checkInputs(spec, inputs, Outputs(), 0)),
            "expected gammas in [2^-100, 1], got 1.5 at index 0");
  simt::Profile profile;
  profile.warpInstructions = 2;
  profile.threadInstructions = 3;
  EXPECT_NE(profile.text().find("1.5 lanes active on average"),
            std::string::npos)
      << profile.text();
  setenv("RT_HIDE_CUDA", "1", 1);
  output = runRt({"doctor"});
  EXPECT_EQ(findComma(output.out), std::string::npos) << output.out;
  output = runRt({"doctor", "--json"});
  unsetenv("RT_HIDE_CUDA");
  leave();
  auto value = llvm::json::parse(output.out);
  EXPECT_TRUE(bool(value)) << llvm::toString(value.takeError()) << output.out;
}
