//===- Block.cpp - warps of a block and their barriers ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include <algorithm>
#include <cstring>

using namespace raytention::simt;

/// Warp instructions before the next warp has its turn: long enough to cost
/// nothing, short enough that a warp may spin on what another writes.
static constexpr uint64_t kQuantum = 4096;
static constexpr uint32_t kTimeIsLate = 0xF0000000;

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static uint32_t countAlive(const Block &block) {
  uint32_t alive = 0;
  for (const Warp &warp : block.warps)
    alive += __builtin_popcount(warp.alive);
  return alive;
}

static void countVotes(Warp &warp, const Instruction &at, Mask lanes,
                       Barrier &barrier) {
  BarrierForm form = static_cast<BarrierForm>(at.form);
  if (form == BarrierForm::Sync || form == BarrierForm::Arrive)
    return;
  Mask held = warp.predicate(at.op[at.destinations + at.sources - 1]);
  if (at.form2)
    held = ~held;
  barrier.votes += __builtin_popcount(held & lanes);
  barrier.voters += __builtin_popcount(lanes);
}

static void reportOtherBarrier(Warp &warp, const Instruction &at,
                               uint32_t otherPc, unsigned lane) {
  Worker &worker = *warp.block->worker;
  const Instruction &other = worker.launch.kernel.code[otherPc];
  worker.report(FindingKind::DivergentBarrier, warp, warp.pc, lane, 0, [&] {
    return "expected all warps at the same barrier, got others at " +
           describePlace(worker.launch.program, other);
  });
}

bool raytention::simt::arriveAtBarrier(Warp &warp, const Instruction &at,
                                       Fragment &fragment) {
  Block &block = *warp.block;
  Worker &worker = *block.worker;
  if (static_cast<BarrierForm>(at.form) == BarrierForm::ClusterArrive) {
    ++worker.profile.barriers;
    arriveAtCluster(warp, at, fragment.mask);
    return true;
  }
  unsigned lane = __builtin_ctz(fragment.mask);
  uint32_t id = warp.reg<uint32_t>(at.op[at.destinations])[lane];
  uint32_t count =
      at.fixedCount ? warp.reg<uint32_t>(at.op[at.destinations + 1])[lane] : 0;
  if (id >= kBarriers) {
    worker.report(FindingKind::DivergentBarrier, warp, warp.pc, lane, 0, [&] {
      return "expected a barrier from 0 to 15, got " + std::to_string(id);
    });
    return true;
  }
  ++worker.profile.barriers;
  if (worker.checks && at.fixedCount && (count == 0 || count % kLanes))
    worker.report(FindingKind::DivergentBarrier, warp, warp.pc, lane, 0, [&] {
      return "expected a number of threads that is a multiple of 32, got " +
             std::to_string(count);
    });
  Barrier &barrier = block.barriers[id];
  if (worker.checks && barrier.arrived && !at.fixedCount &&
      barrier.pc != warp.pc)
    reportOtherBarrier(warp, at, barrier.pc, lane);
  barrier.pc = warp.pc;
  // With a count, a warp arrives as a whole.
  barrier.arrived +=
      at.fixedCount && fragment.mask == warp.alive
          ? kLanes
          : static_cast<uint32_t>(__builtin_popcount(fragment.mask));
  barrier.expected = count;
  barrier.warps |= uint32_t(1) << warp.index;
  barrier.arrivals[warp.index] = block.now;
  countVotes(warp, at, fragment.mask, barrier);
  ++block.now;
  block.isBarrierFull |= count && barrier.arrived >= count;
  fragment.barrier = id;
  return static_cast<BarrierForm>(at.form) == BarrierForm::Arrive;
}

