//===- CollectiveOps.cpp - shuffles, votes and other meetings of lanes --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

using namespace llvm;
using namespace raytention::simt;

// `form` says which source is the mask of lanes, `form2` what is done.

namespace {

enum Shuffle : uint8_t { Up, Down, Butterfly, Index };

/// The lane that is read, and whether it lies within bounds.
unsigned sourceLane(Shuffle how, unsigned lane, uint32_t b, uint32_t c,
                    bool &inside) {
  int segment = c >> 8 & 31, clamp = c & 31, by = b & 31;
  int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
  int from = int(lane);
  switch (how) {
  case Up:
    from -= by;
    inside = from >= most;
    break;
  case Down:
    from += by;
    inside = from <= most;
    break;
  case Butterfly:
    from ^= by;
    inside = from <= most;
    break;
  case Index:
    from = least | (by & ~segment);
    inside = from <= most;
    break;
  }
  return inside ? unsigned(from) & 31 : lane;
}

void shuffle(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[at.destinations]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[at.destinations + 1]);
  const uint32_t *c = warp.reg<uint32_t>(at.op[at.destinations + 2]);
  uint32_t values[kLanes];
  Mask written = warp.written(at.op[at.destinations]);
  Mask within = 0, absent = 0;
  forEachLane(lanes, [&](unsigned lane) {
    bool inside = false;
    unsigned from = sourceLane(static_cast<Shuffle>(at.form2), lane, b[lane],
                               c[lane], inside);
    within |= Mask(inside) << lane;
    absent |= Mask(!(lanes >> from & 1)) << lane;
    values[lane] = a[from];
    warp.undefined |= (lanes & ~written) >> from & 1 ? Mask(1) << lane : 0;
  });
  forEachLane(lanes, [&](unsigned lane) { d[lane] = values[lane]; });
  if (at.destinations > 1) {
    Mask &p = warp.predicate(at.op[1]);
    p = (p & ~lanes) | within;
  }
  if (absent && warp.block->worker->checks)
    warp.block->worker->report(
        FindingKind::LaneNotInMask, warp, warp.pc, __builtin_ctz(absent), 0,
        [] {
          return "expected a shuffle from a lane that takes part, got one "
                 "that does not";
        });
}

enum Vote : uint8_t { All, Any, Uniform, Ballot };

void vote(Warp &warp, const Instruction &at, Mask lanes) {
  Mask held = warp.predicate(at.op[1]);
  held = (at.saturate ? ~held : held) & lanes;
  if (at.form2 == Ballot) {
    uint32_t *d = warp.reg<uint32_t>(at.op[0]);
    forEachLane(lanes, [&](unsigned lane) { d[lane] = held; });
    return;
  }
  bool result = at.form2 == All   ? held == lanes
                : at.form2 == Any ? held != 0
                                  : held == lanes || !held;
  Mask &d = warp.predicate(at.op[0]);
  d = (d & ~lanes) | (result ? lanes : 0);
}

template <class T>
void matchAny(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t result[kLanes];
  const T *a = warp.reg<T>(at.op[1]);
  forEachLane(lanes, [&](unsigned lane) {
    result[lane] = 0;
    forEachLane(lanes, [&](unsigned other) {
      result[lane] |= Mask(a[other] == a[lane]) << other;
    });
  });
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = result[lane]; });
}

template <class T>
void matchAll(Warp &warp, const Instruction &at, Mask lanes) {
  const T *a = warp.reg<T>(at.op[at.destinations]);
  bool same = true;
  T first = a[__builtin_ctz(lanes)];
  forEachLane(lanes, [&](unsigned lane) { same &= a[lane] == first; });
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = same ? lanes : 0; });
  if (at.destinations < 2)
    return;
  Mask &p = warp.predicate(at.op[1]);
  p = (p & ~lanes) | (same ? lanes : 0);
}

enum Reduction : uint8_t { Add, Min, Max, And, Or, Xor };

template <class T> void reduce(Warp &warp, const Instruction &at, Mask lanes) {
  const T *a = warp.reg<T>(at.op[1]);
  T result = a[__builtin_ctz(lanes)];
  forEachLane(lanes & (lanes - 1), [&](unsigned lane) {
    T b = a[lane];
    result = at.form2 == Add   ? T(uint32_t(result) + uint32_t(b))
             : at.form2 == Min ? std::min(result, b)
             : at.form2 == Max ? std::max(result, b)
             : at.form2 == And ? T(result & b)
             : at.form2 == Or  ? T(result | b)
                               : T(result ^ b);
  });
  T *d = warp.reg<T>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = result; });
}

void warpBarrier(Warp &warp, const Instruction &, Mask) { tickWarp(warp); }

