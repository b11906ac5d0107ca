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
  Min,
  Max,
  And,
  Or,
  Xor,
  Inc,
  Dec,
  Exch,
  Cas
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
  static T apply(Atomic, T old, T b, T) { return old + b; }
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

Handler pickAtomic(Type type) {
  switch (type) {
  case Type::F32:
    return &atomic<FloatCell<float>>;
  case Type::F64:
    return &atomic<FloatCell<double>>;
  case Type::F16:
    return &atomic<SmallCell<true>>;
  case Type::BF16:
    return &atomic<SmallCell<false>>;
  case Type::F16x2:
    return &atomic<PairCell<true>>;
  case Type::BF16x2:
    return &atomic<PairCell<false>>;
  default:
    return withWord(type, [](auto tag) -> Handler {
      return &atomic<IntegerCell<typename decltype(tag)::type>>;
    });
  }
}

Types typesOf(Atomic what, bool hasResult) {
  static constexpr Type bits[] = {Type::B32, Type::B64, Type::B16};
  static constexpr Type words[] = {Type::U32, Type::S32, Type::U64, Type::S64};
  static constexpr Type sums[] = {Type::U32,  Type::S32,   Type::U64,
                                  Type::F32,  Type::F64,   Type::F16,
                                  Type::BF16, Type::F16x2, Type::BF16x2};
  switch (what) {
  case Atomic::Add:
    return sums;
  case Atomic::Min:
  case Atomic::Max:
    return words;
  case Atomic::Inc:
  case Atomic::Dec:
    return Types(words).take_front();
  case Atomic::Cas:
    return bits;
  default:
    return Types(bits).take_front(2);
  }
}

} // namespace

static void buildAtomicForm(Form &form, bool hasResult) {
  static const StringRef names[] = {"add", "min", "max", "and",  "or",
                                    "xor", "inc", "dec", "exch", "cas"};
  static constexpr Space spaces[] = {Space::Global, Space::Shared,
                                     Space::Shared, Space::Generic};
  if (hasResult)
    form.ignores({"relaxed", "release", "acquire", "acq_rel"});
  else
    form.ignores({"relaxed", "release"});
  form.ignores({"cta", "gpu", "sys", "cluster"});
  form.code.space = spaces[form.maybe({"global", "shared", "shared::cta"}, 3)];
  Atomic what = static_cast<Atomic>(
      form.oneOf(ArrayRef<StringRef>(names).drop_back(hasResult ? 0 : 2)));
  Type type = form.lastType(typesOf(what, hasResult));
  if (isFloat(type) && type != Type::F32 && type != Type::F64)
    form.oneOf({"noftz"});
  form.type({type});
  form.code.form = static_cast<uint8_t>(what);
  form.code.strong = true;
  form.code.run = pickAtomic(type);
  Type reg = isPair(type) ? Type::B32 : type;
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
