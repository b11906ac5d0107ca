//===- IntegerOps.cpp - integer arithmetic ----------------------*- C++ -*-===//
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

struct Add {
  template <class T> static T apply(T a, T b) {
    return Wrapping<T>(a) + Wrapping<T>(b);
  }
};
struct Sub {
  template <class T> static T apply(T a, T b) {
    return Wrapping<T>(a) - Wrapping<T>(b);
  }
};
struct MulLow {
  template <class T> static T apply(T a, T b) {
    return Wrapping<T>(a) * Wrapping<T>(b);
  }
};

/// Twice as wide, with the same sign.
template <class T> struct Wider;
template <> struct Wider<uint16_t> { using type = uint32_t; };
template <> struct Wider<int16_t> { using type = int32_t; };
template <> struct Wider<uint32_t> { using type = uint64_t; };
template <> struct Wider<int32_t> { using type = int64_t; };
__extension__ typedef unsigned __int128 U128;
__extension__ typedef __int128 S128;
template <> struct Wider<uint64_t> { using type = U128; };
template <> struct Wider<int64_t> { using type = S128; };
template <class T> using WiderT = typename Wider<T>::type;

struct MulHigh {
  template <class T> static T apply(T a, T b) {
    return T((WiderT<T>(a) * WiderT<T>(b)) >> (8 * sizeof(T)));
  }
};
/// No product of two halves overflows, so signed ones are defined too.
template <class T> struct MulWide {
  static WiderT<T> apply(T a, T b) { return WiderT<T>(a) * WiderT<T>(b); }
};

struct MadLow {
  template <class T> static T apply(T a, T b, T c) {
    return Wrapping<T>(a) * Wrapping<T>(b) + Wrapping<T>(c);
  }
};
struct MadHigh {
  template <class T> static T apply(T a, T b, T c) {
    return Wrapping<T>(MulHigh::apply(a, b)) + Wrapping<T>(c);
  }
};
template <class T> struct MadWide {
  static WiderT<T> apply(T a, T b, WiderT<T> c) {
    return Add::apply(MulWide<T>::apply(a, b), c);
  }
};

/// Division by zero gives all ones, as the hardware's expansion does.
struct Div {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return T(~T(0));
    if (std::is_signed<T>::value && b == T(-1))
      return Sub::apply(T(0), a);
    return a / b;
  }
};
struct Rem {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return a;
    if (std::is_signed<T>::value && b == T(-1))
      return 0;
    return a % b;
  }
};
struct Min {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
};
struct Max {
  template <class T> static T apply(T a, T b) { return a < b ? b : a; }
};
struct Negate {
  template <class T> static T apply(T a) { return Sub::apply(T(0), a); }
};
struct Absolute {
  template <class T> static T apply(T a) {
    return a < 0 ? Negate::apply(a) : a;
  }
};
struct Sad {
  template <class T> static T apply(T a, T b, T c) {
    T difference = a < b ? Sub::apply(b, a) : Sub::apply(a, b);
    return Add::apply(difference, c);
  }
};
struct Mul24 {
  template <class T> static T low(T a) {
    return std::is_signed<T>::value ? T(int32_t(uint32_t(a) << 8) >> 8)
                                    : T(uint32_t(a) & 0xFFFFFF);
  }
  template <class T> static T apply(T a, T b) {
    return MulLow::apply(low(a), low(b));
  }
};

template <class Op> Handler makeBinary(Type type) {
  return withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &binary<T, T, T, Op>;
  });
}
template <class Op> Handler makeTernary(Type type) {
  return withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &ternary<T, T, T, T, Op>;
  });
}
template <class Op> Handler makeUnary(Type type) {
  return withWord(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &unary<T, T, Op>;
  });
}

/// Two halves, each by itself; T is one of them.
template <class T, class Op>
void packed(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  overLanes(lanes, [=](unsigned i) {
    uint32_t low = uint16_t(Op::apply(T(a[i]), T(b[i])));
    uint32_t high = uint16_t(Op::apply(T(a[i] >> 16), T(b[i] >> 16)));
    d[i] = low | high << 16;
  });
}

template <class Op> Handler makePacked(Type type) {
  return type == Type::S16x2 ? &packed<int16_t, Op> : &packed<uint16_t, Op>;
}

/// add.sat, sub.sat and mad.hi.sat: of 32 signed bits only.
int32_t clamped(int64_t value) {
  return int32_t(
      std::min<int64_t>(std::max<int64_t>(value, INT32_MIN), INT32_MAX));
}
struct SaturatedAdd {
  static int32_t apply(int32_t a, int32_t b) { return clamped(int64_t(a) + b); }
};
struct SaturatedSub {
  static int32_t apply(int32_t a, int32_t b) { return clamped(int64_t(a) - b); }
};
struct SaturatedMadHigh {
  static int32_t apply(int32_t a, int32_t b, int32_t c) {
    return clamped(int64_t(MulHigh::apply(a, b)) + c);
  }
};
template <class Op> struct Relu {
  template <class T> static T apply(T a, T b) {
    return std::max<T>(Op::apply(a, b), 0);
  }
};

} // namespace

constexpr Type kSumTypes[] = {
    Type::U16,  Type::U32,    Type::U64,   Type::S16,  Type::S32,
    Type::S64,  Type::F16,    Type::F32,   Type::F64,  Type::F16x2,
    Type::BF16, Type::BF16x2, Type::U16x2, Type::S16x2};

static void buildBinary(Form &form, Type type, Handler run) {
  form.code.run = run;
  form.dest(type);
  form.source(type);
  form.source(type);
}

