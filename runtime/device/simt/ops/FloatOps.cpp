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

/// The NaN that PTX calls canonical, of f64 any.
template <class T> T canonicalNaN() {
  if constexpr (sizeof(T) == 4)
    return fromBits(kNaN32);
  return std::numeric_limits<T>::quiet_NaN();
}

/// A number wins over a NaN; -0 is below +0.
template <bool kLess> struct MinMax {
  template <class T> static T apply(T a, T b) {
    if (std::isnan(a) && std::isnan(b))
      return canonicalNaN<T>();
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
      return canonicalNaN<T>();
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

static bool isSmall(Type type) {
  return isFloat(type) && bitsOf(type) != 64 && type != Type::F32;
}

/// {.rnd}{.ftz}{.sat} of f32, {.rnd} of f64.
static void takeSumFlags(Form &form, Type type, bool rounds) {
  form.code.rounding = rounds ? form.rounding() : form.maybeRounding();
  if (type == Type::F64)
    return;
  form.code.flush = form.has("ftz");
  form.code.saturate = form.has("sat");
}

/// .approx{.ftz}.f32, .rnd{.ftz}.f32 or .rnd.f64; whether it is exact.
static bool takeExactness(Form &form, Type type, ArrayRef<StringRef> loose) {
  bool exact = type == Type::F64 || form.maybe(loose, 9) == 9;
  if (exact)
    form.code.rounding = form.rounding();
  form.code.flush = type == Type::F32 && form.has("ftz");
  return exact;
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
  StringRef family = form.family();
  bool chooses = family == "min" || family == "max", nan = false;
  if (family == "div") {
    takeExactness(form, type, {"approx", "full"});
  } else if (chooses) {
    form.code.flush = type == Type::F32 && form.has("ftz");
    nan = type == Type::F32 && form.has("NaN");
  } else if (family != "copysign") {
    takeSumFlags(form, type, false);
  }
  form.type({type});
  form.code.run = pickNamed(family, type, nan, form.code);
  form.code.flops = family == "copysign" ? 0 : 1;
  form.dest(type);
  form.source(type);
  form.source(type);
}

void raytention::simt::buildFloatUnary(Form &form, Type type) {
  if (isSmall(type))
    return buildHalf(form, type, 1);
  form.code.flush = type == Type::F32 && form.has("ftz");
  form.type({type});
  form.code.run = form.family() == "neg" ? unaryOf<Negate>(type, form.code)
                                         : unaryOf<Absolute>(type, form.code);
  form.dest(type);
  form.source(type);
}

void raytention::simt::buildFloatFma(Form &form, Type type) {
  if (isSmall(type))
    return buildHalf(form, type, 3);
  takeSumFlags(form, type, true);
  form.type({type});
  form.code.flops = 2;
  form.code.run = type == Type::F32 ? pickFma<float>(form.code)
                                    : pickFma<double>(form.code);
  form.dest(type);
  for (unsigned i = 0; i < 3; ++i)
    form.source(type);
}

static void buildFma(Form &form) {
  buildFloatFma(form, form.lastType({Type::F32, Type::F64, Type::F16,
                                     Type::F16x2, Type::BF16, Type::BF16x2}));
}
static void buildCopySign(Form &form) {
  buildFloatBinary(form, form.lastType({Type::F32, Type::F64}));
}

template <class Op> static void buildRounded(Form &form, Type type) {
  takeExactness(form, type, {"approx"});
  form.type({type});
  form.code.run = unaryOf<Op>(type, form.code);
  form.code.flops = 1;
  form.dest(type);
  form.source(type);
}

static void buildRoot(Form &form) {
  buildRounded<Sqrt>(form, form.lastType({Type::F32, Type::F64}));
}

static double flushedDouble(double value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0, value)
                                                : value;
}

/// Of f64 the flushing approximations are the upper half of the bits.
template <class Op>
static void seed(Warp &warp, const Instruction &at, Mask lanes) {
  double *d = warp.reg<double>(at.op[0]);
  const double *a = warp.reg<double>(at.op[1]);
  forEachLane(lanes, [&](unsigned i) {
    double exact = Op::apply(flushedDouble(a[i]));
    uint64_t bits;
    std::memcpy(&bits, &exact, sizeof(bits));
    bits &= ~uint64_t(0xFFFFFFFF);
    std::memcpy(&exact, &bits, sizeof(bits));
    d[i] = flushedDouble(exact);
  });
}

static void buildReciprocal(Form &form) {
  Type type = form.lastType({Type::F32, Type::F64});
  if (type == Type::F32 || !form.has("approx"))
    return buildRounded<Reciprocal>(form, type);
  form.oneOf({"ftz"});
  form.type({type});
  form.code.run = &seed<Reciprocal>;
  form.code.flops = 1;
  form.dest(type);
  form.source(type);
}

void raytention::simt::addFloatOps(BuilderTable &table) {
  table["fma"] = &buildFma;
  table["copysign"] = &buildCopySign;
  table["sqrt"] = &buildRoot;
  table["rcp"] = &buildReciprocal;
}
