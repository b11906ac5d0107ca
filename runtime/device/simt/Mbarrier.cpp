//===- Mbarrier.cpp - barriers in shared memory -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ShadowAccess.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace raytention::simt;

/// Rounds in which a wait may say that its phase has not ended although nothing
/// else happens in the block: it may do something else then.
static constexpr uint32_t kMaxStalls = 4096;

static void misuse(Warp &warp, unsigned lane, uint32_t address,
                   const Twine &text) {
  warp.block->worker->report(FindingKind::BarrierMisuse, warp, warp.pc, lane,
                             address, [&] { return text.str(); });
}

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

static void touchObject(Warp &warp, unsigned lane, uint32_t address,
                        decltype(Toucher::object) use) {
  if (!warp.block->worker->checks)
    return;
  Toucher by = makeToucher(warp, lane, Touch::Write);
  by.object = use;
  Conflict conflict = touchShared(*warp.block, address, 8, by);
  if (conflict.kind)
    reportConflict(warp, lane, address, conflict, "this mbarrier instruction",
                   Space::Shared);
}

void raytention::simt::initMbarrier(Warp &warp, unsigned lane, uint32_t address,
                                    uint32_t count) {
  Block &block = *warp.block;
  Mbarriers &all = block.mbarriers;
  if (count < 1 || count > kMaxArrivals)
    misuse(warp, lane, address,
           "expected a count from 1 to " + Twine(kMaxArrivals) + ", got " +
               Twine(count));
  if (all.live.count(address))
    misuse(warp, lane, address,
           "expected mbarrier.inval before another mbarrier.init of shared "
           "address " +
               Twine(address) + ", got none");
  touchObject(warp, lane, address, Toucher::Init);
  Mbarrier object;
  object.address = address;
  object.slot = all.slots.try_emplace(address, all.slots.size()).first->second;
  object.expected = object.pending = count;
  object.initTime = block.now++;
  object.initThread = warp.index * kLanes + lane;
  all.live[address] = std::move(object);
}

/// Whether the lane's next instruction comes after the init.
static bool isInitOrdered(Warp &warp, unsigned lane, const Mbarrier &object) {
  const View &seen = warp.block->clocks[warp.index].seen;
  return object.initThread == warp.index * kLanes + lane ||
         seen.covers(object.initTime, object.initThread);
}

Mbarrier *raytention::simt::findMbarrier(Warp &warp, unsigned lane,
                                         uint32_t address) {
  auto &live = warp.block->mbarriers.live;
  auto found = live.find(address);
  if (found == live.end()) {
    misuse(warp, lane, address,
           "expected an mbarrier at shared address " + Twine(address) +
               ", got memory that mbarrier.init did not make one");
    return nullptr;
  }
  Mbarrier &object = found->second;
  if (warp.block->worker->checks && !isInitOrdered(warp, lane, object)) {
    Conflict conflict = {Conflict::InitRace, true, object.initThread, 0};
    reportConflict(warp, lane, address, conflict, "this mbarrier instruction",
                   Space::Shared);
  }
  return &object;
}

void raytention::simt::invalidateMbarrier(Warp &warp, unsigned lane,
                                          uint32_t address) {
  Mbarrier *object = findMbarrier(warp, lane, address);
  if (!object)
    return;
  if (!object->copies.empty() || object->bytes)
    misuse(warp, lane, address,
           "expected no copy in flight at mbarrier.inval, got " +
               describeMissing(*object));
  touchObject(warp, lane, address, Toucher::Invalidate);
  warp.block->mbarriers.live.erase(address);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

static void endPhases(Block &block, Mbarrier &object) {
  if (object.pending || object.bytes || !object.expected)
    return;
  object.completed = object.arriving;
  object.arriving = Clock();
  object.pending = object.expected;
  ++object.phase;
  ++block.mbarriers.progress;
}

void raytention::simt::releaseInto(Warp &warp, uint32_t lanes,
                                   Mbarrier &object) {
  releaseTo(warp, lanes, object.arriving);
}

void raytention::simt::arrive(Warp &warp, unsigned lane, Mbarrier &object,
                              uint32_t count, bool drop) {
  if (!object.pending)
    return misuse(warp, lane, object.address,
                  "expected no arrival in a phase that lacks only bytes, got " +
                      Twine(count));
  if (count < 1 || count > object.pending)
    return misuse(warp, lane, object.address,
                  "expected 1 to " + Twine(object.pending) +
                      " arrivals in what is left of the phase, got " +
                      Twine(count));
  object.pending -= count;
  if (drop)
    object.expected -= count;
  endPhases(*warp.block, object);
}

void raytention::simt::expectBytes(Warp &warp, unsigned lane, Mbarrier &object,
                                   int64_t change) {
  int64_t bytes = object.bytes + change;
  if (std::abs(bytes) > kMaxBytesExpected)
    return misuse(warp, lane, object.address,
                  "expected at most " + Twine(kMaxBytesExpected) +
                      " bytes expected at a time, got " + Twine(bytes));
  object.bytes = bytes;
  endPhases(*warp.block, object);
}

//===----------------------------------------------------------------------===//
// Landing
//===----------------------------------------------------------------------===//

static void landArrivals(Block &block, Mbarrier &object) {
  std::vector<LaneArrival> arrivals;
  arrivals.swap(object.laneArrivals);
  for (const LaneArrival &arrival : arrivals) {
    Warp &warp = block.warps[arrival.warp];
    landCopiesFor(warp, arrival.lane, arrival.sequence, object.slot);
    View &seen = object.arriving.seen;
    seen.land(object.slot, block.now);
    seen.warps[arrival.warp].joinLanes(arrival.time, 1u << arrival.lane);
    ++block.now;
    arrive(warp, arrival.lane, object, 1, false);
  }
}

void raytention::simt::landOn(Block &block, Mbarrier &object) {
  std::vector<BulkCopy> copies;
  copies.swap(object.copies);
  for (const BulkCopy &copy : copies) {
    landBulkLoad(block, copy, object.slot);
    object.arriving.seen.land(object.slot, block.now);
    object.arriving.proxied.land(object.slot, block.now);
    object.arriving.seen.endReads(kBulkCopies, block.now);
    ++block.now;
    expectBytes(block.warps[copy.warp], copy.lane, object,
                -int64_t(copy.bytes));
  }
  landArrivals(block, object);
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

static bool wakeAll(Block &block, bool forced) {
  bool any = false;
  for (Warp &warp : block.warps)
    for (Fragment &fragment : warp.fragments)
      if (fragment.state == Fragment::AtPhase) {
        fragment.state = Fragment::Ready;
        fragment.forced = forced;
        any = true;
      }
  return any;
}

bool raytention::simt::wakePhaseWaits(Block &block) {
  Mbarriers &all = block.mbarriers;
  if (all.seen == all.progress)
    return false;
  all.seen = all.progress;
  all.stalls = 0;
  return wakeAll(block, false);
}

bool raytention::simt::refusePhaseWaits(Block &block) {
  return ++block.mbarriers.stalls <= kMaxStalls && wakeAll(block, true);
}

std::string raytention::simt::describeMissing(const Mbarrier &object) {
  return std::to_string(object.pending) + " of " +
         std::to_string(object.expected) + " arrivals and " +
         std::to_string(object.bytes) + " bytes";
}