template <class Op, class Saturated, Carry kCarry>
static void buildAddSub(Form &form) {
  constexpr bool isAdd = kCarry == Carry::Add;
  // Packed integers are added only.
  Types types = kSumTypes;
  Type type = form.lastType(isAdd ? types : types.drop_back(2));
  if (isFloat(type))
    return buildFloatBinary(form, type);
  if (type == Type::S32 && form.has("sat")) {
    form.type({type});
    return buildBinary(form, type,
                       &binary<int32_t, int32_t, int32_t, Saturated>);
  }
  if (bitsOf(type) >= 32 && !isPair(type) && form.has("cc"))
    return buildCarry(form, kCarry, {type}, false, true);
  form.type({type});
  buildBinary(form, type,
              isPair(type) ? makePacked<Op>(type) : makeBinary<Op>(type));
}

static Type widerType(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  case Type::S32:
    return Type::S64;
  default:
    return Type::None;
  }
}

template <class F> static Handler withNarrow(Type type, F f) {
  switch (type) {
  case Type::U16:
    return f(Tag<uint16_t>());
  case Type::S16:
    return f(Tag<int16_t>());
  case Type::U32:
    return f(Tag<uint32_t>());
  case Type::S32:
    return f(Tag<int32_t>());
  default:
    return nullptr;
  }
}

static void buildMul(Form &form) {
  Type type = form.lastType(kNumberTypes);
  if (isFloat(type))
    return buildFloatBinary(form, type);
  unsigned part = form.oneOf({"lo", "hi", "wide"});
  if (part < 2) {
    form.type({type});
    return buildBinary(form, type,
                       part ? makeBinary<MulHigh>(type)
                            : makeBinary<MulLow>(type));
  }
  form.type({type});
  form.code.run = withNarrow(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &binary<WiderT<T>, T, T, MulWide<T>>;
  });
  form.dest(widerType(type));
  form.source(type);
  form.source(type);
}

static void threeSources(Form &form, Type type, Type wide) {
  form.dest(wide);
  form.source(type);
  form.source(type);
  form.source(wide);
}

static void buildMadWide(Form &form, Type type) {
  form.type({type});
  form.code.run = withNarrow(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &ternary<WiderT<T>, T, T, WiderT<T>, MadWide<T>>;
  });
  threeSources(form, type, widerType(type));
}

static void buildMad(Form &form) {
  Type type = form.lastType({Type::U16, Type::U32, Type::U64, Type::S16,
                             Type::S32, Type::S64, Type::F32, Type::F64});
  if (isFloat(type))
    return buildFloatFma(form, type);
  unsigned part = form.oneOf({"lo", "hi", "wide"});
  if (part == 2)
    return buildMadWide(form, type);
  if (bitsOf(type) >= 32 && form.has("cc"))
    return buildCarry(form, part ? Carry::MadHigh : Carry::MadLow, {type},
                      false, true);
  bool saturate = part == 1 && type == Type::S32 && form.has("sat");
  form.type({type});
  form.code.run =
      saturate ? &ternary<int32_t, int32_t, int32_t, int32_t, SaturatedMadHigh>
      : part   ? makeTernary<MadHigh>(type)
               : makeTernary<MadLow>(type);
  threeSources(form, type, type);
}

static void buildDiv(Form &form) {
  Type type = form.lastType({Type::U16, Type::U32, Type::U64, Type::S16,
                             Type::S32, Type::S64, Type::F32, Type::F64});
  if (isFloat(type))
    return buildFloatBinary(form, type);
  form.type({type});
  buildBinary(form, type, makeBinary<Div>(type));
}

static void buildRem(Form &form) {
  Type type = form.type(kWordTypes);
  buildBinary(form, type, makeBinary<Rem>(type));
}

template <class Op> static void buildMinMax(Form &form) {
  Type type = form.lastType(kSumTypes);
  if (isFloat(type))
    return buildFloatBinary(form, type);
  bool relu = (type == Type::S32 || type == Type::S16x2) && form.has("relu");
  form.type({type});
  Handler run = isPair(type)
                    ? relu ? makePacked<Relu<Op>>(type) : makePacked<Op>(type)
                : relu ? makeBinary<Relu<Op>>(type)
                       : makeBinary<Op>(type);
  buildBinary(form, type, run);
}

template <class Op> static void buildNegAbs(Form &form) {
  Type type =
      form.lastType({Type::S16, Type::S32, Type::S64, Type::F16, Type::F32,
                     Type::F64, Type::F16x2, Type::BF16, Type::BF16x2});
  if (isFloat(type))
    return buildFloatUnary(form, type);
  form.type({type});
  form.code.run = makeUnary<Op>(type);
  form.dest(type);
  form.source(type);
}

static void buildSad(Form &form) {
  Type type = form.type(kWordTypes);
  form.code.run = makeTernary<Sad>(type);
  threeSources(form, type, type);
}

static void buildMul24(Form &form) {
  form.oneOf({"lo"});
  Type type = form.type({Type::U32, Type::S32});
  buildBinary(form, type, makeBinary<Mul24>(type));
}

void raytention::simt::addIntegerOps(BuilderTable &table) {
  table["add"] = &buildAddSub<Add, SaturatedAdd, Carry::Add>;
  table["sub"] = &buildAddSub<Sub, SaturatedSub, Carry::Sub>;
  table["mul"] = &buildMul;
  table["mad"] = &buildMad;
  table["div"] = &buildDiv;
  table["rem"] = &buildRem;
  table["min"] = &buildMinMax<Min>;
  table["max"] = &buildMinMax<Max>;
  table["neg"] = &buildNegAbs<Negate>;
  table["abs"] = &buildNegAbs<Absolute>;
  table["sad"] = &buildSad;
  table["mul24"] = &buildMul24;
}