/// All that the arriving warps did happens before what the waiting do next.
static void joinClocks(Block &block, const Barrier &barrier, uint32_t waiting) {
  unsigned count = block.warps.size();
  Clock joined;
  for (uint32_t w = 0; w < count; ++w) {
    if (!(barrier.warps >> w & 1))
      continue;
    joined.join(block.clocks[w], count);
    // Who waits did nothing since it arrived.
    uint32_t until = waiting >> w & 1 ? block.now : barrier.arrivals[w];
    joined.seen.warps[w].join({until, 0, 0});
  }
  for (uint32_t w = 0; w < count; ++w)
    if (waiting >> w & 1)
      block.clocks[w].join(joined, count);
  ++block.now;
}

static void writeVote(Warp &warp, const Instruction &at, Mask lanes,
                      const Barrier &barrier) {
  bool all = barrier.votes == barrier.voters, any = barrier.votes != 0;
  switch (static_cast<BarrierForm>(at.form)) {
  case BarrierForm::Popc:
    forEachLane(lanes, [&](unsigned lane) {
      warp.reg<uint32_t>(at.op[0])[lane] = barrier.votes;
    });
    break;
  case BarrierForm::And:
  case BarrierForm::Or: {
    bool result =
        static_cast<BarrierForm>(at.form) == BarrierForm::And ? all : any;
    Mask &to = warp.predicate(at.op[0]);
    to = (to & ~lanes) | (result ? lanes : 0);
    break;
  }
  default:
    return;
  }
  warp.written(at.op[0]) |= lanes;
}

static void release(Block &block, unsigned id) {
  Barrier &barrier = block.barriers[id];
  uint32_t waiting = 0;
  const Kernel &kernel = block.worker->launch.kernel;
  for (Warp &warp : block.warps)
    for (Fragment &fragment : warp.fragments)
      if (fragment.state == Fragment::AtBarrier && fragment.barrier == id) {
        writeVote(warp, kernel.code[fragment.pc], fragment.mask, barrier);
        fragment.state = Fragment::Ready;
        ++fragment.pc;
        waiting |= uint32_t(1) << warp.index;
      }
  joinClocks(block, barrier, waiting);
  barrier = Barrier();
}

