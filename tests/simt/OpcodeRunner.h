//===- OpcodeRunner.h - one instruction over edge values --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_OPCODERUNNER_H
#define RAYTENTION_TESTS_SIMT_OPCODERUNNER_H

#include "tests/simt/Support.h"

#include <cmath>
#include <functional>

namespace raytention::simt::test {

/// What an operand is: None, integers by bits, floats, a predicate.
enum class Kind { None, I16, I32, I64, F16, BF16, F32, F64, Pred };

/// Bits in, bits out.
using Model = std::function<uint64_t(uint64_t, uint64_t, uint64_t)>;

struct Opcode {
  /// The instruction on %d, %a, %b and %c; several may be given.
  const char *text;
  Kind d, a, b, c;
  Model model;
  /// Relative; approximations only.
  double tolerance = 0;
};

/// Runs the instruction on all combinations of edge values of its operands.
void checkOpcode(const Opcode &opcode);

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

/// Models from functions of the operands' own types.
template <class F> Model floats(F f) {
  return [f](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return bitsOf(float(f(asFloat(a), asFloat(b), asFloat(c))));
  };
}
template <class F> Model doubles(F f) {
  return [f](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return bitsOf(double(f(asDouble(a), asDouble(b), asDouble(c))));
  };
}
template <class T, class F> Model integers(F f) {
  return [f](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return uint64_t(f(T(a), T(b), T(c)));
  };
}

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_OPCODERUNNER_H
