//===- AsyncCopy.h - copies that land later ---------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With checks on, data move as late as a wait allows, and shared memory holds
// NaNs until then; without, at once.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_ASYNCCOPY_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_ASYNCCOPY_H

#include "runtime/device/simt/TensorMap.h"

#include <cstdint>
#include <vector>

namespace raytention::simt {

struct Block;
struct Warp;

/// A cp.async that has not landed.
struct AsyncCopy {
  uint32_t to = 0;
  uint64_t from = 0;
  uint16_t bytes = 0, read = 0; ///< the rest is zeros
  uint32_t group = 0, pc = 0;
  uint32_t sequence = 0; ///< among those of the lane
};

/// Bytes that follow one another in both memories, but for the swizzle.
struct Piece {
  uint32_t offset =
      0; ///< in the box, as shared memory would hold it unswizzled
  uint32_t bytes = 0;
  uint64_t global = 0;  ///< 0: outside the tensor
  bool tracked = false; ///< not read-only: others may write it
};

/// Combines one element in memory with another, as an atomic does.
using Combine = void (*)(uint8_t what, uint8_t *to, const uint8_t *from);

/// A cp.async.bulk of one lane.
struct BulkCopy {
  uint32_t warp = 0, lane = 0, pc = 0;
  uint32_t shared = 0; ///< address of the box
  uint32_t bytes = 0;  ///< of shared memory
  Swizzle swizzle = Swizzle::None;
  TensorElement element = TensorElement::U8;
  bool fillNaN = false;
  bool wasRead = false;      ///< of a store: its source is free again
  uint32_t group = 0;        ///< of a store
  Combine combine = nullptr; ///< of a cp.reduce
  uint8_t what = 0, elementBytes = 0;
  std::vector<Piece> pieces;
};

struct LaneCopies {
  std::vector<AsyncCopy> pending;
  std::vector<BulkCopy> stores; ///< from shared to global memory
  uint32_t committed = 0;       ///< groups of cp.async
  uint32_t storesCommitted = 0; ///< groups of bulk stores
  uint32_t issued = 0;

  void clear() { *this = LaneCopies(); }
};

/// The box whose first element has these coordinates.
std::vector<Piece> makePieces(const TensorMap &map, const int32_t *start);

/// Copies of groups up to this one land; their thread may see them.
void landCopies(Warp &warp, unsigned lane, uint32_t upToGroup);
/// Those up to `sequence` land; who waits for the mbarrier may see them.
void landCopiesFor(Warp &warp, unsigned lane, uint32_t sequence, uint32_t slot);

/// Starts a copy into shared memory; the mbarrier at the address counts its
/// bytes when it lands.
void beginBulkLoad(Warp &warp, BulkCopy copy, uint32_t mbarrier);
void landBulkLoad(Block &block, const BulkCopy &copy, uint32_t slot);
void beginBulkStore(Warp &warp, BulkCopy copy);
/// Stores of groups up to this one have read their source, and with `all`
/// written their destination.
void landBulkStores(Warp &warp, unsigned lane, uint32_t upToGroup, bool all);
/// Reports copies that nobody waited for before a lane or the block ended.
void reportCopiesAtExit(Warp &warp, unsigned lane);
void reportLoadsAtExit(Block &block);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_ASYNCCOPY_H
