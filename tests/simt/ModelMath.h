//===- ModelMath.h - arithmetic that models are written with ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_MODELMATH_H
#define RAYTENTION_TESTS_SIMT_MODELMATH_H

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

// Written from the definition of PTX, apart from what is tested.

namespace raytention::simt::test {

__extension__ typedef __float128 Exact;
__extension__ typedef unsigned __int128 U128;
__extension__ typedef __int128 S128;

inline float asFloat(uint64_t bits) {
  uint32_t low = bits;
  float value;
  std::memcpy(&value, &low, 4);
  return value;
}
inline double asDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, 8);
  return value;
}
inline uint64_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return bits;
}

double half(uint64_t bits);
double bfloat(uint64_t bits);
/// The nearest of all values, ties to the even one; 0x7FFF for a NaN.
uint64_t toHalf(Exact value);
uint64_t toBFloat(Exact value);

/// A value as the bits of f16, bf16, f32 or f64, rounded by "rn", "rz", "rm" or
/// "rp".
uint64_t rounded(long double value, const std::string &type,
                 const std::string &rounding);
/// The mode of the host's unit.
int modeOf(const std::string &rounding);

inline float flush(float v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.f, v) : v;
}
inline double flush(double v) {
  return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0., v) : v;
}
template <class T> T saturate(T v) {
  return std::isnan(v) ? 0 : v < 0 ? 0 : v > 1 ? 1 : v;
}
/// The bits of a signed or unsigned type, as a value.
S128 wholeOf(uint64_t bits, const std::string &type);

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_MODELMATH_H
