//===- DeviceSchedule.cpp - the schedule of kernels -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/DeviceSchedule.h"
#include "dialect/RayTention/SweepLayout.h"

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
static int64_t estimateBytes(const SweepLayout &layout,
                             const AttentionSpec &spec, const Tiles &tiles) {
  int64_t bytes = spec.dtype == DType::F64 ? 8 : 4;
  int64_t fields = 0;
  for (SweepKind kind : {SweepKind::Score, SweepKind::Reduce})
    fields += layout.numFloats(kind) + layout.numInts(kind);
  int64_t pairs = (layout.numWeighted + 1) * tiles.rows * tiles.keys;
  int64_t wide = layout.numWeighted * tiles.rows + tiles.keys;
  return bytes * (pairs + wide * spec.dModel + fields * tiles.rows) + 1024;
}

static Tiles fitTiles(const SweepLayout &layout, const AttentionSpec &spec) {
  Tiles tiles;
  while (estimateBytes(layout, spec, tiles) > kSharedBytes) {
    if (tiles.rows > kSmallestTile)
      tiles.rows /= 2;
    else if (tiles.keys > kSmallestChunk)
      tiles.keys /= 2;
    else
      break; // --rt-verify-resources says what is too large
  }
  return tiles;
}

static llvm::Error checkWanted(const Schedule &wanted, Family family) {
  if (wanted.splitKeys > 1)
    return llvm::createStringError(
        "expected one key range on a device, got split keys " +
        llvm::Twine(wanted.splitKeys));
  if (family == Family::Fused && wanted.scores == Schedule::Scores::Keep)
    return llvm::createStringError(
        "expected scores auto or recompute in family "
        "fused on a device, got keep");
  if (family == Family::Stored && wanted.scores == Schedule::Scores::Recompute)
    return llvm::createStringError(
        "expected scores auto or keep in family stored, got recompute");
  for (int64_t size : {wanted.queryTile, wanted.keyChunk})
    if (size < 0 || size > 1024)
      return llvm::createStringError("expected a query tile and a key chunk in "
                                     "[0, 1024] on a device, got " +
                                     llvm::Twine(size));
  return llvm::Error::success();
}

llvm::Expected<ScheduleAttr>
raytention::chooseDeviceSchedule(ArrayAttr channels, const AttentionSpec &spec,
                                 const CompileOptions &options) {
  const Schedule &wanted = options.schedule;
  bool isFused = wanted.family == Schedule::Family::Auto
                     ? spec.dModel <= kWidestFused
                     : wanted.family == Schedule::Family::Fused;
  Family family = isFused ? Family::Fused : Family::Stored;
  if (llvm::Error error = checkWanted(wanted, family))
    return error;
  Tiles tiles = isFused ? fitTiles(SweepLayout::get(channels), spec) : Tiles();
  return ScheduleAttr::get(
      channels.getContext(), wanted.queryTile ? wanted.queryTile : tiles.rows,
      wanted.keyChunk ? wanted.keyChunk : tiles.keys, /*splitKeys=*/1,
      isFused ? ScorePlan::Recompute : ScorePlan::Keep, family, kThreads);
}
