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
  Mask within = 0, absent = 0;
  forEachLane(lanes, [&](unsigned lane) {
    bool inside = false;
    unsigned from = sourceLane(static_cast<Shuffle>(at.form2), lane, b[lane],
                               c[lane], inside);
    within |= Mask(inside) << lane;
    absent |= Mask(!(lanes >> from & 1)) << lane;
    values[lane] = a[from];
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

/// %r1|%p1 or %r1.
static void valueAndPredicate(Form &form) {
  const Operand *operand = form.takeOperand();
  if (!operand)
    return;
  if (operand->kind != Operand::Pair)
    return form.addDest(form.writtenRegister(*operand, Type::B32));
  form.addDest(form.writtenRegister(operand->elements[0], Type::B32));
  form.addDest(form.writtenRegister(operand->elements[1], Type::Pred));
}

static void buildShuffle(Form &form) {
  form.oneOf({"sync"});
  form.code.form2 = form.oneOf({"up", "down", "bfly", "idx"});
  form.oneOf({"b32"});
  valueAndPredicate(form);
  form.source(Type::B32);
  form.source(Type::U32);
  form.source(Type::U32);
  maskSource(form);
  form.code.run = &shuffle;
}

static void buildVote(Form &form) {
  form.oneOf({"sync"});
  form.code.form2 = form.oneOf({"all", "any", "uni", "ballot"});
  form.oneOf({form.code.form2 == Ballot ? "b32" : "pred"});
  form.dest(form.code.form2 == Ballot ? Type::B32 : Type::Pred);
  if (const Operand *operand = form.takeOperand()) {
    Operand plain = *operand;
    plain.negated = false;
    form.code.saturate = operand->negated;
    form.addSource(form.readRegister(plain, Type::Pred));
  }
  maskSource(form);
  form.code.run = &vote;
}

static void buildMatch(Form &form) {
  bool all = form.oneOf({"any", "all"}) == 1;
  form.oneOf({"sync"});
  Type type = form.type();
  if (all)
    valueAndPredicate(form);
  else
    form.dest(Type::B32);
  form.source(type);
  maskSource(form);
  if (type == Type::B32)
    form.code.run = all ? &matchAll<uint32_t> : &matchAny<uint32_t>;
  else if (type == Type::B64)
    form.code.run = all ? &matchAll<uint64_t> : &matchAny<uint64_t>;
  else
    form.fail("expected .b32 or .b64");
}

static void buildReduce(Form &form) {
  form.oneOf({"sync"});
  form.code.form2 = form.oneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = form.type();
  form.dest(Type::B32);
  form.source(Type::B32);
  maskSource(form);
  if (bitsOf(type) != 32 || !isInteger(type))
    form.fail("expected a 32-bit integer");
  form.code.run = type == Type::S32 ? &reduce<int32_t> : &reduce<uint32_t>;
}

static void buildActiveMask(Form &form) {
  form.oneOf({"b32"});
  form.dest(Type::B32);
  form.code.run = &activeMask;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

static void votePredicate(Form &form) {
  const Operand *operand = form.takeOperand();
  if (!operand)
    return;
  Operand plain = *operand;
  plain.negated = false;
  form.code.form2 = operand->negated;
  form.addSource(form.readRegister(plain, Type::Pred));
}

static void buildVoteBarrier(Form &form) {
  static constexpr BarrierForm forms[] = {BarrierForm::Popc, BarrierForm::And,
                                          BarrierForm::Or};
  unsigned what = form.oneOf({"popc", "and", "or"});
  form.code.form = static_cast<uint8_t>(forms[what]);
  form.has("aligned");
  form.oneOf({what ? "pred" : "u32"});
  form.dest(what ? Type::Pred : Type::U32);
  form.source(Type::U32);
  if (form.operandsLeft() == 2) {
    form.source(Type::U32);
    form.code.fixedCount = true;
  }
  votePredicate(form);
}

static void buildBarrier(Form &form) {
  form.has("cta");
  if (form.has("warp")) {
    form.oneOf({"sync"});
    maskSource(form);
    form.code.run = &warpBarrier;
    return;
  }
  form.code.flow = Flow::Barrier;
  form.code.aligned =
      form.family() == "bar" || form.statement.name.contains(".aligned");
  unsigned what = form.oneOf({"sync", "arrive", "red"});
  if (what == 2)
    return buildVoteBarrier(form);
  form.has("aligned");
  form.code.form =
      static_cast<uint8_t>(what ? BarrierForm::Arrive : BarrierForm::Sync);
  form.source(Type::U32);
  if (form.operandsLeft() || what == 1) {
    form.source(Type::U32);
    form.code.fixedCount = true;
  }
}

void raytention::simt::addCollectiveOps(BuilderTable &table) {
  table["shfl"] = &buildShuffle;
  table["vote"] = &buildVote;
  table["match"] = &buildMatch;
  table["redux"] = &buildReduce;
  table["activemask"] = &buildActiveMask;
  table["bar"] = &buildBarrier;
  table["barrier"] = &buildBarrier;
}
