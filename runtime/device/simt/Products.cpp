//===- Products.cpp - what warpgroup products leave unfinished -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Machine.h"

#include <algorithm>

using namespace raytention::simt;

//===----------------------------------------------------------------------===//
// Registers of products in flight
//===----------------------------------------------------------------------===//

static std::string placeOf(Warp &warp, uint32_t pc) {
  const Launch &launch = warp.block->worker->launch;
  return describePlace(launch.program, launch.kernel.code[pc]);
}

/// Reported once for a group: what else touches its registers follows from it.
static void reportUnfinished(Warp &warp, uint32_t reg, uint32_t group,
                             const char *what) {
  WarpProducts &products = warp.products;
  uint32_t pc = warp.pc;
  for (const PendingProduct &pending : products.pending)
    if (pending.group == group)
      pc = pending.pc;
  warp.block->worker->report(
      FindingKind::WgmmaUnfinished, warp, warp.pc, __builtin_ctz(warp.alive), 0,
      [&] {
        return "expected wgmma.wait_group between the product at " +
               placeOf(warp, pc) + " and " + what + " of " +
               registerName(warp, reg) + ", got none";
      });
  products.finished = std::max(products.finished, group);
}

static void checkUse(Warp &warp, uint32_t reg, const char *what) {
  const RegisterMarks &marks = warp.marks(reg);
  uint32_t group = std::max(marks.result, marks.operand);
  if (warp.products.isPending(group))
    reportUnfinished(warp, reg, group, what);
}

/// The latest of what is known of the sources of a copy. A number is in no
/// product and was written before all fences.
static RegisterMarks joinMarks(Warp &warp, const Instruction &at) {
  RegisterMarks joined;
  for (unsigned i = 0; i < at.sources; ++i) {
    const RegisterMarks &marks = warp.marks(at.op[at.destinations + i]);
    if (marks.result > joined.result) {
      joined.result = marks.result;
      joined.shape = marks.shape;
    }
    joined.written = std::max(joined.written, marks.written);
  }
  return joined;
}

void raytention::simt::noteRegisterUse(Warp &warp, const Instruction &at) {
  RegisterMarks now;
  now.written = warp.products.fences;
  if (at.copies)
    now = joinMarks(warp, at);
  else
    for (unsigned i = 0; i < at.sources; ++i)
      checkUse(warp, at.op[at.destinations + i], "a read");
  // Compilers copy accumulators to and fro between products.
  bool passesOn = warp.products.isPending(now.result);
  for (unsigned i = 0; i < at.destinations; ++i) {
    RegisterMarks &marks = warp.marks(at.op[i]);
    if (!passesOn || warp.products.isPending(marks.operand))
      checkUse(warp, at.op[i], "a write");
    marks = now;
  }
}

//===----------------------------------------------------------------------===//
// Fragments of a product about to be issued
//===----------------------------------------------------------------------===//

static void reportUnfenced(Warp &warp, const std::string &since) {
  warp.block->worker->report(FindingKind::WgmmaUnfenced, warp, warp.pc,
                             __builtin_ctz(warp.alive), 0, [&] {
                               return "expected wgmma.fence between " + since +
                                      " and this product, got none";
                             });
  ++warp.products.fences;
}

/// A write since the last fence.
static void checkFence(Warp &warp, uint32_t reg) {
  if (warp.marks(reg).written == warp.products.fences)
    reportUnfenced(warp, "the last write of " + registerName(warp, reg));
}

void raytention::simt::checkFragments(Warp &warp, const Product &product,
                                      const uint32_t *a, uint32_t lanes,
                                      uint32_t accumulates) {
  WarpProducts &products = warp.products;
  if (products.fences == 1)
    reportUnfenced(warp, "the start of the kernel");
  for (uint32_t reg : product.accumulators) {
    const RegisterMarks &marks = warp.marks(reg);
    bool follows = marks.shape == product.shape();
    if (!follows || products.isPending(marks.operand))
      checkUse(warp, reg, "another use");
    checkFence(warp, reg);
    checkWritten(warp, reg, lanes & accumulates);
  }
  for (unsigned i = 0; product.registersOfA && i < 4; ++i) {
    if (products.isPending(warp.marks(a[i]).result))
      checkUse(warp, a[i], "a use as A");
    checkFence(warp, a[i]);
  }
}

