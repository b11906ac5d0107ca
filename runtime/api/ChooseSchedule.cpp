//===- ChooseSchedule.cpp - tile, chunk and kept scores that fit a cap -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/ChooseSchedule.h"
#include "runtime/api/StatusError.h"

#include "llvm/ADT/Twine.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;
using namespace raytention;

/// Widths are padded to whole panels of this many columns.
static constexpr int64_t kPanel = 32;
static constexpr int64_t kSmallestChunk = 16;
static constexpr int64_t kSmallestTile = 8;

/// Every size, and so every index of a key, is an int32.
static constexpr int64_t kLargestSize = std::numeric_limits<int32_t>::max();

namespace {

/// A count that stays at the largest number where it would pass it.
class Count {
public:
  Count(int64_t value) : value(static_cast<uint64_t>(value)) {}
  friend Count operator+(Count a, Count b) {
    return Count(SaturatingAdd(a.value, b.value), Raw());
  }
  friend Count operator*(Count a, Count b) {
    return Count(SaturatingMultiply(a.value, b.value), Raw());
  }
  Count &operator+=(Count other) { return *this = *this + other; }
  friend bool operator<(Count a, Count b) { return a.value < b.value; }
  int64_t get() const {
    constexpr uint64_t most = std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(std::min(value, most));
  }

private:
  struct Raw {};
  Count(uint64_t value, Raw) : value(value) {}
  uint64_t value;
};

} // namespace

static Count roundUp(int64_t size, int64_t multiple) {
  return Count(divideCeil(size, multiple)) * multiple;
}

/// Squared norms of rows, by blocks of the width.
static Count countNorms(const WorkspaceProblem &problem, Count rows) {
  constexpr int64_t block = 32;
  return (Count(divideCeil(problem.dModel, block)) + 1) * rows;
}

/// Elements of the larger of a gradient's tasks, a tile of queries against
/// chunks of keys or the other way round.
static Count countBackward(const WorkspaceProblem &problem,
                           const ChosenSchedule &schedule) {
  Count tile = schedule.queryTile, chunk = schedule.keyChunk;
  Count width = roundUp(problem.dModel, kPanel);
  Count items = std::max(tile, chunk), passing = std::min(tile, chunk);
  // Packed in both forms, sums, and what passes by.
  Count elements = 3 * width * items + width * passing;
  elements += problem.numWeighted * tile * width; // stacked gradients
  // Products, scores and a part of their sums, coefficients.
  elements += (Count(problem.numWeighted) + 3) * tile * chunk;
  elements += countNorms(problem, tile + chunk);
  elements += 3 * Count(problem.numFields) * tile; // rows, accumulators
  return elements;
}

int64_t raytention::estimateWorkspace(const WorkspaceProblem &problem,
                                      const ChosenSchedule &schedule) {
  Count tile = schedule.queryTile, chunk = schedule.keyChunk;
  Count width = roundUp(problem.dModel, kPanel);
  Count elements = width * tile; // packed queries
  elements += width * chunk;     // packed keys
  elements += 2 * tile * chunk;  // scores, a part of sums
  elements += countNorms(problem, tile + chunk);
  elements += problem.numWeighted * tile * chunk; // weights
  elements += problem.numWeighted * tile * width; // sums
  elements += problem.numFields * tile;           // states
  if (schedule.keepScores)
    elements += tile * roundUp(problem.numKeys, schedule.keyChunk);
  if (problem.backward)
    elements = std::max(elements, countBackward(problem, schedule));
  Count bytes = elements * problem.elementBytes;
  return (bytes + bytes.get() / 10).get(); // rounding of every slice
}

static Error checkSize(StringRef name, int64_t size, int64_t least) {
  if (size >= least && size <= kLargestSize)
    return Error::success();
  return createStringError("expected " + name + " in [" + Twine(least) + ", " +
                           Twine(kLargestSize) + "], got " + Twine(size));
}

static Error checkWanted(const WorkspaceProblem &problem,
                         const Schedule &wanted) {
  if (Error error = checkSize("a query tile", wanted.queryTile, 0))
    return error;
  if (Error error = checkSize("a key chunk", wanted.keyChunk, 0))
    return error;
  if (Error error = checkSize("a number of key ranges", wanted.splitKeys, 0))
    return error;
  if (Error error = checkSize("a query chunk", wanted.queryChunk, 0))
    return error;
  if (wanted.family != Schedule::Family::Stored && wanted.queryChunk)
    return createStringError("expected no query chunk but in family stored, "
                             "got " +
                             Twine(wanted.queryChunk));
  if (wanted.family == Schedule::Family::Stored &&
      wanted.scores == Schedule::Scores::Recompute)
    return createStringError(
        "expected scores auto or keep in family stored, got recompute");
  if (wanted.family == Schedule::Family::Stored && wanted.splitKeys > 1)
    return createStringError("expected one key range in family stored, got "
                             "split keys " +
                             Twine(wanted.splitKeys));
  return Error::success();
}

