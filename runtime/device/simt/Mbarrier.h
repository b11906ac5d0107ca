//===- Mbarrier.h - barriers in shared memory -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The mbarrier objects of the PTX ISA: phases that end when all expected
// arrivals came and all expected bytes were copied. Their eight bytes are
// opaque; what they hold is kept here.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_MBARRIER_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_MBARRIER_H

#include "runtime/device/simt/AsyncCopy.h"
#include "runtime/device/simt/Clock.h"

#include <map>

namespace raytention::simt {

/// Limits of the PTX ISA.
constexpr uint32_t kMaxArrivals = (1 << 20) - 1;
constexpr int64_t kMaxBytesExpected = (1 << 20) - 1;

/// An arrival that comes when cp.async copies of a lane have landed.
struct LaneArrival {
  uint32_t warp = 0, lane = 0, sequence = 0, time = 0;
};

struct Mbarrier {
  uint32_t address = 0, slot = 0;
  uint32_t expected = 0; ///< arrivals of a phase
  uint32_t pending = 0;  ///< of this phase
  int64_t bytes = 0;     ///< expected and not copied
  uint32_t phase = 0;    ///< those complete
  uint32_t initTime = 0;
  uint16_t initThread = 0;
  bool initFenced = false; ///< the async proxy may see it
  Clock arriving;          ///< what arrivals of this phase release
  Clock completed;         ///< what a wait for the last phase acquires
  std::vector<BulkCopy> copies;
  std::vector<LaneArrival> laneArrivals;

  bool hasParityEnded(uint32_t parity) const { return (phase ^ parity) & 1; }
};

/// Those of a block.
struct Mbarriers {
  std::map<uint32_t, Mbarrier> live;  ///< by address
  std::map<uint32_t, uint32_t> slots; ///< by address, also of those gone
  uint64_t progress = 0;              ///< events that a wait may need
  uint64_t seen = 0;                  ///< progress when waits last woke
  uint32_t stalls = 0;                ///< without progress since

  void clear() { *this = Mbarriers(); }
};

/// The mbarrier an instruction of the lane names; null, with a finding, where
/// none is there or its init is not in order before.
Mbarrier *findMbarrier(Warp &warp, unsigned lane, uint32_t address);
void initMbarrier(Warp &warp, unsigned lane, uint32_t address, uint32_t count);
void invalidateMbarrier(Warp &warp, unsigned lane, uint32_t address);
/// What the lanes did before happens before what waits for this phase.
void releaseInto(Warp &warp, uint32_t lanes, Mbarrier &object);
/// `drop`: later phases expect fewer. Reports more arrivals than expected.
void arrive(Warp &warp, unsigned lane, Mbarrier &object, uint32_t count,
            bool drop);
/// Changes the bytes expected. Reports a count out of range.
void expectBytes(Warp &warp, unsigned lane, Mbarrier &object, int64_t change);
/// All that the mbarrier waits for and that can land does.
void landOn(Block &block, Mbarrier &object);
/// Wakes waits where something happened since; whether it did.
bool wakePhaseWaits(Block &block);
/// Lets waits that nothing will end say so, for some rounds; whether it did.
bool refusePhaseWaits(Block &block);
/// "1 of 2 arrivals and 128 bytes".
std::string describeMissing(const Mbarrier &object);

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_MBARRIER_H
