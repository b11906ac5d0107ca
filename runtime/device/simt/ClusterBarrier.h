//===- ClusterBarrier.h - the barrier of a cluster of one block -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_CLUSTERBARRIER_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_CLUSTERBARRIER_H

#include "runtime/device/simt/Clock.h"

namespace raytention::simt {

struct Instruction;
struct Warp;

/// Phases that end when all threads that are left have arrived; each thread
/// waits once per arrival.
struct ClusterBarrier {
  std::array<uint32_t, kMaxWarps> arrived{}; ///< lanes, by warp, this phase
  std::array<uint32_t, kMaxWarps> owing{};   ///< arrived, and not waited since
  Clock arriving;                            ///< what its arrivals release
  Clock completed;                           ///< what a wait acquires
};

/// Reports a second arrival without a wait.
void arriveAtCluster(Warp &warp, const Instruction &at, uint32_t lanes);
/// Whether the lanes may go on. Reports a wait without an arrival.
bool passCluster(Warp &warp, uint32_t lanes);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_CLUSTERBARRIER_H
