//===- Access.cpp - checked memory accesses of a warp -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ShadowAccess.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace raytention::simt;

static std::string hex(uint64_t value) {
  return "0x" + utohexstr(value, /*LowerCase=*/true);
}

void raytention::simt::computeAddresses(Warp &warp, const Instruction &at,
                                        uint32_t reg, Mask lanes,
                                        uint64_t *address) {
  uint64_t offset = at.offset;
  if (at.addressBits == 32) {
    const uint32_t *base = warp.reg<uint32_t>(reg);
    for (unsigned lane = 0; lane < kLanes; ++lane)
      address[lane] = uint32_t(base[lane] + offset);
    return;
  }
  const uint64_t *base = warp.reg<uint64_t>(reg);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    address[lane] = base[lane] + offset;
}

uint64_t raytention::simt::addressOf(Warp &warp, uint32_t reg, unsigned bits,
                                     int64_t offset, unsigned lane) {
  return bits == 32 ? uint32_t(warp.reg<uint32_t>(reg)[lane] + offset)
                    : warp.reg<uint64_t>(reg)[lane] + offset;
}

/// The bytes are looked at elsewhere, if at all.
static bool isOnlyBounded(AccessKind kind) {
  return kind == AccessKind::Object || kind == AccessKind::BulkRead ||
         kind == AccessKind::BulkWrite;
}

//===----------------------------------------------------------------------===//
// Findings
//===----------------------------------------------------------------------===//

static void reportBounds(Warp &warp, const Access &access, unsigned lane,
                         StringRef space, uint64_t size) {
  uint64_t address = access.address[lane];
  warp.block->worker->report(
      FindingKind::OutOfBounds, warp, warp.pc, lane, address, [&] {
        return ("expected " + Twine(access.bytes) + " bytes within the " +
                Twine(size) + " bytes of " + space + " memory, got offset " +
                Twine(int64_t(address)))
            .str();
      });
}

static void reportGlobal(Warp &warp, const Access &access, unsigned lane) {
  uint64_t address = access.address[lane];
  Worker &worker = *warp.block->worker;
  worker.report(FindingKind::OutOfBounds, warp, warp.pc, lane, address, [&] {
    std::string text = "expected " + std::to_string(access.bytes) +
                       " bytes of a registered allocation, got " + hex(address);
    if (const Allocation *before = worker.launch.memory.findBefore(address))
      text += ", " + std::to_string(address - before->base) +
              " bytes after the start of " + before->name + " of " +
              std::to_string(before->bytes) + " bytes";
    return text;
  });
}

static void checkAlignment(Warp &warp, const Access &access, Mask lanes,
                           unsigned alignment) {
  if (alignment <= 1 || (alignment & (alignment - 1)))
    return;
  Mask wrong = 0;
  forEachLane(lanes, [&](unsigned lane) {
    wrong |= Mask((access.address[lane] & (alignment - 1)) != 0) << lane;
  });
  if (!wrong)
    return;
  unsigned lane = __builtin_ctz(wrong);
  warp.block->worker->report(
      FindingKind::Misaligned, warp, warp.pc, lane, access.address[lane], [&] {
        return "expected an address that is a multiple of " +
               std::to_string(alignment) + ", got " + hex(access.address[lane]);
      });
}

//===----------------------------------------------------------------------===//
// Spaces
//===----------------------------------------------------------------------===//

static Mask resolveShared(Warp &warp, Access &access, Mask lanes) {
  Block &block = *warp.block;
  uint64_t size = block.worker->launch.sharedBytes;
  Mask good = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t address = access.address[lane];
    if (access.bytes > size || address > size - access.bytes)
      return reportBounds(warp, access, lane, "shared", size);
    good |= Mask(1) << lane;
    access.pointer[lane] = block.shared.data() + address;
  });
  if (!good || isOnlyBounded(access.kind))
    return good;
  Worker &worker = *block.worker;
  if (worker.checks)
    shadowShared(warp, access, good);
  if (!worker.profiling)
    return good;
  Profile &profile = worker.profile;
  SharedTraffic &traffic =
      access.kind == AccessKind::Load     ? profile.sharedLoads
      : access.kind == AccessKind::Store  ? profile.sharedStores
      : access.kind == AccessKind::Atomic ? profile.sharedAtomics
                                          : profile.asyncStores;
  countShared(traffic, access, good);
  return good;
}

