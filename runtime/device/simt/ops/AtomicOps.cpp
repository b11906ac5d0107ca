//===- AtomicOps.cpp - atomic operations ------------------------*- C++ -*-===//
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

enum class Atomic : uint8_t {
  Add,
  Exch,
  Cas,
  Min,
  Max,
  And,
  Or,
  Xor,
  Inc,
  Dec
};

template <class T> T integerOf(Atomic what, T old, T b, T c) {
  switch (what) {
  case Atomic::Add:
    return Wrapping<T>(old) + Wrapping<T>(b);
  case Atomic::Exch:
    return b;
  case Atomic::Cas:
    return old == b ? c : old;
  case Atomic::Min:
    return std::min(old, b);
  case Atomic::Max:
    return std::max(old, b);
  case Atomic::And:
    return old & b;
  case Atomic::Or:
    return old | b;
  case Atomic::Xor:
    return old ^ b;
  case Atomic::Inc:
    return old >= b ? T(0) : T(old + 1);
  case Atomic::Dec:
    return old == 0 || old > b ? b : T(old - 1);
  }
  return old;
}

template <class T> struct IntegerCell {
  using Raw = T;
  static T apply(Atomic what, T old, T b, T c) {
    return integerOf(what, old, b, c);
  }
};
template <class T> struct FloatCell {
  using Raw = T;
  static T apply(Atomic what, T old, T b, T) {
    return what == Atomic::Add ? old + b : b;
  }
};
template <bool kHalf> uint16_t addSmall(uint16_t a, uint16_t b) {
  return kHalf ? toHalf(double(fromHalf(a)) + fromHalf(b), RoundNearest)
               : toBFloat(double(fromBFloat(a)) + fromBFloat(b), RoundNearest);
}
template <bool kHalf> struct SmallCell {
  using Raw = uint16_t;
  static uint16_t apply(Atomic, uint16_t old, uint16_t b, uint16_t) {
    return addSmall<kHalf>(old, b);
  }
};
template <bool kHalf> struct PairCell {
  using Raw = uint32_t;
  static uint32_t apply(Atomic, uint32_t old, uint32_t b, uint32_t) {
    return addSmall<kHalf>(old, b) |
           uint32_t(addSmall<kHalf>(old >> 16, b >> 16)) << 16;
  }
};

/// Lanes take turns in their order; other threads of the host by a lock.
template <class Cell>
void atomic(Warp &warp, const Instruction &at, Mask lanes) {
  using Raw = typename Cell::Raw;
  unsigned first = at.destinations;
  Access access;
  access.kind = AccessKind::Atomic;
  access.space = at.space;
  access.bytes = sizeof(Raw);
  access.strong = true;
  computeAddresses(warp, at, at.op[first], lanes, access.address);
  Mask good = resolve(warp, access, lanes);
  const Raw *b = warp.reg<Raw>(at.op[first + 1]);
  const Raw *c = warp.reg<Raw>(at.op[at.sources > 2 ? first + 2 : first + 1]);
  auto &locks = warp.block->worker->launch.atomicLocks;
  forEachLane(good, [&](unsigned lane) {
    uint64_t address = reinterpret_cast<uint64_t>(access.pointer[lane]);
    std::lock_guard<std::mutex> lock(locks[address / 8 % locks.size()]);
    Raw old, value;
    std::memcpy(&old, access.pointer[lane], sizeof(Raw));
    value = Cell::apply(static_cast<Atomic>(at.form), old, b[lane], c[lane]);
    std::memcpy(access.pointer[lane], &value, sizeof(Raw));
    if (at.destinations)
      warp.reg<Raw>(at.op[0])[lane] = old;
  });
}

Handler pickAtomic(Atomic what, Type type) {
  if (what == Atomic::Add || what == Atomic::Exch) {
    if (type == Type::F32)
      return &atomic<FloatCell<float>>;
    if (type == Type::F64)
      return &atomic<FloatCell<double>>;
  }
  if (what == Atomic::Add) {
    if (type == Type::F16)
      return &atomic<SmallCell<true>>;
    if (type == Type::BF16)
      return &atomic<SmallCell<false>>;
    if (type == Type::F16x2)
      return &atomic<PairCell<true>>;
    if (type == Type::BF16x2)
      return &atomic<PairCell<false>>;
  }
  bool small = bitsOf(type) == 16 && what != Atomic::Cas;
  if (!isInteger(type) || small)
    return nullptr;
  return withWord(type, [](auto tag) -> Handler {
    return &atomic<IntegerCell<typename decltype(tag)::type>>;
  });
}

} // namespace

static void buildAtomicForm(Form &form, bool hasResult) {
  form.maybe({"relaxed", "acquire", "release", "acq_rel"}, 0);
  form.maybe({"cta", "gpu", "sys", "cluster"}, 0);
  static constexpr Space spaces[] = {Space::Global, Space::Shared,
                                     Space::Shared, Space::Generic};
  form.code.space = spaces[form.maybe({"global", "shared", "shared::cta"}, 3)];
  Atomic what = static_cast<Atomic>(form.oneOf(
      {"add", "exch", "cas", "min", "max", "and", "or", "xor", "inc", "dec"}));
  form.has("noftz");
  Type type = form.type();
  form.code.form = static_cast<uint8_t>(what);
  form.code.strong = true;
  form.code.run = pickAtomic(what, type);
  Type reg = bitsOf(type) == 32 && !isInteger(type) && type != Type::F32
                 ? Type::B32
                 : type;
  if (hasResult)
    form.dest(reg);
  form.address();
  form.source(reg);
  if (what == Atomic::Cas)
    form.source(reg);
}

static void buildAtomic(Form &form) { buildAtomicForm(form, true); }
static void buildReduction(Form &form) { buildAtomicForm(form, false); }

void raytention::simt::addAtomicOps(BuilderTable &table) {
  table["atom"] = &buildAtomic;
  table["red"] = &buildReduction;
}