void raytention::simt::beginProduct(Warp &warp, const Product &product,
                                    const uint32_t *a, uint64_t descriptorA,
                                    uint64_t descriptorB) {
  WarpProducts &products = warp.products;
  uint32_t group = products.committed + 1;
  for (uint32_t reg : product.accumulators) {
    RegisterMarks &marks = warp.marks(reg);
    marks.result = group;
    marks.shape = product.shape();
    marks.written = 0;
  }
  for (unsigned i = 0; product.registersOfA && i < 4; ++i)
    warp.marks(a[i]).operand = group;
  products.pending.push_back(
      {&product, warp.pc, group, products.issued, descriptorA, descriptorB});
}

//===----------------------------------------------------------------------===//
// Ends
//===----------------------------------------------------------------------===//

static bool hasEnded(const Warp &warp) { return !warp.alive; }

static void reportMissing(Warp &warp, uint32_t pc, const Warp &absent) {
  warp.block->worker->report(
      FindingKind::DivergentCollective, warp, pc, 0, 0, [&] {
        return "expected warp " + std::to_string(absent.index) +
               " to come to this product with the other warps of its "
               "warpgroup, got its end at " +
               placeOf(warp, absent.pc);
      });
}

void raytention::simt::leaveProducts(Warp &warp) {
  std::vector<PendingProduct> &pending = warp.products.pending;
  if (!pending.empty())
    warp.block->worker->report(
        FindingKind::WgmmaAtExit, warp, pending.front().pc, 0, 0, [] {
          return "expected wgmma.wait_group for this product before the warp "
                 "ends, got none";
        });
  pending.clear();
  Warpgroup &group = warp.block->warpgroups[warp.index / kWarpsPerGroup];
  if (!hasEnded(warp) || group.diverged)
    return;
  uint32_t next = warp.products.issued - group.dropped;
  if (next >= group.issues.size())
    return;
  reportMissing(warp, group.issues[next].pc, warp);
  group.diverged = true;
}

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

static void reportOther(Warp &warp, const Warpgroup::Issue &other) {
  warp.block->worker->report(
      FindingKind::DivergentCollective, warp, warp.pc, 0, 0, [&] {
        return "expected the four warps of a warpgroup to come to the same "
               "product, got warp " +
               std::to_string(other.warp) + " at " + placeOf(warp, other.pc);
      });
}

static void reportDescriptors(Warp &warp, const Warpgroup::Issue &other) {
  warp.block->worker->report(
      FindingKind::BadDescriptor, warp, warp.pc, 0, 0, [&] {
        return "expected the descriptors of warp " +
               std::to_string(other.warp) +
               ", which must be the same in a warpgroup, got others";
      });
}

/// Warps of the group, this one aside.
template <class F> static void forEachOther(Warp &warp, F f) {
  Block &block = *warp.block;
  unsigned first = warp.index / kWarpsPerGroup * kWarpsPerGroup;
  unsigned end = std::min<unsigned>(first + kWarpsPerGroup, block.warps.size());
  for (unsigned i = first; i < end; ++i)
    if (i != warp.index)
      f(block.warps[i]);
}

/// Forgets issues that all four warps have made.
static void dropIssues(Warp &warp, Warpgroup &group) {
  if (group.issues.size() % 1024)
    return;
  uint32_t least = warp.products.issued;
  forEachOther(warp, [&](Warp &other) {
    least = std::min(least, other.products.issued);
  });
  uint32_t count = least - group.dropped;
  group.issues.erase(group.issues.begin(), group.issues.begin() + count);
  group.dropped = least;
}

