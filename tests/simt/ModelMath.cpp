//===- ModelMath.cpp - arithmetic that models are written with --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/ModelMath.h"

#include <cstdlib>

using namespace raytention::simt::test;

double raytention::simt::test::half(uint64_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                 : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -value : value;
}

double raytention::simt::test::bfloat(uint64_t bits) {
  return asFloat(bits << 16);
}

/// By search among the values of a 16-bit type.
template <class Read>
static uint64_t nearest(Exact value, uint32_t infinity, Read read) {
  if (value != value)
    return 0x7FFF;
  uint64_t sign = std::signbit(double(value)) ? 0x8000 : 0;
  Exact size = value < 0 ? -value : value;
  uint32_t low = 0, high = infinity; // read(low) <= size
  while (high - low > 1) {
    uint32_t middle = (low + high) / 2;
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

uint64_t raytention::simt::test::toHalf(Exact v) {
  return nearest(v, 0x7C00, half);
}
uint64_t raytention::simt::test::toBFloat(Exact v) {
  return nearest(v, 0x7F80, bfloat);
}

static long double whole(long double v, const std::string &rounding) {
  return rounding == "rn"   ? std::rint(v)
         : rounding == "rm" ? std::floor(v)
         : rounding == "rp" ? std::ceil(v)
                            : std::trunc(v);
}

uint64_t raytention::simt::test::rounded(long double v, const std::string &type,
                                         const std::string &rounding) {
  int width = type == "f64" ? 64 : type == "f32" ? 32 : 16;
  int fraction = type == "f64"   ? 52
                 : type == "f32" ? 23
                 : type == "f16" ? 10
                                 : 7;
  int exponentBits = width - 1 - fraction, bias = (1 << (exponentBits - 1)) - 1;
  uint64_t infinity = ((uint64_t(1) << exponentBits) - 1) << fraction;
  if (std::isnan(v))
    return type == "f64" ? infinity | uint64_t(1) << 51
                         : (uint64_t(1) << (width - 1)) - 1;
  uint64_t sign = std::signbit(v) ? uint64_t(1) << (width - 1) : 0;
  if (v == 0 || std::isinf(v))
    return sign | (v == 0 ? 0 : infinity);
  int exponent;
  std::frexp(v, &exponent);
  int last = std::max(exponent - 1, 1 - bias) - fraction; // the last bit's
  uint64_t units = std::fabs(whole(std::ldexp(v, -last), rounding));
  // A carry out of the fraction raises the exponent by itself.
  uint64_t bits =
      units >> fraction
          ? units + (uint64_t(last + fraction + bias - 1) << fraction)
          : units;
  if (bits < infinity)
    return sign | bits;
  bool stays = rounding == "rz" || rounding == (sign ? "rp" : "rm");
  return sign | (stays ? infinity - 1 : infinity);
}

int raytention::simt::test::modeOf(const std::string &rounding) {
  return rounding == "rz"   ? FE_TOWARDZERO
         : rounding == "rm" ? FE_DOWNWARD
         : rounding == "rp" ? FE_UPWARD
                            : FE_TONEAREST;
}

S128 raytention::simt::test::wholeOf(uint64_t bits, const std::string &type) {
  int width = std::atoi(type.c_str() + 1);
  if (width < 64)
    bits &= (uint64_t(1) << width) - 1;
  bool negative = type[0] == 's' && bits >> (width - 1) & 1;
  return negative ? S128(bits) - (S128(1) << width) : S128(bits);
}
