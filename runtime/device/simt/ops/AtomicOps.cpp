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
/// In the order of the values, -0 before 0.
inline int orderOf(uint16_t bits) {
  int size = bits & 0x7FFF;
  return bits & 0x8000 ? -1 - size : size;
}
/// Min and max give the operand that is no NaN.
template <bool kHalf> struct SmallCell {
  using Raw = uint16_t;
  static bool isNaN(uint16_t bits) {
    return (bits & 0x7FFF) > (kHalf ? 0x7C00 : 0x7F80);
  }
  static uint16_t apply(Atomic what, uint16_t old, uint16_t b, uint16_t) {
    if (what == Atomic::Add)
      return addSmall<kHalf>(old, b);
    if (isNaN(old) || isNaN(b))
      return isNaN(old) ? b : old;
    bool less = orderOf(b) < orderOf(old);
    return less == (what == Atomic::Min) ? b : old;
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
  noteStrongWrite(warp, at, access, good);
  const Raw *b = warp.reg<Raw>(at.op[first + 1]);
  const Raw *c = warp.reg<Raw>(at.op[at.sources > 2 ? first + 2 : first + 1]);
  Launch &launch = warp.block->worker->launch;
  forEachLane(good, [&](unsigned lane) {
    uint64_t address = reinterpret_cast<uint64_t>(access.pointer[lane]);
    std::lock_guard<std::mutex> lock(launch.atomicLock(address));
    Raw old, value;
    std::memcpy(&old, access.pointer[lane], sizeof(Raw));
    value = Cell::apply(static_cast<Atomic>(at.form), old, b[lane], c[lane]);
    std::memcpy(access.pointer[lane], &value, sizeof(Raw));
    if (at.destinations)
      warp.reg<Raw>(at.op[0])[lane] = old;
  });
  // Nobody sees what a reduction reads.
  if (at.destinations)
    noteStrongRead(warp, at, access, good);
}

template <class Cell>
void combine(uint8_t what, uint8_t *to, const uint8_t *from) {
  typename Cell::Raw old, value;
  std::memcpy(&old, to, sizeof(old));
  std::memcpy(&value, from, sizeof(value));
  value = Cell::apply(static_cast<Atomic>(what), old, value, value);
  std::memcpy(to, &value, sizeof(value));
}

/// Calls f(Tag<Cell>) with the cell of the type.
template <class R, class F> R withCell(Type type, F f) {
  switch (type) {
  case Type::F32:
    return f(Tag<FloatCell<float>>());
  case Type::F64:
    return f(Tag<FloatCell<double>>());
  case Type::F16:
    return f(Tag<SmallCell<true>>());
  case Type::BF16:
    return f(Tag<SmallCell<false>>());
  case Type::F16x2:
    return f(Tag<PairCell<true>>());
  case Type::BF16x2:
    return f(Tag<PairCell<false>>());
  case Type::S32:
    return f(Tag<IntegerCell<int32_t>>());
  case Type::S64:
    return f(Tag<IntegerCell<int64_t>>());
  default:
    return bitsOf(type) == 64   ? f(Tag<IntegerCell<uint64_t>>())
           : bitsOf(type) == 32 ? f(Tag<IntegerCell<uint32_t>>())
                                : f(Tag<IntegerCell<uint16_t>>());
  }
}

Handler pickAtomic(Type type) {
  return withCell<Handler>(type, [](auto tag) -> Handler {
    return &atomic<typename decltype(tag)::type>;
  });
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

static ArrayRef<StringRef> atomicNames() {
  static const StringRef names[] = {"add", "min", "max", "and",  "or",
                                    "xor", "inc", "dec", "exch", "cas"};
  return names;
}

unsigned raytention::simt::takeReduction(Form &form) {
  return form.oneOf(atomicNames().drop_back(2));
}

Types raytention::simt::typesOfReduction(unsigned what) {
  static constexpr Type ordered[] = {Type::U32, Type::S32, Type::U64,
                                     Type::S64, Type::F16, Type::BF16};
  static constexpr Type sums[] = {Type::U32, Type::S32, Type::U64, Type::F32,
                                  Type::F64, Type::F16, Type::BF16};
  switch (static_cast<Atomic>(what)) {
  case Atomic::Add:
    return sums;
  case Atomic::Min:
  case Atomic::Max:
    return ordered;
  default:
    return typesOf(static_cast<Atomic>(what), false);
  }
}

Combine raytention::simt::pickCombine(Type type) {
  return withCell<Combine>(type, [](auto tag) -> Combine {
    return &combine<typename decltype(tag)::type>;
  });
}

static void buildAtomicForm(Form &form, bool hasResult) {
  static constexpr Space spaces[] = {Space::Global, Space::Shared,
                                     Space::Shared, Space::Shared,
                                     Space::Generic};
  static const StringRef orders[] = {"relaxed", "release", "acquire",
                                     "acq_rel"};
  unsigned order =
      form.maybe(ArrayRef<StringRef>(orders).take_front(hasResult ? 4 : 2), 0);
  form.code.releases = order == 1 || order == 3;
  form.code.acquires = order == 2 || order == 3;
  takeScope(form, /*required=*/false);
  form.code.space = spaces[form.maybe(
      {"global", "shared", "shared::cta", "shared::cluster"}, 4)];
  Atomic what = static_cast<Atomic>(
      form.oneOf(atomicNames().drop_back(hasResult ? 0 : 2)));
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
