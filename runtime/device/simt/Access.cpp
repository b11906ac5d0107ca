//===- Access.cpp - checked memory accesses of a warp -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cstring>

using namespace llvm;
using namespace raytention::simt;

static bool writes(AccessKind kind) {
  return kind == AccessKind::Store || kind == AccessKind::Atomic ||
         kind == AccessKind::AsyncWrite;
}

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

static std::string describeThread(const Block &block, uint32_t thread) {
  return "warp " + std::to_string(thread / 32) + " lane " +
         std::to_string(thread % 32);
}

static void reportConflict(Warp &warp, const Access &access, unsigned lane,
                           const Conflict &conflict, bool shared) {
  FindingKind kind =
      conflict.kind == Conflict::Pending ? FindingKind::AsyncCopyUnfinished
      : conflict.kind == Conflict::Race  ? FindingKind::RaceInBlock
                                         : FindingKind::RaceBetweenBlocks;
  warp.block->worker->report(
      kind, warp, warp.pc, lane, access.address[lane], [&] {
        std::string verb = access.kind == AccessKind::Atomic
                               ? "an atomic access"
                           : writes(access.kind) ? "this write"
                                                 : "this read";
        std::string who = describeThread(*warp.block, conflict.otherThread);
        if (kind == FindingKind::AsyncCopyUnfinished)
          return "expected a wait for the async copy of " + who + " before " +
                 verb + ", got none";
        std::string other = conflict.otherWrote ? "the write" : "the read";
        if (kind == FindingKind::RaceBetweenBlocks)
          return "expected no other block at the bytes of " + verb + ", got " +
                 other + " of block " + std::to_string(conflict.otherBlock);
        return "expected a barrier between " + verb + " of " +
               (shared ? "shared" : "global") + " memory and " + other +
               " of " + who + ", got none";
      });
}

//===----------------------------------------------------------------------===//
// Shadows
//===----------------------------------------------------------------------===//

static Toucher makeToucher(Warp &warp, const Access &access) {
  Block &block = *warp.block;
  Toucher by;
  by.kind = writes(access.kind) ? Touch::Write : Touch::Read;
  by.strong = access.strong;
  by.beginsAsync = access.kind == AccessKind::AsyncWrite;
  by.acquired = block.acquired;
  by.block = block.linear;
  by.now = block.now;
  by.clocks = block.clocks[warp.index].data();
  by.published = block.worker->launch.published.get();
  return by;
}

/// Cells of blocks that ran before are as good as new.
static void forgetOldBlocks(Cell &cell, uint32_t start) {
  if (cell.writeTime < start) {
    cell.writeTime = 0;
    cell.pending = false;
  }
  if (cell.readTime < start) {
    cell.readTime = 0;
    cell.manyBlocks = cell.manyReaders = false;
  }
}

static void shadowShared(Warp &warp, const Access &access, Mask lanes) {
  Block &block = *warp.block;
  Toucher by = makeToucher(warp, access);
  bool reads = !writes(access.kind) || access.kind == AccessKind::Atomic;
  forEachLane(lanes, [&](unsigned lane) {
    by.thread = warp.index * kLanes + lane;
    Conflict worst;
    bool fresh = false;
    block.shadow->forEach(access.address[lane], access.bytes, [&](Cell &cell) {
      forgetOldBlocks(cell, block.start);
      fresh |= reads && !cell.writeTime;
      Conflict conflict = touch(cell, by);
      if (conflict.kind && !worst.kind)
        worst = conflict;
    });
    if (worst.kind)
      reportConflict(warp, access, lane, worst, true);
    else if (fresh)
      block.worker->report(FindingKind::UninitializedShared, warp, warp.pc,
                           lane, access.address[lane], [] {
                             return "expected shared memory that was written "
                                    "by this block, got bytes that were not";
                           });
  });
}

static void shadowGlobal(Warp &warp, const Access &access, Mask lanes) {
  Toucher by = makeToucher(warp, access);
  Worker &worker = *warp.block->worker;
  constexpr uint64_t pageBytes = uint64_t(1) << GlobalShadow::kPageBits;
  forEachLane(lanes, [&](unsigned lane) {
    by.thread = warp.index * kLanes + lane;
    Conflict worst;
    uint64_t at = access.address[lane], end = at + access.bytes;
    while (at < end) {
      GlobalShadow::Page &page =
          worker.shadowPage(at >> GlobalShadow::kPageBits);
      uint64_t next = std::min(end, (at / pageBytes + 1) * pageBytes);
      std::lock_guard<std::mutex> lock(page.mutex);
      page.range.forEach(at % pageBytes, next - at, [&](Cell &cell) {
        Conflict conflict = touch(cell, by);
        if (conflict.kind && !worst.kind)
          worst = conflict;
      });
      at = next;
    }
    if (worst.kind)
      reportConflict(warp, access, lane, worst, false);
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
  if (!good)
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
  if (!good)
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
    checkAlignment(warp, access, lanes, access.bytes);
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

//===----------------------------------------------------------------------===//
// Async copies
//===----------------------------------------------------------------------===//

static void land(Warp &warp, unsigned lane, const AsyncCopy &copy) {
  Block &block = *warp.block;
  uint8_t *to = block.shared.data() + copy.to;
  std::memcpy(to, reinterpret_cast<const void *>(copy.from), copy.read);
  std::memset(to + copy.read, 0, copy.bytes - copy.read);
  if (!block.worker->checks)
    return;
  Access access;
  access.kind = AccessKind::AsyncWrite;
  Toucher by = makeToucher(warp, access);
  by.kind = Touch::Land;
  by.beginsAsync = false;
  by.thread = warp.index * kLanes + lane;
  block.shadow->forEach(copy.to, copy.bytes,
                        [&](Cell &cell) { touch(cell, by); });
}

void raytention::simt::landCopies(Warp &warp, unsigned lane,
                                  uint32_t upToGroup) {
  std::vector<AsyncCopy> &pending = warp.copies[lane].pending;
  auto lands = [&](const AsyncCopy &copy) { return copy.group <= upToGroup; };
  for (const AsyncCopy &copy : pending)
    if (lands(copy))
      land(warp, lane, copy);
  pending.erase(std::remove_if(pending.begin(), pending.end(), lands),
                pending.end());
}
