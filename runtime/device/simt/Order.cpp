//===- Order.cpp - what flags and locks order -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

using namespace raytention::simt;

/// What the warp has seen, and what these lanes did.
static std::shared_ptr<const Clock> snapshot(Warp &warp, uint32_t lanes) {
  Block &block = *warp.block;
  auto clock = std::make_shared<Clock>(block.clocks[warp.index]);
  WarpTime own;
  if (lanes == warp.alive)
    own.all = block.now;
  else
    own.joinLanes(block.now, lanes);
  clock->seen.warps[warp.index].join(own);
  ++block.now;
  return clock;
}

void raytention::simt::fenceWarp(Warp &warp, uint32_t lanes) {
  Block &block = *warp.block;
  if (warp.order.read)
    block.clocks[warp.index].join(*warp.order.read, block.warps.size());
  warp.order.read.reset();
  warp.order.released = snapshot(warp, lanes);
}

void raytention::simt::publish(Block &block) {
  block.acquired = true;
  block.worker->launch.published[block.linear].store(block.now,
                                                     std::memory_order_release);
  ++block.now;
}

static void acquire(Warp &warp, const Clock &clock, bool atOnce) {
  Block &block = *warp.block;
  if (atOnce)
    return block.clocks[warp.index].join(clock, block.warps.size());
  if (!warp.order.read)
    warp.order.read = std::make_shared<Clock>();
  warp.order.read->join(clock, block.warps.size());
}

/// Later writes stand in the release sequence of earlier ones.
static void release(Warp &warp, std::shared_ptr<const Clock> &place,
                    const std::shared_ptr<const Clock> &released) {
  if (!place) {
    place = released;
  } else if (place != released) {
    auto joined = std::make_shared<Clock>(*place);
    joined->join(*released, warp.block->warps.size());
    place = joined;
  }
}

void raytention::simt::noteStrong(Warp &warp, const Instruction &at,
                                  const Access &access, uint32_t lanes,
                                  bool reads, bool writes) {
  Block &block = *warp.block;
  if (!block.worker->checks)
    return;
  std::shared_ptr<const Clock> released =
      writes && at.releases ? snapshot(warp, lanes) : warp.order.released;
  const uint8_t *last = nullptr;
  forEachLane(lanes, [&](unsigned lane) {
    const uint8_t *place = access.pointer[lane];
    if (place == last)
      return;
    last = place;
    auto found = block.strongWrites.find(place);
    if (reads && found != block.strongWrites.end())
      acquire(warp, *found->second, at.acquires);
    if (writes && released)
      release(warp, block.strongWrites[place], released);
  });
}
