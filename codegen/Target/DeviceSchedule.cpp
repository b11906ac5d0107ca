//===- DeviceSchedule.cpp - how a device runs an attention by default -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/Target/DeviceSchedule.h"
#include "dialect/RayTention/SweepLayout.h"

#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace raytention;

/// Of a block, on every device since 2020 (sm_86 has the least).
static constexpr int64_t kSharedBytes = 99 << 10;
/// The widest rows of which a block holds the sums of a few channels.
static constexpr int64_t kWidestFused = 128;
static constexpr int64_t kSmallestTile = 4, kSmallestChunk = 8;
static constexpr int64_t kThreads = 128;

namespace {

struct Tiles {
  int64_t rows = 16, keys = 32;
};

} // namespace

/// What a block of the family `fused` keeps: sums, keys, distances, weights and
/// states.
static int64_t estimateBytes(const DeviceProblem &problem, const Tiles &tiles) {
  SweepLayout layout = SweepLayout::get(problem.channels);
  int64_t fields = 0;
  for (SweepKind kind : {SweepKind::Score, SweepKind::Reduce})
    fields += layout.numFloats(kind) + layout.numInts(kind);
  int64_t pairs = (layout.numWeighted + 1) * tiles.rows * tiles.keys;
  int64_t wide = layout.numWeighted * tiles.rows + tiles.keys;
  int64_t elements = pairs + wide * problem.dModel + fields * tiles.rows;
  return problem.elementBytes * elements + 1024;
}

static Tiles fitTiles(const DeviceProblem &problem) {
  Tiles tiles;
  while (estimateBytes(problem, tiles) > kSharedBytes) {
    if (tiles.rows > kSmallestTile)
      tiles.rows /= 2;
    else if (tiles.keys > kSmallestChunk)
      tiles.keys /= 2;
    else
      break; // --rt-verify-resources says what is too large
  }
  return tiles;
}

/// What passes between kernels: distances, weights, sums and states of rows
/// beside the keys. 0: all rows at once fit.
static int64_t fitQueryChunk(const DeviceProblem &problem, int64_t tile) {
  SweepLayout layout = SweepLayout::get(problem.channels);
  double keys = problem.numKeys, width = problem.dModel, fields = 0;
  for (SweepKind kind : {SweepKind::Score, SweepKind::Reduce})
    fields += layout.numFloats(kind) + layout.numInts(kind);
  double weighted = layout.numWeighted, bytes = problem.elementBytes;
  double row = bytes * ((weighted + 1) * keys + weighted * width + fields);
  double left = problem.workspaceCap - bytes * keys * width;
  if (problem.workspaceCap == 0 || row * keys <= left)
    return 0;
  double tiles = std::max(left / (row * tile), 1.0);
  // A power of two: few chunks, so few variants, for any number of keys.
  return llvm::bit_floor(static_cast<uint64_t>(tiles)) * tile;
}

Family raytention::getDefaultFamily(const DeviceProblem &problem) {
  return problem.dModel <= kWidestFused ? Family::Fused : Family::Stored;
}

ScheduleAttr raytention::getDefaultSchedule(const DeviceProblem &problem,
                                            Family family) {
  bool isFused = family == Family::Fused;
  Tiles tiles = isFused ? fitTiles(problem) : Tiles();
  return ScheduleAttr::get(
      problem.channels.getContext(), tiles.rows, tiles.keys, /*splitKeys=*/1,
      isFused ? ScorePlan::Recompute : ScorePlan::Keep, family, kThreads,
      isFused ? 0 : fitQueryChunk(problem, tiles.rows));
}