/// The lowest lane of the mask.
void elect(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = __builtin_ctz(lanes); });
  Mask &p = warp.predicate(at.op[1]);
  p = (p & ~lanes) | (lanes & -lanes);
}

void activeMask(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  forEachLane(lanes, [&](unsigned lane) { d[lane] = lanes; });
}

} // namespace

static void maskSource(Form &form) {
  form.code.form = form.code.sources;
  form.source(Type::U32);
  form.code.flow = Flow::Collective;
}

static void buildShuffle(Form &form) {
  form.oneOf({"sync"});
  form.code.form2 = form.oneOf({"up", "down", "bfly", "idx"});
  form.oneOf({"b32"});
  form.destPair(Type::B32, Type::Pred);
  form.source(Type::B32);
  form.source(Type::U32);
  form.source(Type::U32);
  maskSource(form);
  form.code.gathers = true;
  form.code.run = &shuffle;
}

static void buildVote(Form &form) {
  form.oneOf({"sync"});
  form.code.form2 = form.oneOf({"all", "any", "uni", "ballot"});
  form.dest(form.type({form.code.form2 == Ballot ? Type::B32 : Type::Pred}));
  form.code.saturate = form.sourcePredicate();
  maskSource(form);
  form.code.run = &vote;
}

static void buildMatch(Form &form) {
  bool all = form.oneOf({"any", "all"}) == 1;
  form.oneOf({"sync"});
  Type type = form.type({Type::B32, Type::B64});
  if (all)
    form.destPair(Type::B32, Type::Pred);
  else
    form.dest(Type::B32);
  form.source(type);
  maskSource(form);
  if (type == Type::B32)
    form.code.run = all ? &matchAll<uint32_t> : &matchAny<uint32_t>;
  else
    form.code.run = all ? &matchAll<uint64_t> : &matchAny<uint64_t>;
}

static void buildReduce(Form &form) {
  form.oneOf({"sync"});
  form.code.form2 = form.oneOf({"add", "min", "max", "and", "or", "xor"});
  static constexpr Type types[] = {Type::U32, Type::S32, Type::B32};
  bool bits = form.code.form2 > Max;
  Type type = form.type(Types(types).slice(bits ? 2 : 0, bits ? 1 : 2));
  form.dest(type);
  form.source(type);
  maskSource(form);
  form.code.run = type == Type::S32 ? &reduce<int32_t> : &reduce<uint32_t>;
}

static void buildElect(Form &form) {
  form.oneOf({"sync"});
  form.destBoth(Type::B32, Type::Pred);
  maskSource(form);
  form.code.run = &elect;
}

static void buildActiveMask(Form &form) {
  form.oneOf({"b32"});
  form.dest(Type::B32);
  form.code.run = &activeMask;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// bar is barrier.aligned.
static void takeAligned(Form &form) {
  form.code.aligned = form.family() == "bar" || form.has("aligned");
}

static void buildVoteBarrier(Form &form) {
  static constexpr BarrierForm forms[] = {BarrierForm::Popc, BarrierForm::And,
                                          BarrierForm::Or};
  unsigned what = form.oneOf({"popc", "and", "or"});
  form.code.form = static_cast<uint8_t>(forms[what]);
  takeAligned(form);
  form.dest(form.type({what ? Type::Pred : Type::U32}));
  form.source(Type::U32);
  form.code.fixedCount = form.either(form.operandsLeft() == 2);
  if (form.code.fixedCount)
    form.source(Type::U32);
  form.code.form2 = form.sourcePredicate();
}

static void buildBarrier(Form &form) {
  if (form.family() == "bar" && form.has("warp")) {
    form.oneOf({"sync"});
    maskSource(form);
    form.code.run = &warpBarrier;
    return;
  }
  if (form.family() == "barrier" && form.has("cluster"))
    return buildClusterBarrier(form);
  form.ignores({"cta"});
  form.code.flow = Flow::Barrier;
  unsigned what = form.oneOf({"sync", "arrive", "red"});
  if (what == 2)
    return buildVoteBarrier(form);
  takeAligned(form);
  form.code.form =
      static_cast<uint8_t>(what ? BarrierForm::Arrive : BarrierForm::Sync);
  form.source(Type::U32);
  form.code.fixedCount = what == 1 || form.either(form.operandsLeft());
  if (form.code.fixedCount)
    form.source(Type::U32);
}

void raytention::simt::addCollectiveOps(BuilderTable &table) {
  table["shfl"] = &buildShuffle;
  table["vote"] = &buildVote;
  table["match"] = &buildMatch;
  table["redux"] = &buildReduce;
  table["elect"] = &buildElect;
  table["activemask"] = &buildActiveMask;
  table["bar"] = &buildBarrier;
  table["barrier"] = &buildBarrier;
}
