//===- prelude.cuh - what printed kernels call ----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Tile primitives of printed kernels, compiled with them by NVRTC: a function
// here loops over no keys, channels or width, and holds no barrier. Needs
// compute capability 8.0.
//
//===----------------------------------------------------------------------===//

#pragma once

namespace rt {

//===----------------------------------------------------------------------===//
// bf16: a storage type
//===----------------------------------------------------------------------===//

struct bf16 {
  unsigned short bits;
};

__device__ inline float toFloat(bf16 x) {
  return __uint_as_float((unsigned)x.bits << 16);
}

/// To nearest, ties to even. A NaN stays one.
__device__ inline bf16 toBf16(float x) {
  unsigned bits = __float_as_uint(x);
  if (x != x)
    return bf16{(unsigned short)(bits >> 16 | 0x40)};
  return bf16{(unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

/// Rounded once: where bits are lost on the way, the last of those that stay
/// says so.
__device__ inline bf16 toBf16(double x) {
  float narrow = __double2float_rz(x);
  unsigned lost = narrow != x;
  return toBf16(__uint_as_float(__float_as_uint(narrow) | lost));
}

//===----------------------------------------------------------------------===//
// Floats: a NaN wins, and -0 is below +0
//===----------------------------------------------------------------------===//

__device__ inline float maximum(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

__device__ inline float minimum(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

__device__ inline double maximum(double a, double b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return __double_as_longlong(a) < 0 ? b : a;
  return a > b ? a : b;
}

__device__ inline double minimum(double a, double b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return __double_as_longlong(a) < 0 ? a : b;
  return a < b ? a : b;
}

//===----------------------------------------------------------------------===//
// Integers that wrap around, where C++ leaves an overflow undefined
//===----------------------------------------------------------------------===//

__device__ inline int add(int a, int b) {
  return (int)((unsigned)a + (unsigned)b);
}
__device__ inline long long add(long long a, long long b) {
  return (long long)((unsigned long long)a + (unsigned long long)b);
}

__device__ inline int sub(int a, int b) {
  return (int)((unsigned)a - (unsigned)b);
}
__device__ inline long long sub(long long a, long long b) {
  return (long long)((unsigned long long)a - (unsigned long long)b);
}

__device__ inline int mul(int a, int b) {
  return (int)((unsigned)a * (unsigned)b);
}
__device__ inline long long mul(long long a, long long b) {
  return (long long)((unsigned long long)a * (unsigned long long)b);
}

__device__ inline int shl(int a, int b) { return (int)((unsigned)a << b); }
__device__ inline long long shl(long long a, long long b) {
  return (long long)((unsigned long long)a << b);
}

//===----------------------------------------------------------------------===//
// Quotients that are not rounded to zero
//===----------------------------------------------------------------------===//

template <class T> __device__ inline T ceilDiv(T a, T b) {
  T rest = a % b;
  return a / b + (rest != 0 && (rest < 0) == (b < 0));
}

template <class T> __device__ inline T floorDiv(T a, T b) {
  T rest = a % b;
  return a / b - (rest != 0 && (rest < 0) != (b < 0));
}

} // namespace rt
