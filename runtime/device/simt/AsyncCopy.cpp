//===- AsyncCopy.cpp - copies that land later -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ShadowAccess.h"

#include <cstring>

using namespace raytention::simt;

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

static void moveIn(Block &block, const AsyncCopy &copy) {
  uint8_t *to = block.shared.data() + copy.to;
  std::memcpy(to, reinterpret_cast<const void *>(copy.from), copy.read);
  std::memset(to + copy.read, 0, copy.bytes - copy.read);
}

/// `slot` counts from 1; 0: the thread itself waited.
static void land(Warp &warp, unsigned lane, const AsyncCopy &copy,
                 uint32_t slot) {
  Block &block = *warp.block;
  moveIn(block, copy);
  if (!block.worker->checks)
    return;
  Toucher by = makeToucher(warp, lane, Touch::Land);
  by.slot = slot;
  touchShared(block, copy.to, copy.bytes, by);
}

template <class F>
static void landIf(Warp &warp, unsigned lane, uint32_t slot, F lands) {
  std::vector<AsyncCopy> &pending = warp.copies[lane].pending;
  for (const AsyncCopy &copy : pending)
    if (lands(copy))
      land(warp, lane, copy, slot);
  pending.erase(std::remove_if(pending.begin(), pending.end(), lands),
                pending.end());
}

/// Arrivals that stand for these copies tell of them, too.
static void noteLanded(Warp &warp, unsigned lane) {
  Block &block = *warp.block;
  for (auto &[address, object] : block.mbarriers.live)
    for (LaneArrival &arrival : object.laneArrivals)
      if (arrival.warp == warp.index && arrival.lane == lane)
        arrival.time = block.now;
  block.now += !block.mbarriers.live.empty();
}

void raytention::simt::landCopies(Warp &warp, unsigned lane,
                                  uint32_t upToGroup) {
  landIf(warp, lane, 0,
         [&](const AsyncCopy &copy) { return copy.group <= upToGroup; });
  noteLanded(warp, lane);
}

void raytention::simt::landCopiesFor(Warp &warp, unsigned lane,
                                     uint32_t sequence, uint32_t slot) {
  landIf(warp, lane, slot + 1,
         [&](const AsyncCopy &copy) { return copy.sequence <= sequence; });
}

//===----------------------------------------------------------------------===//
// The bytes of bulk copies
//===----------------------------------------------------------------------===//

/// Exchanges 16-byte pieces: bits 4 and up of the address by bits 7 and up.
static uint32_t swizzled(uint32_t address, Swizzle swizzle) {
  static constexpr uint32_t masks[] = {0, 0x10, 0x30, 0x70};
  return address ^ (address >> 3 & masks[unsigned(swizzle)]);
}

/// Calls f(shared address, offset in the piece, bytes).
template <class F>
static void forEachRun(const BulkCopy &copy, const Piece &piece, F f) {
  uint32_t start = copy.shared + piece.offset;
  if (copy.swizzle == Swizzle::None)
    return f(start, 0u, piece.bytes);
  for (uint32_t done = 0; done < piece.bytes;) {
    uint32_t at = start + done;
    uint32_t bytes = std::min(piece.bytes - done, 16 - at % 16);
    f(swizzled(at, copy.swizzle), done, bytes);
    done += bytes;
  }
}

/// What stands for elements outside the tensor.
static void fill(uint8_t *to, uint32_t bytes, const BulkCopy &copy) {
  std::memset(to, copy.fillNaN ? 0xFF : 0, bytes);
}

static void flushSubnormals(uint8_t *to, uint32_t bytes) {
  for (uint32_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, to + i, 4);
    bits = bits & 0x7F800000 ? bits : bits & 0x80000000;
    std::memcpy(to + i, &bits, 4);
  }
}

static void moveIn(Block &block, const BulkCopy &copy) {
  bool flushes = copy.element == TensorElement::F32Flushed ||
                 copy.element == TensorElement::TF32Flushed;
  for (const Piece &piece : copy.pieces)
    forEachRun(copy, piece, [&](uint32_t at, uint32_t from, uint32_t bytes) {
      uint8_t *to = block.shared.data() + at;
      if (!piece.global)
        return fill(to, bytes, copy);
      std::memcpy(to, reinterpret_cast<const void *>(piece.global + from),
                  bytes);
      if (flushes)
        flushSubnormals(to, bytes);
    });
}

static void combine(Block &block, const BulkCopy &copy, uint64_t to,
                    const uint8_t *from, uint32_t bytes) {
  Launch &launch = block.worker->launch;
  for (uint32_t i = 0; i < bytes; i += copy.elementBytes) {
    std::lock_guard<std::mutex> lock(launch.atomicLock(to + i));
    copy.combine(copy.what, reinterpret_cast<uint8_t *>(to + i), from + i);
  }
}

