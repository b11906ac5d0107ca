//===- FloatOps.cpp - float arithmetic and its rounding ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

#include <cfenv>

using namespace llvm;
using namespace raytention::simt;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

namespace {

struct Add {
  template <class T> static T apply(T a, T b) { return a + b; }
};
struct Sub {
  template <class T> static T apply(T a, T b) { return a - b; }
};
struct Mul {
  template <class T> static T apply(T a, T b) { return a * b; }
};
struct Div {
  template <class T> static T apply(T a, T b) { return a / b; }
};
struct Fma {
  template <class T> static T apply(T a, T b, T c) { return std::fma(a, b, c); }
};

/// A number wins over a NaN; -0 is below +0.
template <bool kLess> struct MinMax {
  template <class T> static T apply(T a, T b) {
    if (std::isnan(a) && std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    if (std::isnan(a))
      return b;
    if (std::isnan(b))
      return a;
    if (a == b)
      return std::signbit(a) == kLess ? a : b;
    return (a < b) == kLess ? a : b;
  }
};
template <bool kLess> struct MinMaxNaN {
  template <class T> static T apply(T a, T b) {
    if (std::isnan(a) || std::isnan(b))
      return std::numeric_limits<T>::quiet_NaN();
    return MinMax<kLess>::apply(a, b);
  }
};
/// copysign takes the sign of its first operand.
struct CopySign {
  template <class T> static T apply(T a, T b) { return std::copysign(b, a); }
};
struct Negate {
  template <class T> static T apply(T a) { return -a; }
};
struct Absolute {
  template <class T> static T apply(T a) { return std::fabs(a); }
};
struct Sqrt {
  template <class T> static T apply(T a) { return std::sqrt(a); }
};
struct Reciprocal {
  template <class T> static T apply(T a) { return T(1) / a; }
};

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

class RoundingScope {
public:
  explicit RoundingScope(uint8_t rounding) : changed(rounding != RoundNearest) {
    static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                    FE_UPWARD};
    if (changed)
      std::fesetround(modes[rounding]);
  }
  ~RoundingScope() {
    if (changed)
      std::fesetround(FE_TONEAREST);
  }

private:
  bool changed;
};

/// With any of rounding, .ftz and .sat.
template <class T, class Op, unsigned kOperands>
void careful(Warp &warp, const Instruction &at, Mask lanes) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]);
  const T *b = warp.reg<T>(at.op[kOperands > 1 ? 2 : 1]);
  const T *c = warp.reg<T>(at.op[kOperands > 2 ? 3 : 1]);
  bool flush = at.flush;
  RoundingScope scope(at.rounding);
  forEachLane(lanes, [&](unsigned i) {
    T x = flush ? flushed(a[i]) : a[i], y = flush ? flushed(b[i]) : b[i];
    T z = flush ? flushed(c[i]) : c[i], result;
    if constexpr (kOperands == 1)
      result = Op::apply(x);
    else if constexpr (kOperands == 2)
      result = Op::apply(x, y);
    else
      result = Op::apply(x, y, z);
    result = flush ? flushed(result) : result;
    d[i] = at.saturate ? saturated(result) : result;
  });
}

template <class T, class Op> Handler pickBinary(const Instruction &code) {
  if (code.flush || code.saturate || code.rounding)
    return &careful<T, Op, 2>;
  return &binary<T, T, T, Op>;
}
template <class T, class Op> Handler pickUnary(const Instruction &code) {
  if (code.flush || code.saturate || code.rounding)
    return &careful<T, Op, 1>;
  return &unary<T, T, Op>;
}

#if defined(__x86_64__)
#define RAYTENTION_FMA_TARGET __attribute__((target("fma,avx2")))

/// The compiler puts the instruction in place of the call: fifteen times as
/// fast as the library where the processor has it.
template <class T>
RAYTENTION_FMA_TARGET void fastFma(Warp &warp, const Instruction &at,
                                   Mask lanes) {
  T *d = warp.reg<T>(at.op[0]);
  const T *a = warp.reg<T>(at.op[1]);
  const T *b = warp.reg<T>(at.op[2]);
  const T *c = warp.reg<T>(at.op[3]);
  if (lanes == kAllLanes) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i)
      d[i] = sizeof(T) == 4 ? __builtin_fmaf(a[i], b[i], c[i])
                            : __builtin_fma(a[i], b[i], c[i]);
    return;
  }
  for (Mask rest = lanes; rest; rest &= rest - 1) {
    unsigned i = __builtin_ctz(rest);
    d[i] = sizeof(T) == 4 ? __builtin_fmaf(a[i], b[i], c[i])
                          : __builtin_fma(a[i], b[i], c[i]);
  }
}

bool hasFma() {
  return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
}
#else
template <class T> void fastFma(Warp &, const Instruction &, Mask) {}
bool hasFma() { return false; }
#endif

