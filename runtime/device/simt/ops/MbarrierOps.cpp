//===- MbarrierOps.cpp - arrivals and waits at mbarriers --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

// A state, opaque to kernels, is the phase and the arrivals it lacked.

namespace {

enum ArriveFlag : uint8_t {
  Drop = 1,
  ExpectsBytes = 2,
  NoComplete = 4,
  Relaxed = 8,
  HasCount = 16,
};
enum WaitFlag : uint8_t { ByParity = 1, RelaxedWait = 2 };

/// Addresses of mbarriers in shared memory; gives the lanes that may go on.
Mask resolveObjects(Warp &warp, const Instruction &at, uint32_t reg, Mask lanes,
                    Access &access) {
  access.kind = AccessKind::Object;
  access.space = Space::Shared;
  access.bytes = 8;
  computeAddresses(warp, at, reg, lanes, access.address);
  for (uint64_t &address : access.address)
    address = sharedOffset(address);
  return resolve(warp, access, lanes);
}

/// Calls f(object, lanes) for each mbarrier that the lanes name.
template <class F>
void forEachObject(Warp &warp, const Access &access, Mask lanes, F f) {
  for (Mask rest = lanes; rest;) {
    unsigned first = __builtin_ctz(rest);
    Mask group = 0;
    forEachLane(rest, [&](unsigned lane) {
      group |= Mask(access.address[lane] == access.address[first]) << lane;
    });
    rest &= ~group;
    if (Mbarrier *object = findMbarrier(warp, first, access.address[first]))
      f(*object, group);
  }
}

//===----------------------------------------------------------------------===//
// Begin and end
//===----------------------------------------------------------------------===//

void init(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  Mask good = resolveObjects(warp, at, at.op[0], lanes, access);
  const uint32_t *count = warp.reg<uint32_t>(at.op[1]);
  forEachLane(good, [&](unsigned lane) {
    initMbarrier(warp, lane, access.address[lane], count[lane]);
  });
}

void invalidate(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  Mask good = resolveObjects(warp, at, at.op[0], lanes, access);
  forEachLane(good, [&](unsigned lane) {
    invalidateMbarrier(warp, lane, access.address[lane]);
  });
}

//===----------------------------------------------------------------------===//
// Arrivals
//===----------------------------------------------------------------------===//

/// The bytes that mbarrier.expect_tx and complete_tx add and take.
template <int kSign>
void changeBytes(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  Mask good = resolveObjects(warp, at, at.op[0], lanes, access);
  const uint32_t *bytes = warp.reg<uint32_t>(at.op[1]);
  forEachObject(warp, access, good, [&](Mbarrier &object, Mask group) {
    forEachLane(group, [&](unsigned lane) {
      expectBytes(warp, lane, object, kSign * int64_t(bytes[lane]));
    });
  });
}

void arriveLane(Warp &warp, const Instruction &at, unsigned lane,
                Mbarrier &object) {
  const uint32_t *given = warp.reg<uint32_t>(at.op[at.destinations + 1]);
  uint32_t count = at.form & HasCount ? given[lane] : 1;
  if (at.destinations)
    warp.reg<uint64_t>(at.op[0])[lane] =
        uint64_t(object.phase) << 32 | object.pending;
  if (at.form & ExpectsBytes)
    expectBytes(warp, lane, object, given[lane]);
  // One arrival more would end the phase.
  if (at.form & NoComplete && count == object.pending)
    ++count;
  arrive(warp, lane, object, count, at.form & Drop);
}

void arriveAll(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  Mask good = resolveObjects(warp, at, at.op[at.destinations], lanes, access);
  forEachObject(warp, access, good, [&](Mbarrier &object, Mask group) {
    uint64_t released = ~uint64_t(0);
    forEachLane(group, [&](unsigned lane) {
      // Later lanes may arrive in another phase.
      if (!(at.form & Relaxed) && released != object.phase)
        releaseInto(warp, group, object);
      released = object.phase;
      arriveLane(warp, at, lane, object);
    });
  });
}

void countPending(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint64_t *state = warp.reg<uint64_t>(at.op[1]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = uint32_t(state[lane]); });
}

/// Arrives when the lane's cp.async so far have landed.
void arriveAfterCopies(Warp &warp, const Instruction &at, Mask lanes) {
  Access access;
  Mask good = resolveObjects(warp, at, at.op[0], lanes, access);
  Block &block = *warp.block;
  forEachObject(warp, access, good, [&](Mbarrier &object, Mask group) {
    forEachLane(group, [&](unsigned lane) {
      object.pending += !at.form;
      object.laneArrivals.push_back(
          {warp.index, lane, warp.copies[lane].issued, block.now});
    });
    ++block.now;
    ++block.mbarriers.progress;
  });
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

/// Whether the phase that the lane waits for has ended.
bool hasEnded(Warp &warp, const Instruction &at, unsigned lane,
              const Mbarrier &object) {
  uint32_t reg = at.op[at.destinations + 1];
  if (at.form & ByParity)
    return object.hasParityEnded(warp.reg<uint32_t>(reg)[lane]);
  uint32_t phase = warp.reg<uint64_t>(reg)[lane] >> 32;
  if (object.phase > phase + 1)
    warp.block->worker->report(
        FindingKind::BarrierMisuse, warp, warp.pc, lane, object.address, [&] {
          return "expected the state of phase " +
                 std::to_string(object.phase - 1) + " or later, got that of " +
                 std::to_string(phase);
        });
  return object.phase > phase;
}

Mask openLanes(Warp &warp, const Instruction &at, Mask lanes,
               const Mbarrier &object) {
  Mask open = 0;
  forEachLane(lanes, [&](unsigned lane) {
    open |= Mask(!hasEnded(warp, at, lane, object)) << lane;
  });
  return open;
}

} // namespace

