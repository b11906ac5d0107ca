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

template <class Op> void packed(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[2]);
  overLanes(lanes, [=](unsigned i) {
    uint32_t low = Op::apply(uint16_t(a[i]), uint16_t(b[i]));
    uint32_t high = Op::apply(uint16_t(a[i] >> 16), uint16_t(b[i] >> 16));
    d[i] = (low & 0xFFFF) | high << 16;
  });
}

} // namespace

static void buildBinary(Form &form, Type type, Handler run) {
  form.code.run = run;
  form.dest(type);
  form.source(type);
  form.source(type);
}

/// Carries would need a register of their own that no kernel here uses.
template <class Op> static void buildAddSub(Form &form) {
  Type last = lastType(form);
  if (!isInteger(last) && last != Type::U16x2 && last != Type::S16x2)
    return buildFloatBinary(form, last);
  Type type = form.type();
  if (type == Type::U16x2 || type == Type::S16x2)
    return buildBinary(form, Type::B32, &packed<Op>);
  buildBinary(form, type, makeBinary<Op>(type));
}

static Type widerType(Type type) {
  switch (type) {
  case Type::U16:
  case Type::B16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
  case Type::B32:
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
  Type last = lastType(form);
  if (!isInteger(last))
    return buildFloatBinary(form, last);
  unsigned part = form.oneOf({"lo", "hi", "wide"});
  Type type = form.type();
  if (part == 0)
    return buildBinary(form, type, makeBinary<MulLow>(type));
  if (part == 1)
    return buildBinary(form, type, makeBinary<MulHigh>(type));
  form.code.run = withNarrow(type, [](auto tag) -> Handler {
    using T = typename decltype(tag)::type;
    return &binary<WiderT<T>, T, T, MulWide<T>>;
  });
  form.dest(widerType(type));
  form.source(type);
  form.source(type);
}

static void buildMad(Form &form) {
  Type last = lastType(form);
  if (!isInteger(last))
    return buildFloatFma(form, last);
  unsigned part = form.oneOf({"lo", "hi", "wide"});
  Type type = form.type();
  Type wide = part == 2 ? widerType(type) : type;
  if (part == 2)
    form.code.run = withNarrow(type, [](auto tag) -> Handler {
      using T = typename decltype(tag)::type;
      return &ternary<WiderT<T>, T, T, WiderT<T>, MadWide<T>>;
    });
  else
    form.code.run =
        part ? makeTernary<MadHigh>(type) : makeTernary<MadLow>(type);
  form.dest(wide);
  form.source(type);
  form.source(type);
  form.source(wide);
}

static void buildDiv(Form &form) {
  Type last = lastType(form);
  if (!isInteger(last))
    return buildFloatBinary(form, last);
  Type type = form.type();
  buildBinary(form, type, makeBinary<Div>(type));
}

static void buildRem(Form &form) {
  Type type = form.type();
  buildBinary(form, type, makeBinary<Rem>(type));
}

template <class Op> static void buildMinMax(Form &form) {
  Type last = lastType(form);
  if (!isInteger(last))
    return buildFloatBinary(form, last);
  Type type = form.type();
  buildBinary(form, type, makeBinary<Op>(type));
}

template <class Op> static void buildNegAbs(Form &form) {
  Type last = lastType(form);
  if (!isInteger(last))
    return buildFloatUnary(form, last);
  Type type = form.type();
  form.code.run = isSigned(type) ? makeUnary<Op>(type) : nullptr;
  form.dest(type);
  form.source(type);
}

static void buildSad(Form &form) {
  Type type = form.type();
  form.code.run = makeTernary<Sad>(type);
  form.dest(type);
  for (unsigned i = 0; i < 3; ++i)
    form.source(type);
}

static void buildMul24(Form &form) {
  form.oneOf({"lo"});
  Type type = form.type();
  Handler run = nullptr;
  if (type == Type::S32)
    run = &binary<int32_t, int32_t, int32_t, Mul24>;
  else if (type == Type::U32)
    run = &binary<uint32_t, uint32_t, uint32_t, Mul24>;
  buildBinary(form, type, run);
}

void raytention::simt::addIntegerOps(BuilderTable &table) {
  table["add"] = &buildAddSub<Add>;
  table["sub"] = &buildAddSub<Sub>;
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
