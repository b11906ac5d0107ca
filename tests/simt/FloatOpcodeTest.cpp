//===- FloatOpcodeTest.cpp - float instructions against a scalar model --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/OpcodeRunner.h"

#include <cfenv>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
constexpr Kind N = Kind::None, H = Kind::F16, B = Kind::BF16, F = Kind::F32,
               D = Kind::F64, W = Kind::I32, L = Kind::I64, S = Kind::I16,
               P = Kind::Pred;
using u32 = uint32_t;
using u64 = uint64_t;
using s32 = int32_t;
using s64 = int64_t;
__extension__ typedef __float128 Exact;

float flush(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.f, v) : v;
}
float saturate(float v) {
  return std::isnan(v) ? 0 : v < 0 ? 0 : v > 1 ? 1 : v;
}

/// The operation with another rounding; volatile keeps it in its place.
template <class T, class Op> T rounded(int mode, T a, T b, T c, Op op) {
  volatile T x = a, y = b, z = c;
  std::fesetround(mode);
  volatile T result = op(x, y, z);
  std::fesetround(FE_TONEAREST);
  return result;
}
template <class Op> Model roundedFloats(int mode, Op op) {
  return floats(
      [=](float a, float b, float c) { return rounded(mode, a, b, c, op); });
}
template <class Op> Model roundedDoubles(int mode, Op op) {
  return doubles(
      [=](double a, double b, double c) { return rounded(mode, a, b, c, op); });
}

double half(u64 bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -value : value;
}
double bfloat(u64 bits) { return asFloat(bits << 16); }

/// The nearest of all values of a 16-bit type, ties to the even one.
template <class Read> u64 nearest(Exact value, u32 infinity, Read read) {
  if (value != value)
    return 0x7FFF;
  u64 sign = std::signbit(double(value)) ? 0x8000 : 0;
  Exact size = value < 0 ? -value : value;
  u32 low = 0, high = infinity; // read(low) <= size
  while (high - low > 1) {
    u32 middle = (low + high) / 2;
    (Exact(read(middle)) <= size ? low : high) = middle;
  }
  if (size > 1e300)
    return sign | infinity;
  // One step beyond the largest stands for infinity.
  Exact below = read(low);
  Exact above = high == infinity ? 2 * Exact(read(low)) - Exact(read(low - 1))
                                 : Exact(read(high));
  Exact down = size - below, up = above - size;
  return sign | (up < down || (up == down && low & 1) ? high : low);
}
u64 toHalf(Exact v) { return nearest(v, 0x7C00, half); }
u64 toBFloat(Exact v) { return nearest(v, 0x7F80, bfloat); }

template <class T> T least(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
template <class T> T most(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}

/// Bits beyond 24 are dropped.
float truncatedFloat(s32 v) {
  u32 size = v < 0 ? 0 - u32(v) : u32(v);
  int extra = size ? 8 - __builtin_clz(size) : 0;
  if (extra > 0)
    size = size >> extra << extra;
  return v < 0 ? -float(size) : float(size);
}

u64 toInteger(long double v, long double lowest, long double highest) {
  if (std::isnan(v))
    return 0;
  if (v <= lowest)
    return u64(s64(lowest));
  return v >= highest ? (highest > 9.3e18L ? ~u64(0) : u64(highest))
         : v < 0      ? u64(s64(v))
                      : u64(v);
}
} // namespace

#define FL(e) floats([](float a, float b, float c) { return e; })
#define DB(e) doubles([](double a, double b, double c) { return e; })
#define RAW(e) [](u64 a, u64 b, u64 c) -> u64 { return e; }
#define ROUND_F(m, e)                                                          \
  roundedFloats(m, [](float a, float b, float c) { return e; })
#define ROUND_D(m, e)                                                          \
  roundedDoubles(m, [](double a, double b, double c) { return e; })

