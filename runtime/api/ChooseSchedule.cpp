//===- ChooseSchedule.cpp - tile, chunk and kept scores that fit a cap -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/ChooseSchedule.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace llvm;
using namespace raytention;

/// Widths are padded to whole panels of this many columns.
static constexpr int64_t kPanel = 32;
static constexpr int64_t kSmallestChunk = 16;
static constexpr int64_t kSmallestTile = 8;

/// Elements of the larger of a gradient's tasks, a tile of queries against
/// chunks of keys or the other way round.
static int64_t countBackward(const WorkspaceProblem &problem,
                             const ChosenSchedule &schedule) {
  int64_t tile = schedule.queryTile, chunk = schedule.keyChunk;
  int64_t width = alignTo(problem.dModel, kPanel);
  int64_t items = std::max(tile, chunk), passing = std::min(tile, chunk);
  int64_t elements = 2 * width * items + width * passing; // packed, and sums
  elements += problem.numWeighted * tile * width;         // stacked gradients
  elements += (problem.numWeighted + 2) * tile * chunk; // products, scores, ...
  elements += 3 * problem.numFields * tile;             // rows, accumulators
  return elements;
}

int64_t raytention::estimateWorkspace(const WorkspaceProblem &problem,
                                      const ChosenSchedule &schedule) {
  int64_t tile = schedule.queryTile, chunk = schedule.keyChunk;
  int64_t width = alignTo(problem.dModel, kPanel);
  int64_t elements = width * tile;                // packed queries
  elements += width * chunk;                      // packed keys
  elements += tile * chunk;                       // scores
  elements += problem.numWeighted * tile * chunk; // weights
  elements += problem.numWeighted * tile * width; // sums
  elements += problem.numFields * tile;           // states
  if (schedule.keepScores)
    elements += tile * alignTo(problem.maxKeys, chunk);
  if (problem.backward)
    elements = std::max(elements, countBackward(problem, schedule));
  int64_t bytes = elements * problem.elementBytes;
  return bytes + bytes / 10; // norms, rounding of every slice
}

static Error checkWanted(const Schedule &wanted) {
  if (wanted.queryTile < 0 || wanted.keyChunk < 0)
    return createStringError(
        "expected a query tile and a key chunk >= 0, got " +
        Twine(wanted.queryTile) + " and " + Twine(wanted.keyChunk));
  if (wanted.splitKeys < 0)
    return createStringError("expected at least one key range, got " +
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

Expected<ChosenSchedule>
raytention::chooseSchedule(const WorkspaceProblem &problem,
                           const Schedule &wanted) {
  if (Error error = checkWanted(wanted))
    return error;
  ChosenSchedule schedule;
  schedule.queryTile = wanted.queryTile ? wanted.queryTile : schedule.queryTile;
  schedule.keyChunk = wanted.keyChunk ? wanted.keyChunk : schedule.keyChunk;
  schedule.splitKeys = std::max<int64_t>(1, wanted.splitKeys);
  schedule.keepScores = wanted.scores != Schedule::Scores::Recompute;
  int64_t smallest = estimateWorkspace(problem, schedule);
  while (estimateWorkspace(problem, schedule) > problem.cap) {
    if (!shrink(schedule, wanted))
      return createStringError(
          "expected a workspace cap of at least " + Twine(smallest) +
          " bytes per worker for this attention, got " + Twine(problem.cap));
    smallest = std::min(smallest, estimateWorkspace(problem, schedule));
  }
  return schedule;
}
