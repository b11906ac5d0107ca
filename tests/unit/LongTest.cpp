//===- LongTest.cpp - sizes that take minutes -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Run by tools/test.sh --full only, each in a process of its own (ctest):
// memory that an earlier run has freed would not be counted again.
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention::test;

namespace {

struct LongCase {
  const char *vocab, *keys, *width;
};

class Long : public testing::TestWithParam<LongCase> {};

/// What the operating system may count besides: pages of the process itself.
constexpr double kProcessBytes = 1 << 20;
constexpr double kCapBytes = 64 << 20;

} // namespace

/// Every row agrees with the oracle, and memory is what the report says.
TEST_P(Long, PassesTheCheckWithinTheCap) {
  LongCase size = GetParam();
  ToolOutput output = runRt({"run", "--text", RAYTENTION_TEST_DATA "/plays.txt",
                             "--vocab", size.vocab, "--seq-len", size.keys,
                             "--d-model", size.width, "--check", "--json"});
  ASSERT_EQ(output.code, 0) << output.out << output.err;
  auto parsed = llvm::json::parse(output.out);
  ASSERT_TRUE(static_cast<bool>(parsed));
  const llvm::json::Object &report = *parsed->getAsObject();
  double workspace = *report.getNumber("workspace_bytes");
  EXPECT_LE(*report.getNumber("workspace_bytes_per_thread"), kCapBytes);
  if (auto peak = report.getNumber("peak_extra_bytes")) {
    EXPECT_LE(std::fabs(*peak - workspace), 0.1 * workspace + kProcessBytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Long,
                         testing::Values(LongCase{"byte", "65536", "64"},
                                         LongCase{"word", "16384", "768"}),
                         [](const testing::TestParamInfo<LongCase> &info) {
                           return std::string(info.param.vocab) + "_T" +
                                  info.param.keys + "_D" + info.param.width;
                         });

//===----------------------------------------------------------------------===//
// Forward plus backward, as the operating system sees the process
//===----------------------------------------------------------------------===//

namespace {

class LongGradient : public testing::TestWithParam<const char *> {};

/// Peak resident kilobytes of a process that runs both passes on `keys` keys.
int64_t measurePeak(const char *width, const char *keys) {
  std::vector<llvm::StringRef> arguments = {
      RAYTENTION_RT, "run",  "--text",    RAYTENTION_TEST_DATA "/plays.txt",
      "--vocab",     "word", "--seq-len", keys,
      "--d-model",   width,  "--backward"};
  std::optional<llvm::StringRef> redirects[] = {std::nullopt, "", std::nullopt};
  std::optional<llvm::sys::ProcessStatistics> statistics;
  std::string message;
  int code = llvm::sys::ExecuteAndWait(RAYTENTION_RT, arguments, std::nullopt,
                                       redirects, 0, 0, &message, nullptr,
                                       &statistics);
  EXPECT_EQ(code, 0) << message;
  return statistics ? statistics->PeakMemory : 0;
}

} // namespace

TEST_P(LongGradient, PeakMemoryGrowsWithTheKeysAndNotTheirSquare) {
  int64_t once = measurePeak(GetParam(), "4096");
  int64_t twice = measurePeak(GetParam(), "8192");
  int64_t fourfold = measurePeak(GetParam(), "16384");
  llvm::outs() << "peak " << once << ", " << twice << ", " << fourfold
               << " KiB for T = 4096, 8192, 16384\n";
  EXPECT_GT(twice, once);
  // Twice the keys more, twice the memory more.
  EXPECT_NEAR(fourfold - twice, 2 * (twice - once), 0.25 * (fourfold - twice));
}

INSTANTIATE_TEST_SUITE_P(Sizes, LongGradient, testing::Values("64"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           return "D" + std::string(info.param);
                         });
