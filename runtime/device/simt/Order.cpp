//===- Order.cpp - what flags and locks order -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

using namespace raytention::simt;

//===----------------------------------------------------------------------===//
// Fences
//===----------------------------------------------------------------------===//

/// Of what fences keep, which is views only.
static bool includes(const Clock &a, const Clock &b) {
  return a.seen.includes(b.seen) && a.proxied.includes(b.proxied);
}

static void join(std::shared_ptr<const Clock> &into,
                 const std::shared_ptr<const Clock> &other,
                 unsigned warpCount) {
  if (!other || into == other)
    return;
  // Warps that met share one clock: later joins are then cheap.
  if (!into || includes(*other, *into)) {
    into = other;
    return;
  }
  if (includes(*into, *other))
    return;
  auto both = std::make_shared<Clock>(*into);
  both->join(*other, warpCount);
  into = std::move(both);
}

void FenceState::join(const FenceState &other, unsigned warpCount) {
  ::join(released, other.released, warpCount);
  ::join(read, other.read, warpCount);
  releasedWide = raytention::simt::join(releasedWide, other.releasedWide);
  readWide.join(other.readWide);
}

/// The other lanes' accesses only count up to where they last met.
static WarpTime timeOf(const Warp &warp, uint32_t lanes) {
  WarpTime own;
  if (lanes == warp.alive)
    own.all = warp.block->now;
  else
    own.joinLanes(warp.block->now, lanes);
  return own;
}

void raytention::simt::releaseTo(Warp &warp, uint32_t lanes, Clock &to) {
  Block &block = *warp.block;
  to.join(block.clocks[warp.index], block.warps.size());
  to.seen.warps[warp.index].join(timeOf(warp, lanes));
  ++block.now;
}

/// What fences and releases hand on within the block.
static std::shared_ptr<Clock> snapshot(Warp &warp, uint32_t lanes) {
  const Clock &now = warp.block->clocks[warp.index];
  auto clock = std::make_shared<Clock>();
  clock->seen = now.seen;
  clock->proxied = now.proxied;
  clock->seen.warps[warp.index].join(timeOf(warp, lanes));
  return clock;
}

/// The same for other blocks, with what is known of them.
static GridPointer widen(Warp &warp, const Clock &clock) {
  Block &block = *warp.block;
  GridView::Known own{uint32_t(block.linear),
                      block.worker->launch.releases.nextEpoch(),
                      std::make_shared<View>(clock.seen)};
  return join(block.clocks[warp.index].others.get(),
              std::make_shared<GridView>(std::vector{std::move(own)}));
}

void raytention::simt::fenceWarp(Warp &warp, uint32_t lanes, bool wide) {
  Block &block = *warp.block;
  unsigned warpCount = block.warps.size();
  Clock &clock = block.clocks[warp.index];
  if (std::shared_ptr<const Clock> read = std::move(clock.fences.read))
    clock.join(*read, warpCount);
  std::shared_ptr<const Clock> released = snapshot(warp, lanes);
  if (wide) {
    clock.others.join(clock.fences.readWide);
    clock.fences.readWide = GridKnowledge();
    clock.fences.releasedWide =
        join(clock.fences.releasedWide, widen(warp, *released));
  }
  // Fences of other lanes count as well.
  ::join(clock.fences.released, released, warpCount);
  ++block.now;
}

//===----------------------------------------------------------------------===//
// Strong accesses
//===----------------------------------------------------------------------===//

/// Calls f(place, whether it is of global memory) for each place once.
template <class F>
static void forEachPlace(const Access &access, uint32_t lanes, F f) {
  const uint8_t *last = nullptr;
  forEachLane(lanes, [&](unsigned lane) {
    const uint8_t *place = access.pointer[lane];
    if (place != last)
      f(place, access.mayChange >> lane & 1);
    last = place;
  });
}

/// Later writes stand in the release sequence of earlier ones. Who may see the
/// write must find what it releases: this comes first.
void raytention::simt::noteStrongWrite(Warp &warp, const Instruction &at,
                                       const Access &access, uint32_t lanes) {
  Block &block = *warp.block;
  if (!block.worker->checks)
    return;
  const FenceState &fences = block.clocks[warp.index].fences;
  std::shared_ptr<const Clock> released = fences.released;
  GridPointer wide = at.isNarrow ? nullptr : fences.releasedWide;
  if (at.releases) {
    std::shared_ptr<const Clock> now = snapshot(warp, lanes);
    ::join(released, now, block.warps.size());
    if (!at.isNarrow)
      wide = join(wide, widen(warp, *now));
    ++block.now;
  }
  if (!released)
    return;
  forEachPlace(access, lanes, [&](const uint8_t *place, bool isGlobal) {
    ::join(block.strongWrites[place], released, block.warps.size());
    if (wide && isGlobal)
      block.worker->launch.releases.release(place, wide);
  });
}

void raytention::simt::noteStrongRead(Warp &warp, const Instruction &at,
                                      const Access &access, uint32_t lanes) {
  Block &block = *warp.block;
  if (!block.worker->checks)
    return;
  Clock &clock = block.clocks[warp.index];
  GridKnowledge &wide = at.acquires ? clock.others : clock.fences.readWide;
  forEachPlace(access, lanes, [&](const uint8_t *place, bool isGlobal) {
    auto found = block.strongWrites.find(place);
    if (found != block.strongWrites.end()) {
      if (at.acquires)
        clock.join(*found->second, block.warps.size());
      else
        ::join(clock.fences.read, found->second, block.warps.size());
    }
    if (isGlobal && !at.isNarrow)
      block.worker->launch.releases.acquire(place, wide);
  });
}