bool raytention::simt::releaseBarriers(Block &block) {
  block.isBarrierFull = false;
  uint32_t alive = countAlive(block);
  bool released = false;
  for (unsigned id = 0; id < kBarriers; ++id) {
    const Barrier &barrier = block.barriers[id];
    uint32_t expected = barrier.expected ? barrier.expected : alive;
    if (!barrier.arrived || barrier.arrived < expected)
      continue;
    release(block, id);
    released = true;
  }
  return released;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

static uint32_t specialValue(const Warp &warp, Special what, unsigned lane) {
  const Block &block = *warp.block;
  const Launch &launch = block.worker->launch;
  const Dim3 &shape = launch.blockShape;
  uint32_t thread = warp.index * kLanes + lane;
  switch (what) {
  case Special::TidX:
    return thread % shape.x;
  case Special::TidY:
    return thread / shape.x % shape.y;
  case Special::TidZ:
    return thread / (shape.x * shape.y);
  case Special::NtidX:
    return shape.x;
  case Special::NtidY:
    return shape.y;
  case Special::NtidZ:
    return shape.z;
  case Special::CtaidX:
  case Special::ClusterX:
    return block.index.x;
  case Special::CtaidY:
  case Special::ClusterY:
    return block.index.y;
  case Special::CtaidZ:
  case Special::ClusterZ:
    return block.index.z;
  case Special::NctaidX:
  case Special::ClustersX:
    return launch.grid.x;
  case Special::NctaidY:
  case Special::ClustersY:
    return launch.grid.y;
  case Special::NctaidZ:
  case Special::ClustersZ:
    return launch.grid.z;
  case Special::LaneId:
    return lane;
  case Special::WarpId:
    return warp.index;
  case Special::NWarpId:
    return block.warps.size();
  case Special::LanemaskEq:
    return 1u << lane;
  case Special::LanemaskLt:
    return (1u << lane) - 1;
  case Special::LanemaskLe:
    return (2u << lane) - 1;
  case Special::LanemaskGt:
    return ~((2u << lane) - 1);
  case Special::LanemaskGe:
    return ~((1u << lane) - 1);
  case Special::DynamicSmemSize:
    return launch.dynamicSharedBytes;
  case Special::TotalSmemSize:
    return launch.sharedBytes;
  case Special::NSmId:
  case Special::ClusterRanks:
  case Special::ClusterCtasX:
  case Special::ClusterCtasY:
  case Special::ClusterCtasZ:
    return 1;
  case Special::SmId:
  case Special::GridId:
  case Special::ClusterRank:
  case Special::ClusterCtaX:
  case Special::ClusterCtaY:
  case Special::ClusterCtaZ:
    return 0;
  }
  return 0;
}

static void fillConstants(const Kernel &kernel, uint8_t *file) {
  for (const Constant &constant : kernel.constants) {
    uint8_t *to = file + constant.reg;
    std::memset(to - sizeof(Mask), 0xFF, sizeof(Mask));
    if (constant.bytes == 0) {
      std::memset(to, constant.bits ? 0xFF : 0, sizeof(Mask));
      continue;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      std::memcpy(to + lane * constant.bytes, &constant.bits, constant.bytes);
  }
}

static void startWarp(Warp &warp, unsigned threads) {
  const Kernel &kernel = warp.block->worker->launch.kernel;
  std::memset(warp.file, 0, kernel.fileBytes);
  fillConstants(kernel, warp.file);
  unsigned first = warp.index * kLanes;
  unsigned count = std::min(kLanes, threads - first);
  warp.exists = count == kLanes ? kAllLanes : (Mask(1) << count) - 1;
  warp.alive = warp.exists;
  for (const SpecialRegister &special : kernel.specials) {
    warp.written(special.reg) = kAllLanes;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      warp.reg<uint32_t>(special.reg)[lane] =
          specialValue(warp, special.what, lane);
  }
  warp.fragments.clear();
  Fragment all;
  all.mask = warp.exists;
  warp.fragments.push_back(all);
  for (LaneCopies &copies : warp.copies)
    copies.clear();
  warp.products = WarpProducts();
  warp.undefined = 0;
  warp.turns = 0;
}

static void allocateBlock(Block &block, const Launch &launch) {
  unsigned warps = (launch.blockShape.count() + kLanes - 1) / kLanes;
  block.shared.resize(launch.sharedBytes);
  block.local.resize(uint64_t(launch.kernel.entry.localBytes) * warps * kLanes);
  block.warps.resize(warps);
  for (unsigned i = 0; i < warps; ++i) {
    // The offset keeps register lanes on cache lines.
    block.files.emplace_back(new uint8_t[launch.kernel.fileBytes + 64]);
    uint64_t address = reinterpret_cast<uint64_t>(block.files.back().get());
    block.warps[i].file = block.files.back().get() + (64 - address % 64) % 64;
    block.warps[i].index = i;
    block.warps[i].block = &block;
  }
}

static void startBlock(Block &block, uint64_t linear) {
  const Launch &launch = block.worker->launch;
  if (block.warps.empty())
    allocateBlock(block, launch);
  if (!block.shadow || block.now > kTimeIsLate) {
    block.shadow = std::make_unique<CellRange>((launch.sharedBytes + 3) / 4);
    block.now = block.now > kTimeIsLate ? 1 : block.now;
  }
  block.linear = linear;
  block.index = {uint32_t(linear % launch.grid.x),
                 uint32_t(linear / launch.grid.x % launch.grid.y),
                 uint32_t(linear / launch.grid.x / launch.grid.y)};
  block.start = ++block.now;
  for (Clock &clock : block.clocks)
    clock.reset(block.start - 1);
  block.mbarriers.clear();
  block.clusterBarrier = ClusterBarrier();
  block.strongWrites.clear();
  std::fill(block.shared.begin(), block.shared.end(), 0xFF);
  std::fill(block.local.begin(), block.local.end(), 0xFF);
  block.barriers.fill(Barrier());
  block.warpgroups.assign(
      (block.warps.size() + kWarpsPerGroup - 1) / kWarpsPerGroup, Warpgroup());
  block.steps = 0;
  block.abandoned = block.isBarrierFull = false;
  for (Warp &warp : block.warps)
    startWarp(warp, launch.blockShape.count());
}

static std::string describeWait(const Block &block, const Fragment &fragment) {
  if (fragment.state != Fragment::AtPhase)
    return " in barrier " + std::to_string(fragment.barrier);
  if (fragment.object == kNoObject)
    return " for the other warps of its warpgroup";
  if (fragment.object == kClusterObject)
    return " in the barrier of the cluster";
  std::string text =
      " for the mbarrier at shared address " + std::to_string(fragment.object);
  auto object = block.mbarriers.live.find(fragment.object);
  if (object != block.mbarriers.live.end())
    text += ", which lacks " + describeMissing(object->second);
  return text;
}

static std::string describeWaits(const Block &block) {
  const Launch &launch = block.worker->launch;
  std::string text;
  unsigned listed = 0;
  for (const Warp &warp : block.warps)
    for (const Fragment &fragment : warp.fragments) {
      if (++listed > 8)
        continue;
      text += (listed == 1 ? "" : "; ");
      text += "warp " + std::to_string(warp.index) + ": " +
              std::to_string(__builtin_popcount(fragment.mask)) + " lanes at " +
              describePlace(launch.program, launch.kernel.code[fragment.pc]) +
              describeWait(block, fragment);
    }
  if (listed > 8)
    text += "; and " + std::to_string(listed - 8) + " more";
  return text;
}

static void reportDeadlock(Block &block) {
  for (Warp &warp : block.warps) {
    if (warp.fragments.empty())
      continue;
    const Fragment &first = warp.fragments.front();
    block.worker->report(FindingKind::Deadlock, warp, first.pc,
                         __builtin_ctz(first.mask), 0, [&] {
                           return "expected the barrier to be complete some "
                                  "time, got a block where all wait: " +
                                  describeWaits(block);
                         });
    break;
  }
  block.abandoned = true;
}

static void checkSteps(Block &block, Warp &warp) {
  uint64_t limit = block.worker->launch.options.stepLimit;
  if (block.steps <= limit)
    return;
  block.worker->report(FindingKind::StepLimit, warp, warp.pc, 0, 0, [&] {
    return "expected the block to end within " + std::to_string(limit) +
           " warp instructions, got an endless loop or a wait for another "
           "block";
  });
  block.abandoned = true;
}

static bool forceAny(Block &block) {
  for (Warp &warp : block.warps)
    if (forceOneApart(warp))
      return true;
  return false;
}

/// Nothing runs: whether something can go on all the same.
static bool unblock(Block &block) {
  return refusePhaseWaits(block) || forceAny(block);
}

void Worker::runBlock(uint64_t linear) {
  block.worker = this;
  startBlock(block, linear);
  while (!block.abandoned) {
    bool ran = false, waits = false;
    for (Warp &warp : block.warps) {
      if (!hasReady(warp)) {
        waits |= !warp.fragments.empty();
        continue;
      }
      ran = true;
      uint64_t left = launch.options.stepLimit - block.steps + 1;
      if (runWarp(warp, std::min(kQuantum, left)) != RunResult::Exited)
        waits = true;
      checkSteps(block, warp);
      if (block.abandoned)
        return;
      // Who comes next waits for the next ones.
      if (block.isBarrierFull)
        releaseBarriers(block);
    }
    if (!waits && !ran)
      return reportLoadsAtExit(block);
    bool released = releaseBarriers(block);
    released |= wakePhaseWaits(block);
    if (!released && !ran && !unblock(block))
      reportDeadlock(block);
  }
}
