//===- ClusterBarrier.cpp - the barrier of a cluster of one block -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

using namespace raytention::simt;

/// Threads that ended are waited for no longer.
static void endPhase(Block &block) {
  ClusterBarrier &barrier = block.clusterBarrier;
  uint32_t any = 0;
  for (const Warp &warp : block.warps) {
    if (warp.alive & ~barrier.arrived[warp.index])
      return;
    any |= barrier.arrived[warp.index];
  }
  if (!any)
    return;
  barrier.completed = std::move(barrier.arriving);
  barrier.arriving = Clock();
  barrier.arrived.fill(0);
  ++block.mbarriers.progress;
}

static void reportMissing(Warp &warp, uint32_t lanes, const char *expected) {
  Worker &worker = *warp.block->worker;
  if (lanes && worker.checks)
    worker.report(
        FindingKind::DivergentBarrier, warp, warp.pc, __builtin_ctz(lanes), 0,
        [&] { return std::string("expected ") + expected + ", got none"; });
}

void raytention::simt::arriveAtCluster(Warp &warp, const Instruction &at,
                                       uint32_t lanes) {
  Block &block = *warp.block;
  ClusterBarrier &barrier = block.clusterBarrier;
  uint32_t &owing = barrier.owing[warp.index];
  reportMissing(warp, lanes & owing,
                "barrier.cluster.wait between two arrivals");
  owing |= lanes;
  barrier.arrived[warp.index] |= lanes;
  if (at.releases && block.worker->checks)
    releaseTo(warp, lanes, barrier.arriving);
  endPhase(block);
}

bool raytention::simt::passCluster(Warp &warp, uint32_t lanes) {
  Block &block = *warp.block;
  ClusterBarrier &barrier = block.clusterBarrier;
  endPhase(block);
  uint32_t &owing = barrier.owing[warp.index];
  if (lanes & owing & barrier.arrived[warp.index])
    return false;
  reportMissing(warp, lanes & ~owing,
                "barrier.cluster.arrive before this wait");
  owing &= ~lanes;
  if (block.worker->checks) {
    block.clocks[warp.index].join(barrier.completed, block.warps.size());
    ++block.now;
  }
  return true;
}
