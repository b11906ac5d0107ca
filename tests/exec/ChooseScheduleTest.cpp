//===- ChooseScheduleTest.cpp - schedules under a cap -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/ChooseSchedule.h"

#include "gtest/gtest.h"

using namespace raytention;

namespace {

/// The default channels at D = 64, up to 2048 keys.
WorkspaceProblem getProblem() {
  WorkspaceProblem problem;
  problem.dModel = 64;
  problem.numWeighted = 6;
  problem.numFields = 24;
  problem.numKeys = 2048;
  problem.cap = int64_t(64) << 20;
  return problem;
}

TEST(ChooseSchedule, DefaultsKeepTheScores) {
  ChosenSchedule schedule = llvm::cantFail(chooseSchedule(getProblem(), {}));
  EXPECT_EQ(schedule.queryTile, 32);
  EXPECT_EQ(schedule.keyChunk, 192);
  EXPECT_EQ(schedule.splitKeys, 1);
  EXPECT_TRUE(schedule.keepScores);
}

TEST(ChooseSchedule, LongSequencesRecompute) {
  WorkspaceProblem problem = getProblem();
  problem.numKeys = 1 << 20;
  ChosenSchedule schedule = llvm::cantFail(chooseSchedule(problem, {}));
  EXPECT_FALSE(schedule.keepScores);
  EXPECT_EQ(schedule.keyChunk, 192);
}

TEST(ChooseSchedule, SmallCapsShrinkTheChunkThenTheTile) {
  WorkspaceProblem problem = getProblem();
  problem.cap = 200 << 10;
  ChosenSchedule chunk = llvm::cantFail(chooseSchedule(problem, {}));
  EXPECT_EQ(chunk.queryTile, 32);
  EXPECT_LT(chunk.keyChunk, 192);
  problem.cap = 40 << 10;
  ChosenSchedule tile = llvm::cantFail(chooseSchedule(problem, {}));
  EXPECT_EQ(tile.keyChunk, 16);
  EXPECT_LT(tile.queryTile, 32);
  EXPECT_LE(estimateWorkspace(problem, tile), problem.cap);
}

/// A row: distances, six weights and coefficients of each key, fields and
/// stack.
TEST(ChooseSchedule, GradientsOfWideRowsAreStoredInChunksThatFit) {
  WorkspaceProblem problem = getProblem();
  problem.backward = true;
  auto choose = [&](const Schedule &wanted) {
    ChosenSchedule forward = llvm::cantFail(chooseSchedule(problem, wanted));
    EXPECT_EQ(forward.isStored, wanted.family == Schedule::Family::Stored);
    return chooseBackwardSchedule(problem, wanted, forward);
  };
  EXPECT_FALSE(choose({}).isStored);
  problem.dModel = 768;
  EXPECT_TRUE(choose({}).isStored);
  EXPECT_EQ(choose({}).queryChunk, 256);
  problem.numKeys = 1 << 15;
  EXPECT_EQ(estimateStoredRow(problem), (int64_t(8 << 15) + 24 + 6 * 768) * 4);
  EXPECT_FALSE(choose({}).isStored);
  Schedule wanted;
  wanted.family = Schedule::Family::Fused;
  EXPECT_FALSE(choose(wanted).isStored);
  wanted.family = Schedule::Family::Stored;
  EXPECT_EQ(choose(wanted).queryChunk, 32);
  wanted.queryChunk = 100;
  EXPECT_TRUE(choose(wanted).isStored);
  EXPECT_EQ(choose(wanted).queryChunk, 100);
  problem.numKeys = 2048;
  wanted = {};
  wanted.splitKeys = 2;
  EXPECT_FALSE(choose(wanted).isStored);
  wanted = {};
  wanted.scores = Schedule::Scores::Recompute;
  EXPECT_FALSE(choose(wanted).isStored);
  problem.numKeys = 0;
  EXPECT_FALSE(choose({}).isStored);
}

/// Where tokens repeat, and nothing that has no folded form is wanted.
TEST(ChooseSchedule, ForwardPassesAreFoldedWhereThatLeavesFewPairs) {
  WorkspaceProblem problem = getProblem();
  auto choose = [&](const Schedule &wanted) {
    return llvm::cantFail(chooseSchedule(problem, wanted));
  };
  EXPECT_EQ(choose({}).foldChunk, 0);
  problem.foldedShare = 0.5;
  EXPECT_EQ(choose({}).foldChunk, kFoldRows);
  EXPECT_EQ(chooseBackwardSchedule(problem, {}, choose({})).foldChunk, 0);
  Schedule wanted;
  wanted.space = Schedule::Space::Direct;
  EXPECT_EQ(choose(wanted).foldChunk, 0);
  wanted = {};
  wanted.family = Schedule::Family::Stored;
  EXPECT_EQ(choose(wanted).foldChunk, 0);
  wanted = {};
  wanted.splitKeys = 2;
  EXPECT_EQ(choose(wanted).foldChunk, 0);
  wanted.space = Schedule::Space::Folded;
  llvm::Error error = chooseSchedule(problem, wanted).takeError();
  EXPECT_EQ(llvm::toString(std::move(error)),
            "expected family fused and one key range in the folded schedule, "
            "which has no other form yet");
  wanted.splitKeys = 1;
  wanted.foldChunk = 7;
  problem.foldedShare = 1;
  EXPECT_EQ(choose(wanted).foldChunk, 7);
  wanted.space = Schedule::Space::Auto;
  error = chooseSchedule(problem, wanted).takeError();
  EXPECT_EQ(llvm::toString(std::move(error)),
            "expected no fold chunk but in the folded schedule, got 7");
}

TEST(ChooseSchedule, WantedFieldsStand) {
  WorkspaceProblem problem = getProblem();
  problem.cap = 300 << 10;
  Schedule wanted;
  wanted.keyChunk = 128;
  ChosenSchedule schedule = llvm::cantFail(chooseSchedule(problem, wanted));
  EXPECT_EQ(schedule.keyChunk, 128);
  wanted.scores = Schedule::Scores::Keep;
  problem.cap = 64 << 20;
  problem.numKeys = 1 << 30;
  llvm::Error error = chooseSchedule(problem, wanted).takeError();
  EXPECT_TRUE(bool(error));
  llvm::consumeError(std::move(error));
}

TEST(ChooseSchedule, ErrorNamesACapThatWorks) {
  WorkspaceProblem problem = getProblem();
  problem.cap = 1000;
  std::string message = llvm::toString(chooseSchedule(problem, {}).takeError());
  EXPECT_EQ(message, "expected a workspace cap of at least 25942 bytes per "
                     "worker for this attention, got 1000");
  problem.cap = 25942;
  EXPECT_TRUE(bool(chooseSchedule(problem, {})));
}

TEST(ChooseSchedule, GradientsFitTheCapToo) {
  WorkspaceProblem problem = getProblem();
  problem.numKeys = 0;
  Schedule wanted;
  wanted.scores = Schedule::Scores::Recompute;
  problem.cap = estimateWorkspace(
      problem, llvm::cantFail(chooseSchedule(problem, wanted)));
  problem.backward = true;
  ChosenSchedule schedule = llvm::cantFail(chooseSchedule(problem, wanted));
  EXPECT_LE(estimateWorkspace(problem, schedule), problem.cap);
  problem.cap = estimateWorkspace(problem, {}) - 1;
  wanted.queryTile = 32;
  EXPECT_LT(llvm::cantFail(chooseSchedule(problem, wanted)).keyChunk, 192);
}

TEST(ChooseSchedule, RefusesSizesThatAreNone) {
  const std::pair<int64_t Schedule::*, std::string> fields[] = {
      {&Schedule::queryTile, "a query tile"},
      {&Schedule::keyChunk, "a key chunk"},
      {&Schedule::splitKeys, "a number of key ranges"}};
  for (auto &[field, name] : fields)
    for (int64_t size : {int64_t(-1), int64_t(1) << 31, int64_t(1) << 59,
                         std::numeric_limits<int64_t>::max(),
                         std::numeric_limits<int64_t>::min()}) {
      Schedule wanted;
      wanted.*field = size;
      EXPECT_EQ(
          llvm::toString(chooseSchedule(getProblem(), wanted).takeError()),
          "expected " + name + " in [0, 2147483647], got " +
              std::to_string(size));
    }
}

/// Sizes that are allowed each, but not together.
TEST(ChooseSchedule, EstimatesDoNotWrapAround) {
  WorkspaceProblem problem = getProblem();
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  problem.dModel = problem.numKeys = most;
  for (bool backward : {false, true}) {
    problem.backward = backward;
    ChosenSchedule large;
    large.queryTile = large.keyChunk = large.splitKeys = most;
    EXPECT_EQ(estimateWorkspace(problem, large),
              std::numeric_limits<int64_t>::max());
    Schedule wanted;
    wanted.queryTile = wanted.keyChunk = most;
    std::string message =
        llvm::toString(chooseSchedule(problem, wanted).takeError());
    EXPECT_EQ(message, "expected a workspace cap of at least "
                       "9223372036854775807 bytes per worker for this "
                       "attention, got 67108864");
  }
}

} // namespace
