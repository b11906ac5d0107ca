//===- SmallFloat.cpp - floats of 16 bits -----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ops/Ops.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace raytention::simt;

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

float raytention::simt::fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3FF;
  if (exponent == 31)
    return fromBits(sign | 0x7F800000 | fraction << 13);
  if (exponent == 0) {
    float value = std::ldexp(float(fraction), -24);
    return sign ? -value : value;
  }
  return fromBits(sign | (exponent + 112) << 23 | fraction << 13);
}

/// Whether the magnitude goes up, given what is cut off.
static bool roundsUp(Rounding rounding, bool negative, bool odd, uint64_t rest,
                     uint64_t half) {
  switch (rounding) {
  case RoundNearest:
    return rest > half || (rest == half && odd);
  case RoundAway:
    return rest >= half;
  case RoundUp:
    return rest && !negative;
  case RoundDown:
    return rest && negative;
  default:
    return false;
  }
}

/// A double as a float of one sign bit, kExponent and kFraction bits.
template <unsigned kExponent, unsigned kFraction>
static uint16_t narrow(double value, Rounding rounding) {
  constexpr int bias = (1 << (kExponent - 1)) - 1;
  constexpr uint32_t infinity = ((1u << kExponent) - 1) << kFraction;
  if (std::isnan(value))
    return kNaN16;
  bool negative = std::signbit(value);
  uint16_t sign = negative ? 0x8000 : 0;
  if (std::isinf(value))
    return sign | infinity;
  if (value == 0)
    return sign;
  int exponent;
  double fraction = std::frexp(std::fabs(value), &exponent); // [0.5, 1)
  uint64_t bits = uint64_t(std::ldexp(fraction, 53));        // 53 bits
  int scale = std::max(exponent - 1, 1 - bias); // exponent of the result
  // Bits below the last of the result.
  int cut = 53 - int(kFraction) - 1 + (scale - (exponent - 1));
  uint64_t kept = cut > 60 ? 0 : bits >> cut;
  uint64_t rest = cut > 60 ? 1 : bits & ((uint64_t(1) << cut) - 1);
  uint64_t half = cut > 60 ? 2 : uint64_t(1) << (cut - 1);
  kept += roundsUp(rounding, negative, kept & 1, rest, half);
  // A carry out of the fraction raises the exponent by itself.
  uint64_t result = kept >> kFraction
                        ? kept + (uint64_t(scale + bias - 1) << kFraction)
                        : kept;
  if (result < infinity)
    return sign | uint16_t(result);
  bool stays = rounding == RoundZero || (rounding == RoundUp && negative) ||
               (rounding == RoundDown && !negative);
  return sign | uint16_t(stays ? infinity - 1 : infinity);
}

uint16_t raytention::simt::toHalf(double value, Rounding rounding) {
  return narrow<5, 10>(value, rounding);
}

uint16_t raytention::simt::toBFloat(double value, Rounding rounding) {
  return narrow<8, 7>(value, rounding);
}

uint32_t raytention::simt::toTensorFloat(float value) {
  uint32_t bits = toBits(value);
  if (std::isnan(value))
    return kNaN32;
  if (std::isinf(value))
    return bits;
  return (bits + 0x1000) & ~uint32_t(0x1FFF);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

namespace {

struct Half {
  static double widen(uint16_t bits) { return fromHalf(bits); }
  static uint16_t narrow(double value) { return toHalf(value, RoundNearest); }
  static constexpr uint16_t exponent = 0x7C00;
};
struct BFloat {
  static double widen(uint16_t bits) { return fromBFloat(bits); }
  static uint16_t narrow(double value) { return toBFloat(value, RoundNearest); }
  static constexpr uint16_t exponent = 0x7F80;
};

/// a + b with the last bit set where the sum is not exact: rounding that again
/// to fewer bits is as if it had been rounded once.
double addToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  double other = sum - a;
  double error = (a - (sum - other)) + (b - other);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof(bits));
  if (error == 0 || bits & 1)
    return sum;
  return std::nextafter(sum, error > 0
                                 ? std::numeric_limits<double>::infinity()
                                 : -std::numeric_limits<double>::infinity());
}

enum class Operation : uint8_t {
  Add,
  Sub,
  Mul,
  Fma,
  Min,
  Max,
  MinNaN,
  MaxNaN,
  Neg,
  Abs,
  Exp2,
  Tanh
};

double chooseOf(Operation operation, double a, double b) {
  bool nan = operation == Operation::MinNaN || operation == Operation::MaxNaN;
  bool less = operation == Operation::Min || operation == Operation::MinNaN;
  if (std::isnan(a) || std::isnan(b))
    return nan || (std::isnan(a) && std::isnan(b))
               ? std::numeric_limits<double>::quiet_NaN()
           : std::isnan(a) ? b
                           : a;
  if (a == b)
    return std::signbit(a) == less ? a : b;
  return (a < b) == less ? a : b;
}

