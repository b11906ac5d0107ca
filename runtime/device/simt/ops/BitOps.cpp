//===- BitOps.cpp - bits, shifts and bytes ----------------------*- C++ -*-===//
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

struct And {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T apply(T a) { return ~a; }
};
struct CNot {
  template <class T> static T apply(T a) { return a == 0; }
};

/// Shifts by the width or more shift everything out.
struct ShiftLeft {
  template <class T> static T apply(T a, uint32_t by) {
    return by >= 8 * sizeof(T) ? T(0) : T(Wrapping<T>(a) << by);
  }
};
struct ShiftRight {
  template <class T> static T apply(T a, uint32_t by) {
    if (by >= 8 * sizeof(T))
      return a < 0 ? T(-1) : T(0);
    return a >> by;
  }
};

struct CountBits {
  static uint32_t apply(uint32_t a) { return __builtin_popcount(a); }
  static uint32_t apply(uint64_t a) { return __builtin_popcountll(a); }
};
struct LeadingZeros {
  static uint32_t apply(uint32_t a) { return a ? __builtin_clz(a) : 32; }
  static uint32_t apply(uint64_t a) { return a ? __builtin_clzll(a) : 64; }
};
struct Reverse {
  template <class T> static T apply(T a) {
    T result = 0;
    for (unsigned i = 0; i < 8 * sizeof(T); ++i, a >>= 1)
      result = T(result << 1) | (a & 1);
    return result;
  }
};

/// The highest bit that differs from the sign, or all ones.
template <bool kShiftAmount> struct FindHighest {
  template <class T> static uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    U bits = a < 0 ? U(~U(a)) : U(a);
    if (!bits)
      return ~0u;
    unsigned top = 8 * sizeof(T) - 1 - LeadingZeros::apply(bits);
    return kShiftAmount ? 8 * sizeof(T) - 1 - top : top;
  }
};

struct ExtractField {
  template <class T> static T apply(T a, uint32_t position, uint32_t length) {
    using U = std::make_unsigned_t<T>;
    constexpr unsigned width = 8 * sizeof(T);
    position &= 255;
    length &= 255;
    bool sign = std::is_signed<T>::value && length &&
                (U(a) >> std::min(position + length - 1, width - 1) & 1);
    U result = sign ? U(~U(0)) : U(0);
    for (unsigned i = 0; i < length && i < width && position + i < width; ++i) {
      U bit = U(1) << i;
      result = (U(a) >> (position + i) & 1) ? result | bit : result & ~bit;
    }
    return T(result);
  }
};

template <class T>
void insertField(Warp &warp, const Instruction &at, Mask lanes) {
  T *d = warp.reg<T>(at.op[0]);
  const T *from = warp.reg<T>(at.op[1]), *into = warp.reg<T>(at.op[2]);
  const uint32_t *position = warp.reg<uint32_t>(at.op[3]);
  const uint32_t *length = warp.reg<uint32_t>(at.op[4]);
  forEachLane(lanes, [&](unsigned i) {
    uint32_t p = position[i] & 255, n = length[i] & 255;
    constexpr unsigned width = 8 * sizeof(T);
    T mask = n >= width ? T(~T(0)) : T((T(1) << n) - 1);
    mask = p >= width ? T(0) : T(mask << p);
    T moved = p >= width ? T(0) : T(from[i] << p);
    d[i] = (into[i] & ~mask) | (moved & mask);
  });
}

void permute(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  const uint32_t *c = warp.reg<uint32_t>(at.op[3]);
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t bytes = uint64_t(b[lane]) << 32 | a[lane];
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t select = c[lane] >> (4 * i) & 15;
      uint8_t byte = bytes >> (8 * (select & 7));
      if (select & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      result |= uint32_t(byte) << (8 * i);
    }
    d[lane] = result;
  });
}

void lop3(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  const uint32_t *c = warp.reg<uint32_t>(at.op[3]);
  uint8_t table = at.form;
  overLanes(lanes, [=](unsigned i) {
    uint32_t result = 0;
    for (unsigned k = 0; k < 8; ++k)
      if (table >> k & 1)
        result |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) &
                  (k & 1 ? c[i] : ~c[i]);
    d[i] = result;
  });
}

/// The high (left) or low (right) word of b:a shifted.
template <bool kLeft, bool kWrap> struct Funnel {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t by) {
    unsigned n = kWrap ? by & 31 : std::min(by, 32u);
    uint64_t both = uint64_t(b) << 32 | a;
    return kLeft ? uint32_t(both << n >> 32) : uint32_t(both >> n);
  }
};

template <class A, class B>
void dot4(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  const uint32_t *c = warp.reg<uint32_t>(at.op[3]);
  forEachLane(lanes, [&](unsigned lane) {
    uint32_t sum = c[lane];
    for (unsigned i = 0; i < 32; i += 8)
      sum += uint32_t(int32_t(A(a[lane] >> i)) * int32_t(B(b[lane] >> i)));
    d[lane] = sum;
  });
}

template <class Op>
void predicates(Warp &warp, const Instruction &at, Mask lanes) {
  Mask a = warp.predicate(at.op[1]), b = warp.predicate(at.op[2]);
  Mask &d = warp.predicate(at.op[0]);
  d = (d & ~lanes) | (Op::apply(a, b) & lanes);
}

void notPredicate(Warp &warp, const Instruction &at, Mask lanes) {
  Mask a = warp.predicate(at.op[1]);
  Mask &d = warp.predicate(at.op[0]);
  d = (d & ~lanes) | (~a & lanes);
}

} // namespace

