//===- Clock.h - what happened before what ----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks of the warps of a block. Time is a counter of the block that
// ticks wherever something is ordered: at barriers, fences, arrivals and async
// copies.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_CLOCK_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_CLOCK_H

#include "runtime/device/simt/GridView.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace raytention::simt {

constexpr unsigned kMaxWarps = 32;
/// What reads for others has a time of its own, behind those of the warps: the
/// products of each warpgroup, and bulk copies.
constexpr unsigned kFirstWarpgroup = kMaxWarps;
constexpr unsigned kBulkCopies = kFirstWarpgroup + kMaxWarps / 4;
constexpr unsigned kAgents = kBulkCopies + 1;

/// Up to when the accesses of a warp's lanes are known to have happened.
struct WarpTime {
  uint32_t all = 0;   ///< those of every lane
  uint32_t some = 0;  ///< those of `lanes`; 0, or later than `all`
  uint32_t lanes = 0; ///< a mask

  bool covers(uint32_t time, unsigned lane) const {
    return coversAll(time, 1u << lane);
  }
  bool coversAll(uint32_t time, uint32_t which) const {
    return time <= all || (time <= some && !(which & ~lanes));
  }

  /// Where both know of different lanes, each of them is given the later time:
  /// a race may be missed, and none is made up.
  void join(const WarpTime &other) {
    all = std::max(all, other.all);
    if (some <= all)
      some = lanes = 0;
    if (other.some <= all)
      return;
    some = std::max(some, other.some);
    lanes |= other.lanes;
  }
  void joinLanes(uint32_t time, uint32_t which) { join({0, time, which}); }
  bool includes(const WarpTime &other) const {
    return other.all <= all &&
           (other.some <= all || coversAll(other.some, other.lanes));
  }
};

/// What has happened by warp or other agent, and what async copies have landed
/// by the mbarrier that says so.
struct View {
  std::array<WarpTime, kAgents> warps;
  llvm::SmallVector<uint32_t, 4> landed; ///< by slot of the mbarrier

  bool covers(uint32_t time, uint32_t thread) const {
    return warps[thread / 32].covers(time, thread % 32);
  }
  bool hasLanded(uint32_t time, uint32_t slot) const {
    return slot < landed.size() && time <= landed[slot];
  }
  void join(const View &other, unsigned warpCount) {
    for (unsigned w = 0; w < warpCount; ++w)
      warps[w].join(other.warps[w]);
    for (unsigned agent = kMaxWarps; agent < kAgents; ++agent)
      warps[agent].join(other.warps[agent]);
    if (landed.size() < other.landed.size())
      landed.resize(other.landed.size());
    for (size_t i = 0; i < other.landed.size(); ++i)
      landed[i] = std::max(landed[i], other.landed[i]);
  }
  bool includes(const View &other) const {
    for (unsigned agent = 0; agent < kAgents; ++agent)
      if (!warps[agent].includes(other.warps[agent]))
        return false;
    for (size_t i = 0; i < other.landed.size(); ++i)
      if (other.landed[i] && !hasLanded(other.landed[i], i))
        return false;
    return true;
  }
  void endReads(unsigned agent, uint32_t time) {
    warps[agent].join({time, 0, 0});
  }
  void land(uint32_t slot, uint32_t time) {
    if (landed.size() <= slot)
      landed.resize(slot + 1);
    landed[slot] = std::max(landed[slot], time);
  }
  void reset(uint32_t start) {
    warps.fill({start, 0, 0});
    landed.clear();
  }
};

struct Clock;

/// The halves of the release and acquire patterns that a warp has gone through:
/// see Order.h. Barriers hand them on, too, so that one thread of a block may
/// fence and another write or read the sign.
struct FenceState {
  std::shared_ptr<const Clock> released; ///< by fences, to this block
  GridPointer releasedWide;              ///< by fences, to other blocks
  /// By strong reads, for the next fence: of this block and of others.
  std::shared_ptr<const Clock> read;
  GridKnowledge readWide;

  void join(const FenceState &other, unsigned warpCount);
};

/// The async proxy (bulk copies, wgmma) sees ordinary writes only behind a
/// fence.proxy.async.
struct Clock {
  View seen;            ///< before what comes next
  View proxied;         ///< that an async operation may rely on, too
  GridKnowledge others; ///< of other blocks, before what comes next
  FenceState fences;

  void join(const Clock &other, unsigned warpCount) {
    seen.join(other.seen, warpCount);
    proxied.join(other.proxied, warpCount);
    others.join(other.others);
    fences.join(other.fences, warpCount);
  }
  void reset(uint32_t start) {
    seen.reset(start);
    proxied.reset(start);
    others = GridKnowledge();
    fences = FenceState();
  }
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_CLOCK_H