/// Exact in double but for the sum of an fma, which is rounded to odd.
double compute(Operation operation, double a, double b, double c) {
  switch (operation) {
  case Operation::Add:
    return addToOdd(a, b);
  case Operation::Sub:
    return addToOdd(a, -b);
  case Operation::Mul:
    return a * b;
  case Operation::Fma:
    return addToOdd(a * b, c);
  case Operation::Exp2:
    return std::exp2(a);
  case Operation::Tanh:
    return std::tanh(a);
  default:
    return chooseOf(operation, a, b);
  }
}

template <class Format>
uint16_t apply(const Instruction &at, uint16_t a, uint16_t b, uint16_t c) {
  Operation operation = static_cast<Operation>(at.form);
  bool flushes = at.flush && !(a & Format::exponent);
  if (operation == Operation::Neg)
    return (flushes ? a & 0x8000 : a) ^ 0x8000;
  if (operation == Operation::Abs)
    return flushes ? 0 : a & 0x7FFF;
  auto widen = [&](uint16_t bits) {
    bool small = at.flush && !(bits & Format::exponent);
    return Format::widen(small ? bits & 0x8000 : bits);
  };
  double result = compute(operation, widen(a), widen(b), widen(c));
  if (at.saturate)
    result = saturated(result);
  uint16_t bits = Format::narrow(result);
  if (at.rounding && bits & 0x8000) // .relu
    bits = 0;
  return at.flush && !(bits & Format::exponent) ? bits & 0x8000 : bits;
}

template <class Format>
void single(Warp &warp, const Instruction &at, Mask lanes) {
  uint16_t *d = warp.reg<uint16_t>(at.op[0]);
  const uint16_t *a = warp.reg<uint16_t>(at.op[1]);
  const uint16_t *b = warp.reg<uint16_t>(at.op[at.sources > 1 ? 2 : 1]);
  const uint16_t *c = warp.reg<uint16_t>(at.op[at.sources > 2 ? 3 : 1]);
  forEachLane(lanes,
              [&](unsigned i) { d[i] = apply<Format>(at, a[i], b[i], c[i]); });
}

template <class Format>
void paired(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const uint32_t *a = warp.reg<uint32_t>(at.op[1]);
  const uint32_t *b = warp.reg<uint32_t>(at.op[at.sources > 1 ? 2 : 1]);
  const uint32_t *c = warp.reg<uint32_t>(at.op[at.sources > 2 ? 3 : 1]);
  forEachLane(lanes, [&](unsigned i) {
    uint32_t low = apply<Format>(at, a[i], b[i], c[i]);
    uint32_t high = apply<Format>(at, a[i] >> 16, b[i] >> 16, c[i] >> 16);
    d[i] = low | high << 16;
  });
}

} // namespace

static Operation operationOf(StringRef family, bool nan) {
  return StringSwitch<Operation>(family)
      .Case("add", Operation::Add)
      .Case("sub", Operation::Sub)
      .Case("mul", Operation::Mul)
      .Case("fma", Operation::Fma)
      .Case("min", nan ? Operation::MinNaN : Operation::Min)
      .Case("max", nan ? Operation::MaxNaN : Operation::Max)
      .Case("neg", Operation::Neg)
      .Case("abs", Operation::Abs)
      .Case("ex2", Operation::Exp2)
      .Default(Operation::Tanh);
}

/// Of bf16 only fma has .relu, and nothing but ex2 flushes.
static void takeSmallFlags(Form &form, bool half, bool &nan) {
  StringRef family = form.family();
  bool function = family == "ex2" || family == "tanh";
  bool fused = family == "fma",
       sums = fused || family == "add" || family == "sub" || family == "mul";
  if (function)
    form.oneOf({"approx"});
  if (fused)
    form.oneOf({"rn"});
  else if (sums)
    form.ignores({"rn"});
  if (half && !function)
    form.code.flush = form.has("ftz");
  if (!half && family == "ex2")
    form.code.flush = form.oneOf({"ftz"}) == 0;
  form.code.saturate = half && sums && form.has("sat");
  form.code.rounding = fused && !form.code.saturate && form.has("relu");
  nan = (family == "min" || family == "max") && form.has("NaN");
}

void raytention::simt::buildHalf(Form &form, Type type, unsigned operands) {
  bool pair = isPair(type), nan = false;
  bool half = type == Type::F16 || type == Type::F16x2;
  takeSmallFlags(form, half, nan);
  form.code.form = static_cast<uint8_t>(operationOf(form.family(), nan));
  form.type({type});
  form.code.run = pair   ? half ? &paired<Half> : &paired<BFloat>
                    : half ? &single<Half>
                         : &single<BFloat>;
  form.code.flops = (operands - 1) * (pair ? 2 : 1);
  Type reg = pair ? Type::B32 : Type::B16;
  form.dest(reg);
  for (unsigned i = 0; i < operands; ++i)
    form.source(reg);
}