/// Lanes whose bytes lie in an allocation that they may access.
static Mask boundGlobal(Warp &warp, Access &access, Mask lanes,
                        Mask &mayChange) {
  Worker &worker = *warp.block->worker;
  Mask good = 0;
  mayChange = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t address = access.address[lane];
    const Allocation *found = worker.lastAllocation;
    if (!found || !found->contains(address, access.bytes))
      found = worker.allocation(address, access.bytes);
    if (!found)
      return reportGlobal(warp, access, lane);
    if (found->readOnly && writes(access.kind)) {
      worker.report(FindingKind::ReadOnlyWrite, warp, warp.pc, lane, address,
                    [&] {
                      return "expected memory that may be written, got " +
                             found->name + ", which is read-only";
                    });
      return;
    }
    worker.lastAllocation = found;
    good |= Mask(1) << lane;
    mayChange |= Mask(!found->readOnly) << lane;
    access.pointer[lane] = reinterpret_cast<uint8_t *>(address);
  });
  return good;
}

static Mask resolveGlobal(Warp &warp, Access &access, Mask lanes) {
  Mask mayChange = 0;
  Mask good = boundGlobal(warp, access, lanes, mayChange);
  access.mayChange = mayChange;
  if (!good || isOnlyBounded(access.kind))
    return good;
  Worker &worker = *warp.block->worker;
  if (worker.checks && mayChange)
    shadowGlobal(warp, access, mayChange);
  if (!worker.profiling || access.space == Space::Const)
    return good;
  Profile &profile = worker.profile;
  GlobalTraffic &traffic =
      access.kind == AccessKind::Load     ? profile.globalLoads
      : access.kind == AccessKind::Store  ? profile.globalStores
      : access.kind == AccessKind::Atomic ? profile.globalAtomics
                                          : profile.asyncCopies;
  countGlobal(traffic, access, good);
  return good;
}

static Mask resolveLocal(Warp &warp, Access &access, Mask lanes) {
  Block &block = *warp.block;
  uint64_t size = block.worker->launch.kernel.entry.localBytes;
  Mask good = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t address = access.address[lane];
    if (access.bytes > size || address > size - access.bytes)
      return reportBounds(warp, access, lane, "local", size);
    good |= Mask(1) << lane;
    access.pointer[lane] =
        block.local.data() + (warp.index * kLanes + lane) * size + address;
  });
  if (block.worker->profiling && good) {
    Profile &profile = block.worker->profile;
    LocalTraffic &traffic =
        writes(access.kind) ? profile.localStores : profile.localLoads;
    ++traffic.requests;
    traffic.bytes += uint64_t(access.bytes) * __builtin_popcount(good);
  }
  return good;
}

static Mask resolveParam(Warp &warp, Access &access, Mask lanes) {
  ArrayRef<uint8_t> arguments = warp.block->worker->launch.arguments;
  Mask good = 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t address = access.address[lane], size = arguments.size();
    if (writes(access.kind) || access.bytes > size ||
        address > size - access.bytes)
      return reportBounds(warp, access, lane, "parameter", size);
    good |= Mask(1) << lane;
    // Never written: stores were refused above.
    access.pointer[lane] = const_cast<uint8_t *>(arguments.data()) + address;
  });
  return good;
}

static Mask resolveIn(Warp &warp, Access &access, Mask lanes) {
  if (warp.block->worker->checks)
    checkAlignment(warp, access, lanes,
                   access.alignment ? access.alignment : access.bytes);
  switch (access.space) {
  case Space::Shared:
    return resolveShared(warp, access, lanes);
  case Space::Local:
    return resolveLocal(warp, access, lanes);
  case Space::Param:
    return resolveParam(warp, access, lanes);
  default:
    return resolveGlobal(warp, access, lanes);
  }
}

Mask raytention::simt::resolve(Warp &warp, Access &access, Mask lanes) {
  if (access.space != Space::Generic)
    return resolveIn(warp, access, lanes);
  static constexpr std::pair<uint64_t, Space> windows[] = {
      {kSharedWindow, Space::Shared},
      {kLocalWindow, Space::Local},
      {kParamWindow, Space::Param}};
  Mask good = 0, rest = lanes;
  for (auto [window, space] : windows) {
    Mask inside = 0;
    forEachLane(rest, [&](unsigned lane) {
      inside |= Mask((access.address[lane] & kWindowMask) == window) << lane;
    });
    if (!inside)
      continue;
    forEachLane(inside, [&](unsigned lane) { access.address[lane] -= window; });
    access.space = space;
    good |= resolveIn(warp, access, inside);
    rest &= ~inside;
  }
  access.space = Space::Global;
  if (rest)
    good |= resolveIn(warp, access, rest);
  access.space = Space::Generic;
  return good;
}