/// Takes the next smaller step that `wanted` leaves open; false at the end.
static bool shrink(ChosenSchedule &schedule, const Schedule &wanted) {
  if (schedule.keepScores && wanted.scores == Schedule::Scores::Auto) {
    schedule.keepScores = false;
    return true;
  }
  if (wanted.keyChunk == 0 && schedule.keyChunk > kSmallestChunk) {
    schedule.keyChunk = std::max(kSmallestChunk, schedule.keyChunk / 2);
    return true;
  }
  if (wanted.queryTile == 0 && schedule.queryTile > kSmallestTile) {
    schedule.queryTile = std::max(kSmallestTile, schedule.queryTile / 2);
    return true;
  }
  return false;
}

int64_t raytention::estimateStoredRow(const WorkspaceProblem &problem) {
  Count weighted = problem.numWeighted;
  Count row = problem.backward
                  ? (weighted + 2) * problem.numKeys + weighted * problem.dModel
                  : Count(problem.numKeys);
  row += problem.numFields;
  return (row * problem.elementBytes).get();
}

/// Rows at a time of family stored: more of them leave the caches, fewer are
/// too few tasks.
static constexpr int64_t kMostStoredRows = 256;
/// Narrower rows are faster fused: the pairs that it does not store weigh more
/// than the products that it repeats.
static constexpr int64_t kNarrowestStored = 384;

static int64_t chooseQueryChunk(const WorkspaceProblem &problem,
                                const ChosenSchedule &schedule) {
  int64_t rows = problem.cap / std::max<int64_t>(1, estimateStoredRow(problem));
  int64_t tiles = std::min(rows, kMostStoredRows) / schedule.queryTile;
  // Fewer than the most are a power of two: few variants for any length.
  if (rows < kMostStoredRows)
    tiles = llvm::bit_floor(static_cast<uint64_t>(tiles));
  return std::max(tiles, int64_t(1)) * schedule.queryTile;
}

ChosenSchedule
raytention::chooseBackwardSchedule(const WorkspaceProblem &problem,
                                   const Schedule &wanted,
                                   const ChosenSchedule &forward) {
  ChosenSchedule schedule = forward;
  bool isOpen = wanted.family == Schedule::Family::Auto &&
                wanted.scores != Schedule::Scores::Recompute &&
                forward.splitKeys == 1;
  // Of how many keys, and so how large, pairs are must be known.
  if (!isOpen || problem.dModel < kNarrowestStored || problem.numKeys == 0)
    return schedule;
  int64_t rows = chooseQueryChunk(problem, schedule);
  if (rows < kMostStoredRows)
    return schedule;
  schedule.isStored = true;
  schedule.queryChunk = rows;
  return schedule;
}

Expected<ChosenSchedule>
raytention::chooseSchedule(const WorkspaceProblem &problem,
                           const Schedule &wanted) {
  if (Error error = checkWanted(problem, wanted))
    return error;
  ChosenSchedule schedule;
  schedule.queryTile = wanted.queryTile ? wanted.queryTile : schedule.queryTile;
  schedule.keyChunk = wanted.keyChunk ? wanted.keyChunk : schedule.keyChunk;
  schedule.splitKeys = std::max<int64_t>(1, wanted.splitKeys);
  schedule.keepScores = wanted.scores != Schedule::Scores::Recompute;
  int64_t smallest = estimateWorkspace(problem, schedule);
  while (estimateWorkspace(problem, schedule) > problem.cap) {
    if (!shrink(schedule, wanted))
      return makeError(StatusCode::ResourceLimit,
                       "expected a workspace cap of at least " +
                           Twine(smallest) +
                           " bytes per worker for this attention, got " +
                           Twine(problem.cap));
    smallest = std::min(smallest, estimateWorkspace(problem, schedule));
  }
  schedule.isStored = wanted.family == Schedule::Family::Stored;
  if (schedule.isStored)
    schedule.queryChunk = wanted.queryChunk
                              ? wanted.queryChunk
                              : chooseQueryChunk(problem, schedule);
  return schedule;
}