static void moveOut(Block &block, const BulkCopy &copy) {
  for (const Piece &piece : copy.pieces)
    forEachRun(copy, piece, [&](uint32_t at, uint32_t to, uint32_t bytes) {
      const uint8_t *from = block.shared.data() + at;
      if (!piece.global)
        return;
      if (copy.combine)
        return combine(block, copy, piece.global + to, from, bytes);
      std::memcpy(reinterpret_cast<void *>(piece.global + to), from, bytes);
    });
}

/// A load writes the whole box, which is one range of shared memory, swizzled
/// or not.
static Conflict touchBox(Block &block, const BulkCopy &copy,
                         const Toucher &by) {
  return touchShared(block, copy.shared, copy.bytes, by);
}

/// A store reads what goes to the tensor; `at` is where it collides, or where
/// nobody has written.
static Conflict touchSource(Block &block, const BulkCopy &copy,
                            const Toucher &by, bool &fresh, uint32_t &at) {
  Conflict worst;
  auto touchRun = [&](uint32_t start, uint32_t, uint32_t bytes) {
    bool wasFine = !worst.kind && !fresh;
    Conflict conflict = touchShared(block, start, bytes, by, fresh);
    if (conflict.kind && !worst.kind)
      worst = conflict;
    if (wasFine && (worst.kind || fresh))
      at = start;
  };
  for (const Piece &piece : copy.pieces)
    if (piece.global)
      forEachRun(copy, piece, touchRun);
  return worst;
}

static Conflict touchTensor(Block &block, const BulkCopy &copy,
                            const Toucher &by) {
  Conflict worst;
  for (const Piece &piece : copy.pieces) {
    if (!piece.tracked)
      continue;
    Conflict conflict =
        touchGlobal(*block.worker, piece.global, piece.bytes, by);
    if (!worst.kind)
      worst = conflict;
  }
  return worst;
}

static Toucher makeBulkToucher(Warp &warp, const BulkCopy &copy, Touch kind) {
  Toucher by = makeToucher(warp, copy.lane, kind);
  by.async = true;
  by.beginsAsync = kind == Touch::Read || kind == Touch::Write;
  return by;
}

/// Of global memory by a store. Reductions may meet, as atomics may.
static Toucher makeBulkWriter(Warp &warp, const BulkCopy &copy, Touch kind) {
  Toucher by = makeBulkToucher(warp, copy, kind);
  by.strong = copy.combine;
  by.beginsAsync &= !by.strong;
  return by;
}

//===----------------------------------------------------------------------===//
// Into shared memory
//===----------------------------------------------------------------------===//

static void checkLoad(Warp &warp, const BulkCopy &copy) {
  Block &block = *warp.block;
  Conflict conflict =
      touchTensor(block, copy, makeBulkToucher(warp, copy, Touch::Read));
  if (conflict.kind)
    reportConflict(warp, copy.lane, copy.pieces.front().global, conflict,
                   "this read", Space::Global);
  conflict = touchBox(block, copy, makeBulkToucher(warp, copy, Touch::Write));
  if (conflict.kind)
    reportConflict(warp, copy.lane, copy.shared, conflict, "this write",
                   Space::Shared);
  ++block.now;
}

/// The init has to be visible to the async proxy, too.
static void checkFence(Warp &warp, unsigned lane, const Mbarrier &object) {
  const View &proxied = warp.block->clocks[warp.index].proxied;
  if (object.initFenced || proxied.covers(object.initTime, object.initThread))
    return;
  Conflict conflict = {Conflict::NoInitFence, true, object.initThread, 0};
  reportConflict(warp, lane, object.address, conflict, "its use by this copy",
                 Space::Shared);
}

void raytention::simt::beginBulkLoad(Warp &warp, BulkCopy copy,
                                     uint32_t mbarrier) {
  Block &block = *warp.block;
  Mbarrier *object = findMbarrier(warp, copy.lane, mbarrier);
  if (!object)
    return;
  if (!block.worker->checks) {
    moveIn(block, copy);
    return expectBytes(warp, copy.lane, *object, -int64_t(copy.bytes));
  }
  checkFence(warp, copy.lane, *object);
  checkLoad(warp, copy);
  std::memset(block.shared.data() + copy.shared, 0xFF, copy.bytes);
  object->copies.push_back(std::move(copy));
  ++block.mbarriers.progress;
}

