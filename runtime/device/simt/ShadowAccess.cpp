//===- ShadowAccess.cpp - accesses as the shadows see them ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ShadowAccess.h"

using namespace llvm;
using namespace raytention::simt;

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

static FindingKind kindOf(Conflict::Kind kind) {
  switch (kind) {
  case Conflict::Pending:
    return FindingKind::AsyncCopyUnfinished;
  case Conflict::BeingRead:
    return FindingKind::AsyncReadUnfinished;
  case Conflict::Object:
    return FindingKind::BarrierMisuse;
  case Conflict::NoProxyFence:
  case Conflict::NoInitFence:
    return FindingKind::NoProxyFence;
  case Conflict::BlockRace:
    return FindingKind::RaceBetweenBlocks;
  default:
    return FindingKind::RaceInBlock;
  }
}

static std::string describeAgent(uint32_t thread) {
  unsigned warp = thread / kLanes;
  if (warp == kBulkCopies)
    return "a bulk copy";
  if (warp >= kFirstWarpgroup)
    return "the products of warpgroup " +
           std::to_string(warp - kFirstWarpgroup);
  return "warp " + std::to_string(warp) + " lane " +
         std::to_string(thread % kLanes);
}

static std::string describe(const Conflict &conflict, StringRef what,
                            Space space) {
  std::string who = describeAgent(conflict.otherThread);
  std::string here = what.str();
  std::string other = conflict.kind == Conflict::InitRace ? "the mbarrier.init"
                      : conflict.otherWrote               ? "the write"
                                                          : "the read";
  switch (conflict.kind) {
  case Conflict::Pending:
    return "expected a wait for the async copy of " + who + " before " + here +
           ", got none";
  case Conflict::BeingRead:
    return "expected a wait for the async read of " + who + " before " + here +
           ", got none";
  case Conflict::Object:
    return "expected no mbarrier at the bytes of " + here +
           ", got the one that " + who +
           " made; mbarrier.inval frees its memory";
  case Conflict::NoProxyFence:
    return "expected fence.proxy.async between the write of " + who + " and " +
           here + ", got none";
  case Conflict::NoInitFence:
    return "expected fence.mbarrier_init or fence.proxy.async between the "
           "mbarrier.init of " +
           who + " and " + here + ", got none";
  case Conflict::BlockRace:
    return "expected no other block at the bytes of " + here + ", got " +
           other + " of block " + std::to_string(conflict.otherBlock);
  default:
    return "expected a barrier between " + here + " of " +
           (space == Space::Shared ? "shared" : "global") + " memory and " +
           other + " of " + who + ", got none";
  }
}

void raytention::simt::reportConflict(Warp &warp, unsigned lane,
                                      uint64_t address,
                                      const Conflict &conflict, StringRef what,
                                      Space space) {
  warp.block->worker->report(kindOf(conflict.kind), warp, warp.pc, lane,
                             address,
                             [&] { return describe(conflict, what, space); });
}

void raytention::simt::reportFresh(Warp &warp, unsigned lane,
                                   uint64_t address) {
  warp.block->worker->report(
      FindingKind::UninitializedShared, warp, warp.pc, lane, address, [] {
        return "expected shared memory that was written by this block, got "
               "bytes that were not";
      });
}

static StringRef nameOf(AccessKind kind) {
  return kind == AccessKind::Atomic ? "an atomic access"
         : writes(kind)             ? "this write"
                                    : "this read";
}

//===----------------------------------------------------------------------===//
// Touching
//===----------------------------------------------------------------------===//

Toucher raytention::simt::makeToucher(const Warp &warp, unsigned lane,
                                      Touch kind) {
  const Block &block = *warp.block;
  Toucher by;
  by.kind = kind;
  by.block = block.linear;
  by.thread = warp.index * kLanes + lane;
  by.now = block.now;
  by.clock = &block.clocks[warp.index];
  by.others = by.clock->others.isEmpty() ? nullptr : &by.clock->others;
  by.epoch = block.worker->launch.releases.epoch();
  by.blocks = block.worker->launch.grid.count();
  return by;
}

static void keepFirst(Conflict &worst, const Conflict &conflict) {
  if (conflict.kind && !worst.kind)
    worst = conflict;
}

/// Cells of blocks that ran before are as good as new.
static void forgetOldBlocks(Cell &cell, ReaderPool &pool, uint32_t start,
                            uint32_t block) {
  if (cell.writeTime < start) {
    cell.writeTime = 0;
    cell.pending = cell.isObject = false;
  }
  if (cell.asyncBlock != block)
    cell.asyncReads = 0;
  if (cell.readTime < start) {
    cell.readTime = 0;
    cell.manyBlocks = false;
    pool.release(cell.readers);
  }
}

Conflict raytention::simt::touchShared(Block &block, uint32_t offset,
                                       uint32_t bytes, const Toucher &by,
                                       bool &fresh) {
  Conflict worst;
  ReaderPool &pool = block.shadow->pool;
  block.shadow->forEach(offset, bytes, [&](Cell &cell) {
    forgetOldBlocks(cell, pool, block.start, block.linear);
    fresh |= !cell.writeTime;
    keepFirst(worst, touch(cell, pool, by));
  });
  return worst;
}

Conflict raytention::simt::touchGlobal(Worker &worker, uint64_t address,
                                       uint64_t bytes, const Toucher &by) {
  constexpr uint64_t pageBytes = uint64_t(1) << GlobalShadow::kPageBits;
  Conflict worst;
  for (uint64_t at = address, end = address + bytes; at < end;) {
    GlobalShadow::Page &page = worker.shadowPage(at >> GlobalShadow::kPageBits);
    uint64_t next = std::min(end, (at / pageBytes + 1) * pageBytes);
    std::lock_guard<std::mutex> lock(page.mutex);
    page.range.forEach(at % pageBytes, next - at, [&](Cell &cell) {
      keepFirst(worst, touch(cell, page.range.pool, by));
    });
    at = next;
  }
  return worst;
}

static Toucher ordinary(const Warp &warp, const Access &access) {
  Toucher by =
      makeToucher(warp, 0, writes(access.kind) ? Touch::Write : Touch::Read);
  by.strong = access.strong;
  by.beginsAsync = access.kind == AccessKind::AsyncWrite;
  return by;
}

void raytention::simt::shadowShared(Warp &warp, const Access &access,
                                    Mask lanes) {
  Toucher by = ordinary(warp, access);
  bool reads = !writes(access.kind) || access.kind == AccessKind::Atomic;
  forEachLane(lanes, [&](unsigned lane) {
    by.thread = warp.index * kLanes + lane;
    bool fresh = false;
    Conflict worst =
        touchShared(*warp.block, access.address[lane], access.bytes, by, fresh);
    if (worst.kind)
      reportConflict(warp, lane, access.address[lane], worst,
                     nameOf(access.kind), Space::Shared);
    else if (fresh && reads)
      reportFresh(warp, lane, access.address[lane]);
  });
}

void raytention::simt::shadowGlobal(Warp &warp, const Access &access,
                                    Mask lanes) {
  Toucher by = ordinary(warp, access);
  Worker &worker = *warp.block->worker;
  forEachLane(lanes, [&](unsigned lane) {
    by.thread = warp.index * kLanes + lane;
    Conflict worst =
        touchGlobal(worker, access.address[lane], access.bytes, by);
    if (worst.kind)
      reportConflict(warp, lane, access.address[lane], worst,
                     nameOf(access.kind), Space::Global);
  });
}
