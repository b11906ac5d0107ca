//===- DeviceTest.cpp - runs of rt on the simt device ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What FuzzTest.cpp does, for kernels: they are right, and the device finds no
// fault in them (a race, an access out of bounds, uninitialised shared memory).
// Some by hand:
//
//   RT_FUZZ=SEED:FIRST:COUNT fuzz-test --gtest_filter=ChosenDevice.*
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/fuzz/DeviceCase.h"
#include "tests/fuzz/Tally.h"

#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <set>

using namespace raytention::fuzz;

namespace {

constexpr uint64_t kSeed = 1;
constexpr int64_t kPlainShards = 4;
constexpr int64_t kFullCases = 600, kFullShards = 6;
/// Draws of the full run that a build once got wrong.
constexpr uint64_t kOnceWrong[] = {1, 7, 48};

std::vector<Choice> coverDevice() {
  return coverPairs(deviceParameters(), isDeviceChoice, kSeed);
}

/// The cases of the plain run.
std::vector<Case> plainCases() {
  std::vector<Case> cases;
  for (const Choice &choice : coverDevice())
    cases.push_back(makeDeviceCase(choice, kSeed, cases.size()));
  for (uint64_t number : kOnceWrong)
    cases.push_back(drawDeviceCase(kSeed, number));
  return cases;
}

class DeviceShard : public testing::TestWithParam<int64_t> {};

std::string nameShard(const testing::TestParamInfo<int64_t> &info) {
  return std::to_string(info.param);
}

class PlainDevice : public DeviceShard {};

TEST_P(PlainDevice, EveryRunIsRight) {
  RT_NVRTC_OR_SKIP(nvrtc);
  std::vector<Case> cases = plainCases();
  Tally tally;
  for (size_t i = GetParam(); i < cases.size(); i += kPlainShards)
    tally.add(cases[i], chooseRelation(cases[i], i));
  tally.print();
  EXPECT_EQ(tally.count(Verdict::Refused), 0);
  tally.expectUseful();
}

INSTANTIATE_TEST_SUITE_P(Fixed, PlainDevice,
                         testing::Range<int64_t>(0, kPlainShards), nameShard);

class FullDevice : public DeviceShard {};

TEST_P(FullDevice, EveryRunIsRight) {
  RT_NVRTC_OR_SKIP(nvrtc);
  Tally tally;
  for (int64_t i = GetParam(); i < kFullCases; i += kFullShards) {
    Case c = drawDeviceCase(kSeed, i);
    tally.add(c, chooseRelation(c, i));
  }
  tally.print();
  tally.expectUseful();
}

INSTANTIATE_TEST_SUITE_P(Long, FullDevice,
                         testing::Range<int64_t>(0, kFullShards), nameShard);

/// Each two values of a choice, with the parameters that have them.
using Pair = std::array<int, 4>;
std::set<Pair> findPairs(llvm::ArrayRef<Choice> choices) {
  std::set<Pair> pairs;
  for (const Choice &choice : choices)
    for (int i = 0; i < int(choice.size()); ++i)
      for (int k = 0; k < i; ++k)
        pairs.insert({i, choice[i], k, choice[k]});
  return pairs;
}

TEST(PairCover, HoldsEveryPairThatIsAllowed) {
  std::vector<Choice> cover = coverDevice();
  std::vector<Choice> all = findChoices(deviceParameters(), isDeviceChoice);
  std::set<Pair> wanted = findPairs(all);
  EXPECT_EQ(findPairs(cover), wanted);
  for (const Choice &choice : cover)
    EXPECT_TRUE(isDeviceChoice(choice));
  // All pairs but: one key with an offset; the widest two, fused.
  size_t pairs = 0;
  llvm::ArrayRef<int> counts = deviceParameters();
  for (size_t i = 0; i < counts.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      pairs += counts[i] * counts[k];
  EXPECT_EQ(wanted.size(), pairs - 3);
  EXPECT_LE(cover.size(), 60u);
}

TEST(PairCover, IsAlwaysTheSame) {
  EXPECT_EQ(coverDevice(), coverDevice());
  EXPECT_NE(coverDevice(),
            coverPairs(deviceParameters(), isDeviceChoice, kSeed + 1));
}

/// By hand; see the top of this file.
TEST(ChosenDevice, EveryRunIsRight) {
  const char *chosen = std::getenv("RT_FUZZ");
  if (!chosen)
    GTEST_SKIP() << "RT_FUZZ=SEED:FIRST:COUNT chooses cases";
  uint64_t numbers[] = {0, 0, 1};
  llvm::StringRef rest = chosen, text;
  for (uint64_t &number : numbers) {
    std::tie(text, rest) = rest.split(':');
    (void)text.getAsInteger(10, number);
  }
  auto [seed, first, count] = numbers;
  Tally tally;
  for (uint64_t i = first; i < first + count; ++i) {
    Case c = drawDeviceCase(seed, i);
    tally.add(c, chooseRelation(c, i));
  }
  tally.print();
}

} // namespace