bool raytention::simt::passPhase(Warp &warp, const Instruction &at, Mask lanes,
                                 bool forced, uint32_t &waitsFor) {
  Block &block = *warp.block;
  Access access;
  Mask good = resolveObjects(warp, at, at.op[at.destinations], lanes, access);
  // A wait for what is no mbarrier was reported: it does not last for ever.
  Mask ended = lanes;
  forEachObject(warp, access, good, [&](Mbarrier &object, Mask group) {
    Mask open = openLanes(warp, at, group, object);
    if (open) {
      landOn(block, object);
      open = openLanes(warp, at, group, object);
    }
    ended &= ~open;
    if (group & ended && !(at.form & RelaxedWait))
      block.clocks[warp.index].join(object.completed, block.warps.size());
    waitsFor = object.address;
  });
  if (!ended && !forced)
    return false;
  Mask &to = warp.predicate(at.op[0]);
  to = (to & ~lanes) | ended;
  return true;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// .sem.scope.space.b64 with this order or the relaxed one; whether relaxed.
static bool takeObjectForm(Form &form, StringRef order,
                           bool *isRemote = nullptr) {
  SmallVector<StringRef, 2> orders;
  if (!order.empty())
    orders.push_back("relaxed");
  if (!order.empty() && order != "relaxed")
    orders.push_back(order);
  unsigned sem = form.maybe(orders, 2);
  if (sem < 2)
    form.ignoresOne({"cta", "cluster"});
  // With no clusters the block is a cluster of its own.
  if (isRemote)
    *isRemote = form.has("shared::cluster");
  if (!isRemote || !*isRemote)
    form.ignores({"shared", "shared::cta"});
  form.oneOf({"b64"});
  return sem == 0;
}

/// A state or `_`; what is remote gives none.
static void takeState(Form &form, bool isRemote) {
  const Operand *first = form.peekOperand();
  bool named = first && first->kind == Operand::Name;
  bool unused = named && first->name == "_";
  if (!isRemote && !form.either(unused))
    return form.dest(Type::B64);
  if (first && !unused)
    form.fail("expected _ for the state of an mbarrier of the cluster");
  form.shape("_");
  form.takeOperand();
}

static void buildArrive(Form &form, bool drop) {
  uint8_t flags = drop ? Drop : 0;
  if (form.has("expect_tx"))
    flags |= ExpectsBytes;
  else if (form.has("noComplete"))
    flags |= NoComplete;
  bool isRemote = false;
  if (takeObjectForm(form, "release", flags & NoComplete ? nullptr : &isRemote))
    flags |= Relaxed;
  if (flags & NoComplete && flags & Relaxed)
    form.fail("expected .noComplete without .relaxed");
  if (flags & NoComplete)
    form.dest(Type::B64);
  else
    takeState(form, isRemote);
  form.address();
  bool counts = flags & NoComplete ||
                (!(flags & ExpectsBytes) && form.either(form.operandsLeft()));
  if (counts)
    flags |= HasCount;
  if (counts || flags & ExpectsBytes)
    form.source(Type::U32);
  form.code.form = flags;
  form.code.run = &arriveAll;
}

static void buildWait(Form &form) {
  uint8_t flags = form.has("parity") ? ByParity : 0;
  if (takeObjectForm(form, "acquire"))
    flags |= RelaxedWait;
  form.dest(Type::Pred);
  form.address();
  form.source(flags & ByParity ? Type::U32 : Type::B64);
  form.code.form = flags;
  form.code.flow = Flow::Phase;
}

static void buildSimple(Form &form, Handler run, bool hasNumber,
                        bool hasOrder = false) {
  takeObjectForm(form, hasOrder ? "relaxed" : "");
  form.address();
  if (hasNumber)
    form.source(Type::U32);
  form.code.run = run;
}

static void buildMbarrier(Form &form) {
  switch (
      form.oneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                  "complete_tx", "test_wait", "try_wait", "pending_count"})) {
  case 0:
    return buildSimple(form, &init, true);
  case 1:
    return buildSimple(form, &invalidate, false);
  case 2:
    return buildArrive(form, false);
  case 3:
    return buildArrive(form, true);
  case 4:
    return buildSimple(form, &changeBytes<1>, true, true);
  case 5:
    return buildSimple(form, &changeBytes<-1>, true, true);
  case 6:
    return buildWait(form);
  case 7:
    buildWait(form);
    if (form.either(form.operandsLeft()))
      form.source(Type::U32); // how long to wait
    return;
  default:
    form.oneOf({"b64"});
    form.dest(Type::U32);
    form.source(Type::B64);
    form.code.run = &countPending;
  }
}

void raytention::simt::buildCopyArrival(Form &form) {
  form.oneOf({"arrive"});
  form.code.form = form.has("noinc");
  form.ignores({"shared", "shared::cta"});
  form.oneOf({"b64"});
  form.address();
  form.code.run = &arriveAfterCopies;
}

void raytention::simt::addMbarrierOps(BuilderTable &table) {
  table["mbarrier"] = &buildMbarrier;
}
