//===- FuzzTest.cpp - drawn runs of rt -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs `rt run` as users do, on drawn inputs, schedules and options, and holds
// it to docs/semantics.md: the check against the oracle, what has to be refused
// and what may not be, finite results, zeros where nothing is visible, and
// relations between runs that need no oracle.
//
// A case that fails prints the command that repeats it; its files are kept in
// the build folder. RT_FUZZ_KEEP=DIR keeps those of every case. One case, or
// some of a seed, by hand:
//
//   RT_FUZZ=SEED:FIRST:COUNT fuzz-test --gtest_filter=Chosen.*
//   RT_FUZZ=fixed-NAME       fuzz-test --gtest_filter=Chosen.*
// RT_FUZZ_PROGRAM=FILE runs another build of rt.
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Domain.h"
#include "tests/fuzz/Tally.h"

#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace raytention::fuzz;

namespace {

constexpr uint64_t kSeed = 1;
/// Fixed cases and draws of the plain run, and draws of the full one.
constexpr int64_t kPlainCases = 80, kPlainShards = 10;
constexpr int64_t kFullCases = 3000, kFullShards = 12;
/// Draws of the full run that a build once got wrong.
constexpr uint64_t kOnceWrong[] = {360,  529,  728,  772,  914,
                                   997,  1447, 1473, 1805, 1847,
                                   1934, 2310, 2489, 2531, 2892};

void addDraw(Tally &tally, uint64_t seed, uint64_t number) {
  Case c = drawFamilyCase(seed, number);
  tally.add(c, chooseRelation(c, number));
}

/// Whether a case takes less than half a second or so, nearly all of it to
/// compile.
bool isQuick(const Case &c) {
  return !c.backward ||
         c.channels.size() <= (c.target == "reference" ? 1u : 3u);
}

/// The fixed cases, of those for the CPU every second one in family stored, the
/// others folded; `isOther`: the other way round.
std::vector<Case> fixedFamilyCases(bool isOther) {
  std::vector<Case> cases = fixedCases();
  constexpr int64_t chunks[] = {0, 3, 5, 13};
  for (size_t i = 0; i < cases.size(); ++i)
    if (cases[i].target == "cpu" && (i % 2 == 1) != isOther)
      setStored(cases[i], chunks[i / 2 % std::size(chunks)]);
    else if (cases[i].target == "cpu")
      setFolded(cases[i], chunks[i / 2 % std::size(chunks)]);
  return cases;
}

/// The cases of the plain run: the fixed ones, then quick draws.
std::vector<Case> plainCases() {
  std::vector<Case> cases = fixedFamilyCases(/*isOther=*/false);
  for (uint64_t number : kOnceWrong)
    cases.push_back(drawCase(kSeed, number));
  for (uint64_t number = 0; int64_t(cases.size()) < kPlainCases; ++number)
    if (Case c = drawFamilyCase(/*seed=*/0, number); isQuick(c))
      cases.push_back(std::move(c));
  return cases;
}

class Shard : public testing::TestWithParam<int64_t> {};

std::string nameShard(const testing::TestParamInfo<int64_t> &info) {
  return std::to_string(info.param);
}

/// Every kPlainShards-th case from `first` on.
void runShard(const std::vector<Case> &cases, int64_t first) {
  Tally tally;
  for (int64_t i = first; i < int64_t(cases.size()); i += kPlainShards) {
    bool isPadding = cases[i].name.find("padding") != std::string::npos;
    tally.add(cases[i],
              isPadding ? Relation::NanUnread : chooseRelation(cases[i], i));
  }
  tally.print();
}

class PlainFuzz : public Shard {};

TEST_P(PlainFuzz, EveryRunIsRight) { runShard(plainCases(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Fixed, PlainFuzz,
                         testing::Range<int64_t>(0, kPlainShards), nameShard);

class OtherFamily : public Shard {};

TEST_P(OtherFamily, EveryRunIsRight) {
  std::vector<Case> cases = fixedFamilyCases(/*isOther=*/true);
  for (Case &c : cases)
    c.name += "-other";
  runShard(cases, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Long, OtherFamily,
                         testing::Range<int64_t>(0, kPlainShards), nameShard);

class FullFuzz : public Shard {};

TEST_P(FullFuzz, EveryRunIsRight) {
  Tally tally;
  for (int64_t i = GetParam(); i < kFullCases; i += kFullShards)
    addDraw(tally, kSeed, i);
  tally.print();
  tally.expectUseful();
}

INSTANTIATE_TEST_SUITE_P(Long, FullFuzz,
                         testing::Range<int64_t>(0, kFullShards), nameShard);

TEST(Draws, ACaseIsAlwaysTheSame) {
  for (uint64_t number : {0, 7, 2999}) {
    Case one = drawCase(kSeed, number), other = drawCase(kSeed, number);
    EXPECT_EQ(one.table, other.table);
    EXPECT_EQ(one.queries, other.queries);
    EXPECT_EQ(one.ids, other.ids);
    EXPECT_EQ(one.channels, other.channels);
    EXPECT_EQ(one.tau, other.tau);
    EXPECT_NE(one.table, drawCase(kSeed + 1, number).table);
  }
}

TEST(Draws, MostLieInsideOfTheDomain) {
  std::map<Domain::Place, int64_t> places;
  for (int64_t i = 0; i < kFullCases; ++i)
    ++places[findDomain(drawCase(kSeed, i)).place];
  EXPECT_GE(places[Domain::Inside] * 10, kFullCases * 7);
  EXPECT_GE(places[Domain::Outside] * 100, kFullCases);
}

/// By hand; see the top of this file.
TEST(Chosen, EveryRunIsRight) {
  const char *chosen = std::getenv("RT_FUZZ");
  if (!chosen)
    GTEST_SKIP() << "RT_FUZZ=SEED:FIRST:COUNT chooses cases";
  Tally tally;
  auto [seedText, rest] = llvm::StringRef(chosen).split(':');
  auto [firstText, countText] = rest.split(':');
  uint64_t seed = 0, first = 0, count = 1;
  if (seedText.getAsInteger(10, seed)) {
    for (const Case &c : fixedCases())
      if (llvm::StringRef(c.name).starts_with(chosen))
        tally.add(c, Relation::NanUnread);
  } else {
    (void)firstText.getAsInteger(10, first);
    (void)countText.getAsInteger(10, count);
    for (uint64_t i = first; i < first + count; ++i)
      addDraw(tally, seed, i);
  }
  tally.print();
}

} // namespace
