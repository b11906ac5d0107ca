//===- AsyncOps.cpp - copies that land later --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

namespace {

/// Reads of fewer bytes than the copy has: the rest becomes zeros.
void resolveSources(Warp &warp, const Instruction &at, Mask lanes,
                    const uint16_t *sizes, Access &from, Mask &good) {
  good = 0;
  for (Mask rest = lanes; rest;) {
    uint16_t size = sizes[__builtin_ctz(rest)];
    Mask same = 0;
    forEachLane(rest, [&](unsigned lane) {
      same |= Mask(sizes[lane] == size) << lane;
    });
    rest &= ~same;
    from.bytes = size;
    good |= size ? resolve(warp, from, same) : same;
  }
}

void readSizes(Warp &warp, const Instruction &at, Mask lanes, uint16_t *sizes) {
  const uint32_t *given = warp.reg<uint32_t>(at.op[2]);
  Mask ignored = at.form == 2 ? warp.predicate(at.op[2]) : 0;
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t size = at.bytes;
    if (at.form == 1)
      size = std::min<uint32_t>(size, given[lane]);
    else if (ignored >> lane & 1)
      size = 0;
    sizes[lane] = size;
  });
}

/// The destination holds NaNs until the copy lands, as late as it may.
void begin(Warp &warp, const Instruction &at, Mask lanes, const Access &to,
           const Access &from, const uint16_t *sizes) {
  bool late = warp.block->worker->checks;
  forEachLane(lanes, [&](unsigned lane) {
    if (!late) {
      std::memcpy(to.pointer[lane],
                  reinterpret_cast<const void *>(from.address[lane]),
                  sizes[lane]);
      std::memset(to.pointer[lane] + sizes[lane], 0, at.bytes - sizes[lane]);
      return;
    }
    std::memset(to.pointer[lane], 0xFF, at.bytes);
    LaneCopies &copies = warp.copies[lane];
    copies.pending.push_back({uint32_t(to.address[lane]), from.address[lane],
                              at.bytes, sizes[lane], copies.committed + 1,
                              warp.pc, ++copies.issued});
  });
}

void copyAsync(Warp &warp, const Instruction &at, Mask lanes) {
  uint16_t sizes[kLanes] = {};
  readSizes(warp, at, lanes, sizes);
  Access to, from;
  to.kind = AccessKind::AsyncWrite;
  to.space = Space::Shared;
  to.bytes = at.bytes;
  computeAddresses(warp, at, at.op[0], lanes, to.address);
  from.kind = AccessKind::AsyncRead;
  from.space = Space::Global;
  const uint64_t *base = warp.reg<uint64_t>(at.op[1]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    from.address[lane] = base[lane] + at.offset2;
  Mask readable = 0;
  resolveSources(warp, at, lanes, sizes, from, readable);
  Mask good = resolve(warp, to, readable);
  begin(warp, at, good, to, from, sizes);
}

void commit(Warp &warp, const Instruction &, Mask lanes) {
  forEachLane(lanes, [&](unsigned lane) { ++warp.copies[lane].committed; });
}

void waitGroup(Warp &warp, const Instruction &at, Mask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    LaneCopies &copies = warp.copies[lane];
    if (copies.committed > uint64_t(at.offset))
      landCopies(warp, lane, copies.committed - at.offset);
  });
}

void waitAll(Warp &warp, const Instruction &, Mask lanes) {
  forEachLane(lanes, [&](unsigned lane) {
    LaneCopies &copies = warp.copies[lane];
    landCopies(warp, lane, ++copies.committed);
  });
}

} // namespace

static void buildCopy(Form &form) {
  bool all = form.oneOf({"ca", "cg"}) == 0;
  form.ignoresOne({"shared", "shared::cta"});
  form.oneOf({"global"});
  bool hinted = form.has("L2::cache_hint");
  form.ignores({"L2::64B", "L2::128B", "L2::256B"});
  form.address();
  form.address(1);
  if (form.code.addressBits2 != 64)
    form.fail("expected a 64-bit address of global memory");
  static constexpr uint64_t sizes[] = {16, 8, 4};
  uint64_t bytes = form.immediateOf(ArrayRef(sizes).take_front(all ? 3 : 1));
  form.code.bytes = bytes;
  form.code.run = &copyAsync;
  const Operand *size = form.peekOperand();
  KernelAssembler::Register found;
  bool ignore = size && size->kind == Operand::Name &&
                form.kernel.findRegister(size->name, found) &&
                found.type == Type::Pred;
  bool isGiven = form.operandsLeft() > hinted;
  form.code.form = form.among(3, !isGiven ? 0 : ignore ? 2 : 1);
  if (form.code.form == 0)
    form.addSource(form.constant(Type::U32, bytes));
  else
    form.source(form.code.form == 2 ? Type::Pred : Type::U32);
  if (hinted)
    form.source(Type::B64);
}

static void buildAsync(Form &form) {
  if (form.has("reduce"))
    return buildBulkReduction(form);
  form.oneOf({"async"});
  if (form.has("bulk"))
    return buildBulkCopy(form);
  if (form.has("mbarrier"))
    return buildCopyArrival(form);
  if (form.has("commit_group")) {
    form.code.run = &commit;
  } else if (form.has("wait_all")) {
    form.code.run = &waitAll;
  } else if (form.has("wait_group")) {
    form.code.offset = form.immediate(0, 1 << 20);
    form.code.run = &waitGroup;
  } else {
    buildCopy(form);
  }
}

void raytention::simt::addAsyncOps(BuilderTable &table) {
  table["cp"] = &buildAsync;
}