static void addIssue(Warp &warp, Warpgroup &group, uint64_t a, uint64_t b) {
  group.issues.push_back({warp.pc, warp.index, a, b});
  forEachOther(warp, [&](Warp &other) {
    if (hasEnded(other) && !group.diverged) {
      reportMissing(warp, warp.pc, other);
      group.diverged = true;
    }
  });
  dropIssues(warp, group);
}

void raytention::simt::noteIssue(Warp &warp, uint64_t a, uint64_t b) {
  Warpgroup &group = warp.block->warpgroups[warp.index / kWarpsPerGroup];
  if (group.diverged)
    return;
  size_t warps = warp.block->warps.size();
  if (warp.index / kWarpsPerGroup >= warps / kWarpsPerGroup) {
    warp.block->worker->report(
        FindingKind::DivergentCollective, warp, warp.pc, 0, 0, [&] {
          return "expected a warpgroup of four warps, got the last " +
                 std::to_string(warps % kWarpsPerGroup) + " of a block";
        });
    group.diverged = true;
    return;
  }
  uint32_t index = warp.products.issued - 1 - group.dropped;
  if (index >= group.issues.size())
    return addIssue(warp, group, a, b);
  const Warpgroup::Issue &other = group.issues[index];
  if (other.pc != warp.pc)
    reportOther(warp, other);
  else if (other.a != a || other.b != b)
    reportDescriptors(warp, other);
  else
    return;
  group.diverged = true;
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Rounds in which nothing else happens before a warp is taken to stay away.
static constexpr uint32_t kStallsOfAbsence = 8;

unsigned raytention::simt::warpgroupAgent(const Warp &warp) {
  return kFirstWarpgroup + warp.index / kWarpsPerGroup;
}

/// A warp that has not issued so many products yet, or null.
static Warp *findLate(Warp &warp, uint32_t issued) {
  Warp *late = nullptr;
  forEachOther(warp, [&](Warp &other) {
    if (!hasEnded(other) && other.products.issued < issued)
      late = &other;
  });
  return late;
}

static void reportLate(Warp &warp, const Warp &late) {
  if (!warp.block->worker->checks)
    return;
  warp.block->worker->report(
      FindingKind::DivergentCollective, warp, warp.pc, 0, 0, [&] {
        return "expected the four warps of a warpgroup to issue the products "
               "that this waits for, got warp " +
               std::to_string(late.index) + " at " + placeOf(warp, late.pc);
      });
}

/// Products up to this issue have read what all four warps gave them.
static void endReadsUpTo(Warp &warp, uint32_t issued) {
  auto end = [&](Warp &of) {
    for (PendingProduct &pending : of.products.pending)
      if (pending.issue <= issued && !pending.hasRead) {
        endReads(of, pending);
        pending.hasRead = true;
      }
  };
  end(warp);
  forEachOther(warp, end);
}

static void finishGroups(Warp &warp, uint32_t over, uint32_t issued) {
  Block &block = *warp.block;
  WarpProducts &products = warp.products;
  products.finished = std::max(products.finished, over);
  endReadsUpTo(warp, issued);
  auto isOver = [&](const PendingProduct &p) { return p.group <= over; };
  products.pending.erase(
      std::remove_if(products.pending.begin(), products.pending.end(), isOver),
      products.pending.end());
  block.clocks[warp.index].seen.endReads(warpgroupAgent(warp), block.now);
  ++block.now;
}

bool raytention::simt::waitForProducts(Warp &warp, uint64_t left, bool forced) {
  Block &block = *warp.block;
  WarpProducts &products = warp.products;
  if (products.committed <= left)
    return true;
  uint32_t over = static_cast<uint32_t>(products.committed - left);
  uint32_t issued = products.groupEnds[over - 1];
  Warpgroup &group = block.warpgroups[warp.index / kWarpsPerGroup];
  Warp *late = group.diverged ? nullptr : findLate(warp, issued);
  if (late && (!forced || block.mbarriers.stalls < kStallsOfAbsence))
    return false;
  if (late) {
    reportLate(warp, *late);
    group.diverged = true;
  }
  if (block.worker->checks)
    finishGroups(warp, over, issued);
  return true;
}