constexpr Type kShiftTypes[] = {Type::B16, Type::B32, Type::B64,
                                Type::U16, Type::U32, Type::U64,
                                Type::S16, Type::S32, Type::S64};

template <class Op> static void buildLogic(Form &form) {
  Type type = form.type({Type::Pred, Type::B16, Type::B32, Type::B64});
  form.dest(type);
  form.source(type);
  form.source(type);
  form.code.run = type == Type::Pred ? &predicates<Op>
                                     : withWord(type, [](auto tag) -> Handler {
                                         using T = typename decltype(tag)::type;
                                         return &binary<T, T, T, Op>;
                                       });
}

template <class Op> static void buildUnary(Form &form, Type type) {
  form.dest(type);
  form.source(type);
  form.code.run = withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &unary<T, T, Op>;
  });
}

static void buildNot(Form &form) {
  Type type = form.type({Type::Pred, Type::B16, Type::B32, Type::B64});
  buildUnary<Not>(form, type);
  if (type == Type::Pred)
    form.code.run = &notPredicate;
}

static void buildCNot(Form &form) {
  buildUnary<CNot>(form, form.type(kBitTypes));
}

template <class Op> static void buildShift(Form &form) {
  Types types = kShiftTypes;
  Type type = form.type(std::is_same<Op, ShiftLeft>::value ? kBitTypes : types);
  form.code.run = withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &binary<T, T, uint32_t, Op>;
  });
  form.dest(type);
  form.source(type);
  form.source(Type::U32);
}

template <class Op> static void buildCount(Form &form) {
  Type type = form.type({Type::B32, Type::B64});
  form.code.run = type == Type::B32 ? &unary<uint32_t, uint32_t, Op>
                                    : &unary<uint32_t, uint64_t, Op>;
  form.dest(Type::U32);
  form.source(type);
}

static void buildReverse(Form &form) {
  buildUnary<Reverse>(form, form.type({Type::B32, Type::B64}));
}

template <bool kShiftAmount> static Handler makeFindHighest(Type type) {
  return withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    if constexpr (sizeof(T) >= 4)
      return &unary<uint32_t, T, FindHighest<kShiftAmount>>;
    return nullptr;
  });
}

static void buildFindHighest(Form &form) {
  bool shift = form.has("shiftamt");
  Type type = form.type(kHighTypes);
  form.code.run =
      shift ? makeFindHighest<true>(type) : makeFindHighest<false>(type);
  form.dest(Type::U32);
  form.source(type);
}

static void buildExtract(Form &form) {
  Type type = form.type(kHighTypes);
  form.code.run = withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &ternary<T, T, uint32_t, uint32_t, ExtractField>;
  });
  form.dest(type);
  form.source(type);
  form.source(Type::U32);
  form.source(Type::U32);
}

static void buildInsert(Form &form) {
  Type type = form.type({Type::B32, Type::B64});
  form.code.run =
      type == Type::B32 ? &insertField<uint32_t> : &insertField<uint64_t>;
  form.dest(type);
  form.source(type);
  form.source(type);
  form.source(Type::U32);
  form.source(Type::U32);
}

static void buildThree(Form &form, Handler run) {
  form.code.run = run;
  form.dest(Type::B32);
  for (unsigned i = 0; i < 3; ++i)
    form.source(Type::B32);
}

static void buildPermute(Form &form) {
  form.oneOf({"b32"});
  buildThree(form, &permute);
}

static void buildLop3(Form &form) {
  form.oneOf({"b32"});
  buildThree(form, &lop3);
  form.code.form = form.immediate(0, 255);
}

template <bool kLeft, bool kWrap> static Handler makeFunnel() {
  return &ternary<uint32_t, uint32_t, uint32_t, uint32_t, Funnel<kLeft, kWrap>>;
}

static void buildFunnel(Form &form) {
  bool left = form.oneOf({"l", "r"}) == 0;
  bool wrap = form.oneOf({"clamp", "wrap"}) == 1;
  form.oneOf({"b32"});
  buildThree(form,
             left ? wrap ? makeFunnel<true, true>() : makeFunnel<true, false>()
             : wrap ? makeFunnel<false, true>()
                    : makeFunnel<false, false>());
}

static void buildDot4(Form &form) {
  bool signedA = form.oneOf({"s32", "u32"}) == 0;
  bool signedB = form.oneOf({"s32", "u32"}) == 0;
  buildThree(form,
             signedA ? signedB ? &dot4<int8_t, int8_t> : &dot4<int8_t, uint8_t>
             : signedB ? &dot4<uint8_t, int8_t>
                       : &dot4<uint8_t, uint8_t>);
}

void raytention::simt::addBitOps(BuilderTable &table) {
  table["and"] = &buildLogic<And>;
  table["or"] = &buildLogic<Or>;
  table["xor"] = &buildLogic<Xor>;
  table["not"] = &buildNot;
  table["cnot"] = &buildCNot;
  table["shl"] = &buildShift<ShiftLeft>;
  table["shr"] = &buildShift<ShiftRight>;
  table["shf"] = &buildFunnel;
  table["popc"] = &buildCount<CountBits>;
  table["clz"] = &buildCount<LeadingZeros>;
  table["brev"] = &buildReverse;
  table["bfind"] = &buildFindHighest;
  table["bfe"] = &buildExtract;
  table["bfi"] = &buildInsert;
  table["prmt"] = &buildPermute;
  table["lop3"] = &buildLop3;
  table["dp4a"] = &buildDot4;
}
