//===- PublishedTest.cpp - the published implementation's values ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The published arrays, read from their files, through both targets. Powers of
// the published code pass through float32, and at token 0 its top-2 is a future
// key: signals are compared from row 1 on. Within 1e-6, and with distances by
// differences within 1e-6 of each channel's largest value: where a query equals
// its key, an expansion leaves 1e-15 in a spread that is itself 1e-12.
//
//===----------------------------------------------------------------------===//

#include "tests/unit/Support.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention::tool;
using namespace raytention::test;

namespace {

struct PublishedCase {
  const char *name, *tau;
};

class Published
    : public testing::TestWithParam<std::tuple<PublishedCase, const char *>> {
protected:
  std::string folder() const {
    return std::string(RAYTENTION_TEST_DATA "/reference/") +
           std::get<0>(GetParam()).name + "/";
  }
  void compare(const char *precision, bool isRelative);
  std::vector<std::string> arguments(std::string dtype) const {
    auto [published, target] = GetParam();
    return {"run",
            "--ids",
            folder() + "ids.npy",
            "--queries",
            folder() + "queries.npy",
            "--table",
            folder() + "table.npy",
            "--tau",
            published.tau,
            "--target",
            target,
            "--dtype",
            dtype};
  }
};

/// Column ranges of the default channels: ten of width D, two of width 1.
std::vector<std::pair<int64_t, int64_t>> channelColumns(int64_t width) {
  int64_t dModel = (width - 2) / 10;
  std::vector<std::pair<int64_t, int64_t>> columns;
  for (int64_t i = 0; i < 10; ++i)
    columns.push_back({i * dModel, (i + 1) * dModel});
  columns.push_back({width - 2, width - 1});
  columns.push_back({width - 1, width});
  return columns;
}

} // namespace

TEST_P(Published, EveryChannelAgreesInDouble) {
  compare("fast", /*isRelative=*/false);
  compare("exact", /*isRelative=*/true);
}

void Published::compare(const char *precision, bool isRelative) {
  TempFolder temp;
  std::vector<std::string> args = arguments("f64");
  args.insert(args.end(),
              {"--precision", precision, "--out", temp.file("out")});
  ToolOutput output = runRt(args);
  ASSERT_EQ(output.code, 0) << output.err;
  auto signals = readNpy(temp.file("out/signals.npy"), true, 3, false);
  auto published = readNpy(folder() + "signals.npy", true, 3, false);
  ASSERT_TRUE(signals && published);
  ASSERT_EQ(signals->shape, published->shape);
  int64_t keys = signals->shape[1], width = signals->shape[2];
  for (auto [begin, end] : channelColumns(width)) {
    double error = 0, largest = 0;
    for (int64_t row = 0; row < signals->size() / width; ++row)
      for (int64_t d = begin; row % keys != 0 && d < end; ++d) {
        double value = published->floatAt(row * width + d);
        error = std::fmax(error,
                          std::fabs(signals->floatAt(row * width + d) - value));
        largest = std::fmax(largest, std::fabs(value));
      }
    EXPECT_LE(error, isRelative ? 1e-6 * largest : 1e-6)
        << precision << ", columns " << begin << " to " << end;
  }
}

/// In "quickstart" every query is its own key, the only one with weight: the
/// spread is 4e-12, of which distances by expansion say nothing in float. All
/// else is checked.
TEST_P(Published, EveryTypeKeepsTheAccuracyRule) {
  bool isOnKeys = std::string(std::get<0>(GetParam()).name) == "quickstart";
  for (const char *dtype : {"f64", "f32", "bf16"}) {
    std::vector<std::string> args = arguments(dtype);
    args.push_back("--check");
    ToolOutput output = runRt(args);
    bool unchecked = isOnKeys && std::string(dtype) != "f64";
    EXPECT_EQ(output.code, unchecked) << dtype << output.out << output.err;
    llvm::StringRef text = output.out, rest = text.split("\n  spread ").second;
    EXPECT_EQ(text.count("FAILED"), 0u) << dtype << output.out;
    EXPECT_EQ(text.count("unchecked: "), unchecked) << dtype << output.out;
    EXPECT_EQ(rest.split('\n').first.contains("unchecked: "), unchecked)
        << dtype << output.out;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Published,
    testing::Combine(testing::Values(PublishedCase{"tiny", "0.7"},
                                     PublishedCase{"quickstart", "1"},
                                     PublishedCase{"words", "1.5"}),
                     testing::Values("cpu", "reference")),
    [](const testing::TestParamInfo<Published::ParamType> &info) {
      return std::string(std::get<0>(info.param).name) + "_" +
             std::get<1>(info.param);
    });