TEST(FloatOpcodeTest, Single) {
  const Opcode all[] = {
      {"add.f32 %d, %a, %b;", F, F, F, N, FL(a + b)},
      {"add.rn.f32 %d, %a, %b;", F, F, F, N, FL(a + b)},
      {"add.rz.f32 %d, %a, %b;", F, F, F, N, ROUND_F(FE_TOWARDZERO, a + b)},
      {"add.rm.f32 %d, %a, %b;", F, F, F, N, ROUND_F(FE_DOWNWARD, a + b)},
      {"add.rp.f32 %d, %a, %b;", F, F, F, N, ROUND_F(FE_UPWARD, a + b)},
      {"add.ftz.f32 %d, %a, %b;", F, F, F, N, FL(flush(flush(a) + flush(b)))},
      {"add.sat.f32 %d, %a, %b;", F, F, F, N, FL(saturate(a + b))},
      {"sub.f32 %d, %a, %b;", F, F, F, N, FL(a - b)},
      {"mul.f32 %d, %a, %b;", F, F, F, N, FL(a * b)},
      {"mul.rz.f32 %d, %a, %b;", F, F, F, N, ROUND_F(FE_TOWARDZERO, a * b)},
      {"mul.ftz.f32 %d, %a, %b;", F, F, F, N, FL(flush(flush(a) * flush(b)))},
      {"div.rn.f32 %d, %a, %b;", F, F, F, N, FL(a / b)},
      {"div.rp.f32 %d, %a, %b;", F, F, F, N, ROUND_F(FE_UPWARD, a / b)},
      {"div.approx.f32 %d, %a, %b;", F, F, F, N, FL(a / b), 3e-7},
      {"div.full.f32 %d, %a, %b;", F, F, F, N, FL(a / b), 3e-7},
      {"fma.rn.f32 %d, %a, %b, %c;", F, F, F, F, FL(std::fma(a, b, c))},
      {"fma.rz.f32 %d, %a, %b, %c;", F, F, F, F,
       ROUND_F(FE_TOWARDZERO, std::fma(a, b, c))},
      {"fma.rm.f32 %d, %a, %b, %c;", F, F, F, F,
       ROUND_F(FE_DOWNWARD, std::fma(a, b, c))},
      {"fma.rn.ftz.f32 %d, %a, %b, %c;", F, F, F, F,
       FL(flush(std::fma(flush(a), flush(b), flush(c))))},
      {"fma.rn.sat.f32 %d, %a, %b, %c;", F, F, F, F,
       FL(saturate(std::fma(a, b, c)))},
      {"min.f32 %d, %a, %b;", F, F, F, N, FL(least(a, b))},
      {"max.f32 %d, %a, %b;", F, F, F, N, FL(most(a, b))},
      {"max.NaN.f32 %d, %a, %b;", F, F, F, N,
       FL(std::isnan(a) || std::isnan(b) ? NAN : most(a, b))},
      {"neg.f32 %d, %a;", F, F, N, N, FL(-a)},
      {"abs.f32 %d, %a;", F, F, N, N, FL(std::fabs(a))},
      {"copysign.f32 %d, %a, %b;", F, F, F, N, FL(std::copysign(b, a))},
      {"sqrt.rn.f32 %d, %a;", F, F, N, N, FL(std::sqrt(a))},
      {"sqrt.rz.f32 %d, %a;", F, F, N, N, ROUND_F(FE_TOWARDZERO, std::sqrt(a))},
      {"sqrt.approx.f32 %d, %a;", F, F, N, N, FL(std::sqrt(a)), 3e-7},
      {"rcp.rn.f32 %d, %a;", F, F, N, N, FL(1 / a)},
      {"rcp.approx.ftz.f32 %d, %a;", F, F, N, N, FL(flush(1 / flush(a))), 3e-7},
      {"rsqrt.approx.f32 %d, %a;", F, F, N, N,
       FL(float(1 / std::sqrt(double(a)))), 3e-7},
      {"ex2.approx.f32 %d, %a;", F, F, N, N, FL(float(std::exp2(double(a)))),
       3e-7},
      {"ex2.approx.ftz.f32 %d, %a;", F, F, N, N,
       FL(flush(float(std::exp2(double(flush(a)))))), 3e-7},
      {"lg2.approx.f32 %d, %a;", F, F, N, N, FL(float(std::log2(double(a)))),
       3e-7},
      {"sin.approx.f32 %d, %a;", F, F, N, N, FL(float(std::sin(double(a)))),
       1e-6},
      {"cos.approx.f32 %d, %a;", F, F, N, N, FL(float(std::cos(double(a)))),
       1e-6},
      {"tanh.approx.f32 %d, %a;", F, F, N, N, FL(float(std::tanh(double(a)))),
       1e-6},
      {"testp.finite.f32 %d, %a;", P, F, N, N, RAW(std::isfinite(asFloat(a)))},
      {"testp.subnormal.f32 %d, %a;", P, F, N, N,
       RAW(std::fpclassify(asFloat(a)) == FP_SUBNORMAL)},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(FloatOpcodeTest, Double) {
  const Opcode all[] = {
      {"add.f64 %d, %a, %b;", D, D, D, N, DB(a + b)},
      {"add.rz.f64 %d, %a, %b;", D, D, D, N, ROUND_D(FE_TOWARDZERO, a + b)},
      {"sub.f64 %d, %a, %b;", D, D, D, N, DB(a - b)},
      {"mul.f64 %d, %a, %b;", D, D, D, N, DB(a * b)},
      {"mul.rp.f64 %d, %a, %b;", D, D, D, N, ROUND_D(FE_UPWARD, a * b)},
      {"div.rn.f64 %d, %a, %b;", D, D, D, N, DB(a / b)},
      {"fma.rn.f64 %d, %a, %b, %c;", D, D, D, D, DB(std::fma(a, b, c))},
      {"min.f64 %d, %a, %b;", D, D, D, N, DB(least(a, b))},
      {"max.f64 %d, %a, %b;", D, D, D, N, DB(most(a, b))},
      {"neg.f64 %d, %a;", D, D, N, N, DB(-a)},
      {"abs.f64 %d, %a;", D, D, N, N, DB(std::fabs(a))},
      {"sqrt.rn.f64 %d, %a;", D, D, N, N, DB(std::sqrt(a))},
      {"rcp.approx.ftz.f64 %d, %a;", D, D, N, N, DB(1 / a), 1e-6},
      {"rsqrt.approx.ftz.f64 %d, %a;", D, D, N, N, DB(1 / std::sqrt(a)), 1e-6},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(FloatOpcodeTest, Half) {
  const Opcode all[] = {
      {"add.f16 %d, %a, %b;", H, H, H, N,
       RAW(toHalf(Exact(half(a)) + half(b)))},
      {"sub.f16 %d, %a, %b;", H, H, H, N,
       RAW(toHalf(Exact(half(a)) - half(b)))},
      {"mul.f16 %d, %a, %b;", H, H, H, N,
       RAW(toHalf(Exact(half(a)) * half(b)))},
      {"fma.rn.f16 %d, %a, %b, %c;", H, H, H, H,
       RAW(toHalf(Exact(half(a)) * half(b) + half(c)))},
      {"min.f16 %d, %a, %b;", H, H, H, N, RAW(toHalf(least(half(a), half(b))))},
      {"neg.f16 %d, %a;", H, H, N, N, RAW(a ^ 0x8000)},
      {"abs.f16 %d, %a;", H, H, N, N, RAW(a & 0x7FFF)},
      {"add.bf16 %d, %a, %b;", B, B, B, N,
       RAW(toBFloat(Exact(bfloat(a)) + bfloat(b)))},
      {"sub.bf16 %d, %a, %b;", B, B, B, N,
       RAW(toBFloat(Exact(bfloat(a)) - bfloat(b)))},
      {"mul.bf16 %d, %a, %b;", B, B, B, N,
       RAW(toBFloat(Exact(bfloat(a)) * bfloat(b)))},
      {"fma.rn.bf16 %d, %a, %b, %c;", B, B, B, B,
       RAW(toBFloat(Exact(bfloat(a)) * bfloat(b) + bfloat(c)))},
      {"max.bf16 %d, %a, %b;", B, B, B, N,
       RAW(toBFloat(most(bfloat(a), bfloat(b))))},
      {".reg .b32 s; .reg .b32 t; .reg .b16 u; mov.b32 s, {%a, %b}; mov.b32 t, "
       "{%b, %a}; add.f16x2 s, s, t; mov.b32 {u, %d}, s;",
       H, H, H, N, RAW(toHalf(Exact(half(a)) + half(b)))},
      {".reg .b32 s; .reg .b32 t; .reg .b16 u; mov.b32 s, {%a, %b}; mov.b32 t, "
       "{%b, %a}; mul.bf16x2 s, s, t; mov.b32 {u, %d}, s;",
       B, B, B, N, RAW(toBFloat(Exact(bfloat(a)) * bfloat(b)))},
      {"setp.lt.f16 %d, %a, %b;", P, H, H, N, RAW(half(a) < half(b))},
      {"setp.ge.bf16 %d, %a, %b;", P, B, B, N, RAW(bfloat(a) >= bfloat(b))},
      {"set.eq.f16.f16 %d, %a, %b;", H, H, H, N,
       RAW(half(a) == half(b) ? 0x3C00 : 0)},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(FloatOpcodeTest, Comparisons) {
  const Opcode all[] = {
      {"setp.eq.f32 %d, %a, %b;", P, F, F, N, RAW(asFloat(a) == asFloat(b))},
      {"setp.ne.f32 %d, %a, %b;", P, F, F, N,
       RAW(asFloat(a) < asFloat(b) || asFloat(a) > asFloat(b))},
      {"setp.neu.f32 %d, %a, %b;", P, F, F, N, RAW(asFloat(a) != asFloat(b))},
      {"setp.lt.f32 %d, %a, %b;", P, F, F, N, RAW(asFloat(a) < asFloat(b))},
      {"setp.ltu.f32 %d, %a, %b;", P, F, F, N,
       RAW(!(asFloat(a) >= asFloat(b)))},
      {"setp.geu.f32 %d, %a, %b;", P, F, F, N, RAW(!(asFloat(a) < asFloat(b)))},
      {"setp.gt.f64 %d, %a, %b;", P, D, D, N, RAW(asDouble(a) > asDouble(b))},
      {"setp.num.f32 %d, %a, %b;", P, F, F, N,
       RAW(!std::isnan(asFloat(a)) && !std::isnan(asFloat(b)))},
      {"setp.nan.f32 %d, %a, %b;", P, F, F, N,
       RAW(std::isnan(asFloat(a)) || std::isnan(asFloat(b)))},
      {"setp.lt.ftz.f32 %d, %a, %b;", P, F, F, N,
       RAW(flush(asFloat(a)) < flush(asFloat(b)))},
      {"set.lt.f32.f32 %d, %a, %b;", F, F, F, N, FL(a < b ? 1.0f : 0.0f)},
      {"set.gt.u32.f32 %d, %a, %b;", W, F, F, N,
       RAW(asFloat(a) > asFloat(b) ? 0xFFFFFFFF : 0)},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}

TEST(FloatOpcodeTest, Conversions) {
  const Opcode all[] = {
      {"cvt.rn.f32.s32 %d, %a;", F, W, N, N, RAW(bitsOf(float(s32(a))))},
      {"cvt.rn.f32.u32 %d, %a;", F, W, N, N, RAW(bitsOf(float(u32(a))))},
      {"cvt.rn.f32.s64 %d, %a;", F, L, N, N, RAW(bitsOf(float(s64(a))))},
      {"cvt.rn.f32.u64 %d, %a;", F, L, N, N, RAW(bitsOf(float(a)))},
      {"cvt.rz.f32.s32 %d, %a;", F, W, N, N,
       RAW(bitsOf(truncatedFloat(s32(a))))},
      {"cvt.rn.f64.s32 %d, %a;", D, W, N, N, RAW(bitsOf(double(s32(a))))},
      {"cvt.rn.f64.u64 %d, %a;", D, L, N, N, RAW(bitsOf(double(a)))},
      {"cvt.rn.f64.s64 %d, %a;", D, L, N, N, RAW(bitsOf(double(s64(a))))},
      {"cvt.rn.f32.s16 %d, %a;", F, S, N, N, RAW(bitsOf(float(int16_t(a))))},
      {"cvt.rn.f16.s32 %d, %a;", H, W, N, N, RAW(toHalf(s32(a)))},
      {"cvt.rzi.s32.f32 %d, %a;", W, F, N, N,
       RAW(toInteger(asFloat(a), -2147483648.0L, 2147483647.0L))},
      {"cvt.rzi.u32.f32 %d, %a;", W, F, N, N,
       RAW(toInteger(asFloat(a), 0, 4294967295.0L))},
      {"cvt.rni.s32.f32 %d, %a;", W, F, N, N,
       RAW(toInteger(std::nearbyint(asFloat(a)), -2147483648.0L,
                     2147483647.0L))},
      {"cvt.rmi.s32.f32 %d, %a;", W, F, N, N,
       RAW(toInteger(std::floor(asFloat(a)), -2147483648.0L, 2147483647.0L))},
      {"cvt.rpi.s32.f64 %d, %a;", W, D, N, N,
       RAW(toInteger(std::ceil(asDouble(a)), -2147483648.0L, 2147483647.0L))},
      {"cvt.rzi.u16.f32 %d, %a;", S, F, N, N,
       RAW(toInteger(asFloat(a), 0, 65535.0L))},
      {"cvt.rni.f32.f32 %d, %a;", F, F, N, N, FL(std::nearbyint(a))},
      {"cvt.rmi.f32.f32 %d, %a;", F, F, N, N, FL(std::floor(a))},
      {"cvt.rpi.f32.f32 %d, %a;", F, F, N, N, FL(std::ceil(a))},
      {"cvt.rzi.f32.f32 %d, %a;", F, F, N, N, FL(std::trunc(a))},
      {"cvt.rzi.f64.f64 %d, %a;", D, D, N, N, DB(std::trunc(a))},
      {"cvt.sat.f32.f32 %d, %a;", F, F, N, N, FL(saturate(a))},
      {"cvt.ftz.f32.f32 %d, %a;", F, F, N, N, FL(flush(a))},
      {"cvt.rn.f32.f64 %d, %a;", F, D, N, N, RAW(bitsOf(float(asDouble(a))))},
      {"cvt.f64.f32 %d, %a;", D, F, N, N, RAW(bitsOf(double(asFloat(a))))},
      {"cvt.f32.f16 %d, %a;", F, H, N, N, RAW(bitsOf(float(half(a))))},
      {"cvt.f32.bf16 %d, %a;", F, B, N, N, RAW(a << 16)},
      {"cvt.rn.f16.f32 %d, %a;", H, F, N, N, RAW(toHalf(asFloat(a)))},
      {"cvt.rn.f16.f64 %d, %a;", H, D, N, N, RAW(toHalf(asDouble(a)))},
      {"cvt.rn.bf16.f32 %d, %a;", B, F, N, N, RAW(toBFloat(asFloat(a)))},
      {"cvt.rz.bf16.f32 %d, %a;", B, F, N, N,
       RAW(std::isnan(asFloat(a)) ? 0x7FFF : a >> 16)},
      {".reg .b32 t; .reg .b16 u; cvt.rn.f16x2.f32 t, %a, %b; mov.b32 {u, %d}, "
       "t;",
       H, F, F, N, RAW(toHalf(asFloat(a)))},
      {".reg .b32 t; .reg .b16 u; cvt.rn.bf16x2.f32 t, %a, %b; mov.b32 {%d, "
       "u}, t;",
       B, F, F, N, RAW(toBFloat(asFloat(b)))},
      {"cvt.rna.tf32.f32 %d, %a;", W, F, N, N,
       RAW(std::isnan(asFloat(a))   ? 0x7FFFFFFF
           : std::isinf(asFloat(a)) ? a
                                    : (a + 0x1000) & ~u64(0x1FFF))},
  };
  for (const Opcode &opcode : all)
    checkOpcode(opcode);
}