void raytention::simt::landBulkLoad(Block &block, const BulkCopy &copy,
                                    uint32_t slot) {
  Warp &warp = block.warps[copy.warp];
  moveIn(block, copy);
  Toucher reader = makeBulkToucher(warp, copy, Touch::EndRead);
  reader.thread = kBulkCopies * kLanes;
  touchTensor(block, copy, reader);
  Toucher by = makeBulkToucher(warp, copy, Touch::Land);
  by.slot = slot + 1;
  touchBox(block, copy, by);
}

//===----------------------------------------------------------------------===//
// Out of shared memory
//===----------------------------------------------------------------------===//

static void checkStore(Warp &warp, const BulkCopy &copy) {
  Block &block = *warp.block;
  bool fresh = false;
  uint32_t at = copy.shared;
  Conflict conflict = touchSource(
      block, copy, makeBulkToucher(warp, copy, Touch::Read), fresh, at);
  if (conflict.kind)
    reportConflict(warp, copy.lane, at, conflict, "this read", Space::Shared);
  else if (fresh)
    reportFresh(warp, copy.lane, at);
  conflict = touchTensor(block, copy, makeBulkWriter(warp, copy, Touch::Write));
  if (conflict.kind)
    reportConflict(warp, copy.lane, copy.pieces.front().global, conflict,
                   "this write", Space::Global);
  ++block.now;
}

void raytention::simt::beginBulkStore(Warp &warp, BulkCopy copy) {
  LaneCopies &copies = warp.copies[copy.lane];
  if (!warp.block->worker->checks)
    return moveOut(*warp.block, copy);
  checkStore(warp, copy);
  copy.group = copies.storesCommitted + 1;
  copies.stores.push_back(std::move(copy));
}

/// The bytes reach the tensor, and their source is free again.
static void endStoreRead(Warp &warp, BulkCopy &copy) {
  if (copy.wasRead)
    return;
  moveOut(*warp.block, copy);
  bool fresh = false;
  uint32_t at = 0;
  touchSource(*warp.block, copy, makeBulkToucher(warp, copy, Touch::EndRead),
              fresh, at);
  copy.wasRead = true;
}

void raytention::simt::landBulkStores(Warp &warp, unsigned lane,
                                      uint32_t upToGroup, bool all) {
  Block &block = *warp.block;
  std::vector<BulkCopy> &stores = warp.copies[lane].stores;
  auto ends = [&](const BulkCopy &copy) { return copy.group <= upToGroup; };
  for (BulkCopy &copy : stores) {
    if (!ends(copy))
      continue;
    endStoreRead(warp, copy);
    if (all)
      touchTensor(block, copy, makeBulkWriter(warp, copy, Touch::Land));
  }
  if (all)
    stores.erase(std::remove_if(stores.begin(), stores.end(), ends),
                 stores.end());
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

static void reportAtExit(Warp &warp, uint32_t pc, unsigned lane,
                         const char *end) {
  warp.block->worker->report(
      FindingKind::AsyncCopyAtExit, warp, pc, lane, 0, [&] {
        return std::string("expected a wait for this async copy before ") +
               end + ", got none";
      });
}

/// The last of the lane's copies that an mbarrier tells of.
static uint32_t lastTold(const Warp &warp, unsigned lane) {
  uint32_t last = 0;
  for (const auto &[address, object] : warp.block->mbarriers.live)
    for (const LaneArrival &arrival : object.laneArrivals)
      if (arrival.warp == warp.index && arrival.lane == lane)
        last = std::max(last, arrival.sequence);
  return last;
}

/// The bytes arrive all the same, so that what else went wrong can be told
/// apart.
void raytention::simt::reportCopiesAtExit(Warp &warp, unsigned lane) {
  LaneCopies &copies = warp.copies[lane];
  uint32_t told = copies.pending.empty() ? 0 : lastTold(warp, lane);
  auto isLeft = [&](const AsyncCopy &copy) { return copy.sequence > told; };
  for (const AsyncCopy &copy : copies.pending) {
    if (!isLeft(copy))
      continue;
    reportAtExit(warp, copy.pc, lane, "the thread ends");
    moveIn(*warp.block, copy);
  }
  copies.pending.erase(
      std::remove_if(copies.pending.begin(), copies.pending.end(), isLeft),
      copies.pending.end());
  for (BulkCopy &copy : copies.stores) {
    if (!copy.wasRead)
      reportAtExit(warp, copy.pc, lane, "the thread ends");
    endStoreRead(warp, copy);
  }
}

void raytention::simt::reportLoadsAtExit(Block &block) {
  for (auto &[address, object] : block.mbarriers.live)
    for (const BulkCopy &copy : object.copies)
      reportAtExit(block.warps[copy.warp], copy.pc, copy.lane,
                   "the block ends");
  for (Warp &warp : block.warps)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (const AsyncCopy &copy : warp.copies[lane].pending)
        reportAtExit(warp, copy.pc, lane, "the block ends");
}
