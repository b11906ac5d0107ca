//===- Traffic.cpp - sectors and banks --------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include <algorithm>

using namespace raytention::simt;

static constexpr unsigned kSectorBytes = 32;
static constexpr unsigned kBanks = 32, kBankBytes = 4;

/// Sorts only what is not sorted: addresses mostly rise by lane.
static unsigned countDistinct(uint64_t *values, unsigned count) {
  if (!std::is_sorted(values, values + count))
    std::sort(values, values + count);
  return std::unique(values, values + count) - values;
}

void raytention::simt::countGlobal(GlobalTraffic &traffic, const Access &access,
                                   Mask lanes) {
  uint64_t sectors[kLanes * 2];
  unsigned count = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t first = access.address[lane] / kSectorBytes;
    uint64_t last = (access.address[lane] + access.bytes - 1) / kSectorBytes;
    sectors[count++] = first;
    if (last != first)
      sectors[count++] = last;
  });
  ++traffic.requests;
  traffic.bytes += uint64_t(access.bytes) * __builtin_popcount(lanes);
  traffic.sectors += countDistinct(sectors, count);
}

/// Passes over the banks that one phase takes: words of the same bank follow
/// one another, lanes on the same word share it.
static unsigned countPasses(const Access &access, Mask lanes) {
  uint64_t words[kLanes * 4];
  unsigned count = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t first = access.address[lane] / kBankBytes;
    uint64_t last = (access.address[lane] + access.bytes - 1) / kBankBytes;
    for (uint64_t word = first; word <= last && count < kLanes * 4; ++word)
      words[count++] = word;
  });
  // Atomics at one word take turns, other lanes share it.
  if (access.kind != AccessKind::Atomic)
    count = countDistinct(words, count);
  uint8_t perBank[kBanks] = {};
  unsigned passes = 0;
  for (unsigned i = 0; i < count; ++i)
    passes = std::max<unsigned>(passes, ++perBank[words[i] % kBanks]);
  return passes;
}

/// Lanes are served in phases that could take all banks once: 32 lanes of up to
/// 4 bytes, 16 of 8, 8 of 16.
void raytention::simt::countShared(SharedTraffic &traffic, const Access &access,
                                   Mask lanes) {
  unsigned perPhase = access.bytes <= 4 ? 32 : access.bytes <= 8 ? 16 : 8;
  for (unsigned first = 0; first < kLanes; first += perPhase) {
    Mask phase =
        perPhase == 32 ? kAllLanes : ((Mask(1) << perPhase) - 1) << first;
    if (!(phase & lanes))
      continue;
    unsigned passes = countPasses(access, phase & lanes);
    traffic.wavefronts += passes;
    traffic.conflicts += passes - 1;
  }
  ++traffic.requests;
  traffic.bytes += uint64_t(access.bytes) * __builtin_popcount(lanes);
}