template <class T> Handler pickFma(const Instruction &code) {
  if (code.flush || code.saturate || code.rounding)
    return &careful<T, Fma, 3>;
  return hasFma() ? &fastFma<T> : &ternary<T, T, T, T, Fma>;
}

template <class Op> Handler binaryOf(Type type, const Instruction &code) {
  return type == Type::F32   ? pickBinary<float, Op>(code)
         : type == Type::F64 ? pickBinary<double, Op>(code)
                             : nullptr;
}
template <class Op> Handler unaryOf(Type type, const Instruction &code) {
  return type == Type::F32   ? pickUnary<float, Op>(code)
         : type == Type::F64 ? pickUnary<double, Op>(code)
                             : nullptr;
}

} // namespace

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

void raytention::simt::takeFloatFlags(Form &form) {
  form.code.rounding = form.rounding();
  form.code.flush = form.has("ftz");
  form.code.saturate = form.has("sat");
}

static bool isSmall(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F16x2 ||
         type == Type::BF16x2;
}

static Handler pickNamed(StringRef family, Type type, bool nan,
                         const Instruction &code) {
  if (family == "add")
    return binaryOf<Add>(type, code);
  if (family == "sub")
    return binaryOf<Sub>(type, code);
  if (family == "mul")
    return binaryOf<Mul>(type, code);
  if (family == "div")
    return binaryOf<Div>(type, code);
  if (family == "copysign")
    return binaryOf<CopySign>(type, code);
  if (family == "min")
    return nan ? binaryOf<MinMaxNaN<true>>(type, code)
               : binaryOf<MinMax<true>>(type, code);
  if (family == "max")
    return nan ? binaryOf<MinMaxNaN<false>>(type, code)
               : binaryOf<MinMax<false>>(type, code);
  return nullptr;
}

void raytention::simt::buildFloatBinary(Form &form, Type type) {
  if (isSmall(type))
    return buildHalf(form, type, 2);
  takeFloatFlags(form);
  bool nan = form.has("NaN");
  bool approximate = form.has("approx") | form.has("full");
  if (approximate && form.family() != "div")
    form.fail("expected an exact form");
  form.type();
  form.code.run = pickNamed(form.family(), type, nan, form.code);
  form.code.flops = form.family() == "copysign" ? 0 : 1;
  form.dest(type);
  form.source(type);
  form.source(type);
}

void raytention::simt::buildFloatUnary(Form &form, Type type) {
  if (isSmall(type))
    return buildHalf(form, type, 1);
  takeFloatFlags(form);
  form.type();
  form.code.run = form.family() == "neg" ? unaryOf<Negate>(type, form.code)
                                         : unaryOf<Absolute>(type, form.code);
  form.dest(type);
  form.source(type);
}

void raytention::simt::buildFloatFma(Form &form, Type type) {
  if (isSmall(type))
    return buildHalf(form, type, 3);
  takeFloatFlags(form);
  form.type();
  form.code.flops = 2;
  if (type == Type::F32)
    form.code.run = pickFma<float>(form.code);
  else if (type == Type::F64)
    form.code.run = pickFma<double>(form.code);
  form.dest(type);
  for (unsigned i = 0; i < 3; ++i)
    form.source(type);
}

static void buildFma(Form &form) { buildFloatFma(form, lastType(form)); }
static void buildCopySign(Form &form) {
  buildFloatBinary(form, lastType(form));
}

template <class Op> static void buildRounded(Form &form) {
  takeFloatFlags(form);
  form.has("approx");
  Type type = form.type();
  form.code.run = unaryOf<Op>(type, form.code);
  form.code.flops = 1;
  form.dest(type);
  form.source(type);
}

/// rcp.approx.ftz.f64 gives the upper half of the bits.
static void reciprocalSeed(Warp &warp, const Instruction &at, Mask lanes) {
  double *d = warp.reg<double>(at.op[0]);
  const double *a = warp.reg<double>(at.op[1]);
  forEachLane(lanes, [&](unsigned i) {
    double exact = 1.0 / a[i];
    uint64_t bits;
    std::memcpy(&bits, &exact, sizeof(bits));
    bits &= ~uint64_t(0xFFFFFFFF);
    std::memcpy(&d[i], &bits, sizeof(bits));
  });
}

static void buildReciprocal(Form &form) {
  bool approximate = form.statement.name.contains(".approx");
  buildRounded<Reciprocal>(form);
  if (approximate && lastType(form) == Type::F64)
    form.code.run = &reciprocalSeed;
}

void raytention::simt::addFloatOps(BuilderTable &table) {
  table["fma"] = &buildFma;
  table["copysign"] = &buildCopySign;
  table["sqrt"] = &buildRounded<Sqrt>;
  table["rcp"] = &buildReciprocal;
}
