//===- ConvertOps.cpp - conversions between types ---------------*- C++ -*-===//
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

/// What cvt needs to know beyond its types.
enum IntegerRounding : uint8_t { NotInteger, ToNearest, ToZero, Down, Up };

//===----------------------------------------------------------------------===//
// Registers that may be wider than the type
//===----------------------------------------------------------------------===//

uint64_t readLane(const uint8_t *reg, unsigned bits, unsigned lane) {
  switch (bits) {
  case 16:
    return reinterpret_cast<const uint16_t *>(reg)[lane];
  case 32:
    return reinterpret_cast<const uint32_t *>(reg)[lane];
  default:
    return reinterpret_cast<const uint64_t *>(reg)[lane];
  }
}

void writeLane(uint8_t *reg, unsigned bits, unsigned lane, uint64_t value) {
  switch (bits) {
  case 16:
    reinterpret_cast<uint16_t *>(reg)[lane] = value;
    return;
  case 32:
    reinterpret_cast<uint32_t *>(reg)[lane] = value;
    return;
  default:
    reinterpret_cast<uint64_t *>(reg)[lane] = value;
  }
}

Type typeAt(uint8_t code) { return static_cast<Type>(code); }

/// The low bits of a register, extended by the sign of the type.
int64_t extend(uint64_t raw, Type type) {
  unsigned bits = bitsOf(type);
  if (bits == 64)
    return int64_t(raw);
  uint64_t mask = (uint64_t(1) << bits) - 1;
  raw &= mask;
  if (isSigned(type) && raw >> (bits - 1))
    raw |= ~mask;
  return int64_t(raw);
}

//===----------------------------------------------------------------------===//
// Values on the way: every type fits one of a signed or unsigned 64-bit
// integer and a double.
//===----------------------------------------------------------------------===//

double readFloat(uint64_t raw, Type type) {
  switch (type) {
  case Type::F16:
    return fromHalf(raw);
  case Type::BF16:
    return fromBFloat(raw);
  case Type::F32:
    return fromBits(raw);
  default: {
    double value;
    std::memcpy(&value, &raw, sizeof(value));
    return value;
  }
  }
}

/// A 64-bit integer is rounded once, straight to the float.
float integerToFloat(int64_t value, bool isUnsigned, Rounding rounding) {
  float nearest = isUnsigned ? float(uint64_t(value)) : float(value);
  if (rounding == RoundNearest)
    return nearest;
  // Compared exactly: a long double holds 64 bits.
  long double exact =
      isUnsigned ? (long double)(uint64_t(value)) : (long double)value;
  bool tooHigh = nearest > exact, tooLow = nearest < exact;
  float below = std::nextafter(nearest, -INFINITY);
  float above = std::nextafter(nearest, INFINITY);
  if (rounding == RoundDown || (rounding == RoundZero && exact > 0))
    return tooHigh ? below : nearest;
  if (rounding == RoundUp || (rounding == RoundZero && exact < 0))
    return tooLow ? above : nearest;
  return nearest;
}

double integerToDouble(int64_t value, bool isUnsigned, Rounding rounding) {
  double nearest = isUnsigned ? double(uint64_t(value)) : double(value);
  if (rounding == RoundNearest)
    return nearest;
  long double exact =
      isUnsigned ? (long double)(uint64_t(value)) : (long double)value;
  bool tooHigh = nearest > exact, tooLow = nearest < exact;
  double infinity = std::numeric_limits<double>::infinity();
  bool down = rounding == RoundDown || (rounding == RoundZero && exact > 0);
  if (down)
    return tooHigh ? std::nextafter(nearest, -infinity) : nearest;
  return tooLow ? std::nextafter(nearest, infinity) : nearest;
}

float narrowToFloat(double value, Rounding rounding) {
  float nearest = static_cast<float>(value);
  if (rounding == RoundNearest || std::isnan(value) || std::isinf(value))
    return nearest;
  bool tooHigh = double(nearest) > value, tooLow = double(nearest) < value;
  bool down = rounding == RoundDown || (rounding == RoundZero && value > 0);
  if (down)
    return tooHigh ? std::nextafter(nearest, -INFINITY) : nearest;
  return tooLow ? std::nextafter(nearest, INFINITY) : nearest;
}

double roundToInteger(double value, uint8_t rounding) {
  switch (rounding) {
  case ToNearest:
    return std::nearbyint(value);
  case ToZero:
    return std::trunc(value);
  case Down:
    return std::floor(value);
  case Up:
    return std::ceil(value);
  default:
    return value;
  }
}

/// Out of range goes to the nearest end; a NaN to zero, or to the highest bit
/// where either type has 64.
uint64_t floatToInteger(double value, Type from, Type to) {
  unsigned bits = bitsOf(to);
  if (std::isnan(value))
    return from == Type::F64 || bits == 64 ? uint64_t(1) << (bits - 1) : 0;
  if (isSigned(to)) {
    double most = std::ldexp(1.0, bits - 1);
    if (value >= most)
      return (uint64_t(1) << (bits - 1)) - 1;
    return value < -most ? uint64_t(1) << (bits - 1)
                         : uint64_t(static_cast<int64_t>(value));
  }
  if (value <= 0)
    return 0;
  if (value >= std::ldexp(1.0, bits))
    return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return static_cast<uint64_t>(value);
}

uint64_t writeFloat(double value, Type to, Rounding rounding) {
  switch (to) {
  case Type::F16:
    return toHalf(value, rounding);
  case Type::BF16:
    return toBFloat(value, rounding);
  case Type::F32: {
    float narrow = narrowToFloat(value, rounding);
    return std::isnan(narrow) ? kNaN32 : toBits(narrow);
  }
  default: {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  }
}

uint64_t clampInteger(int64_t value, Type from, Type to) {
  unsigned bits = bitsOf(to);
  bool big = !isSigned(from) && value < 0; // above the signed range
  if (isSigned(to)) {
    int64_t most = bits == 64 ? INT64_MAX : (int64_t(1) << (bits - 1)) - 1;
    if (big || value > most)
      return most;
    return value < -most - 1 ? -most - 1 : value;
  }
  if (isSigned(from) && value < 0)
    return 0;
  uint64_t most = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return std::min(uint64_t(value), most);
}

//===----------------------------------------------------------------------===//
// Handlers. form: from, form2: to, vector: bits of the source register,
// bytes: bits of the destination register, offset: rounding to an integer.
//===----------------------------------------------------------------------===//

/// Where bits are lost, the last of those that stay says so: to round that
/// again to a 16-bit type is to round once.
double toOdd(int64_t value, bool isUnsigned) {
  double result = integerToDouble(value, isUnsigned, RoundZero);
  long double exact =
      isUnsigned ? (long double)(uint64_t(value)) : (long double)value;
  uint64_t bits;
  std::memcpy(&bits, &result, sizeof(bits));
  bits |= result != exact;
  std::memcpy(&result, &bits, sizeof(bits));
  return result;
}

uint64_t convertInteger(const Instruction &at, uint64_t raw, Type from,
                        Type to) {
  int64_t value = extend(raw, from);
  Rounding rounding = static_cast<Rounding>(at.rounding);
  if (!isFloat(to))
    return at.saturate ? clampInteger(value, from, to) : uint64_t(value);
  bool isUnsigned = !isSigned(from);
  // To [0, 1], where whole numbers are exact.
  if (at.saturate)
    return writeFloat(value == 0 || (value < 0 && !isUnsigned) ? 0.0 : 1.0, to,
                      RoundNearest);
  if (to == Type::F64)
    return writeFloat(integerToDouble(value, isUnsigned, rounding), to,
                      RoundNearest);
  if (to == Type::F32)
    return toBits(integerToFloat(value, isUnsigned, rounding));
  return writeFloat(toOdd(value, isUnsigned), to, rounding);
}

/// .relu, which leaves a NaN.
template <class T> T aboveZero(T value) { return value <= 0 ? T(0) : value; }

uint64_t convertFloat(const Instruction &at, uint64_t raw, Type from, Type to) {
  double value = readFloat(raw, from);
  if (at.flush && from == Type::F32)
    value = flushed(float(value));
  value = roundToInteger(value, at.offset);
  if (!isFloat(to))
    return floatToInteger(value, from, to);
  if (at.saturate)
    value = saturated(value);
  if (at.strong)
    value = aboveZero(value);
  uint64_t bits = writeFloat(value, to, static_cast<Rounding>(at.rounding));
  if (at.flush && to == Type::F32)
    bits = toBits(flushed(fromBits(bits)));
  return bits;
}

void convert(Warp &warp, const Instruction &at, Mask lanes) {
  Type from = typeAt(at.form), to = typeAt(at.form2);
  uint8_t *d = warp.reg<uint8_t>(at.op[0]);
  const uint8_t *a = warp.reg<uint8_t>(at.op[1]);
  bool fromFloat = isFloat(from), toFloat = isFloat(to);
  forEachLane(lanes, [&](unsigned lane) {
    uint64_t raw = readLane(a, at.vector, lane);
    uint64_t value = fromFloat ? convertFloat(at, raw, from, to)
                               : convertInteger(at, raw, from, to);
    // A narrow integer fills a wider register by its sign.
    if (!toFloat)
      value = extend(value, to);
    writeLane(d, at.bytes, lane, value);
  });
}

template <class D, class A>
void convertPlain(Warp &warp, const Instruction &at, Mask lanes) {
  D *d = warp.reg<D>(at.op[0]);
  const A *a = warp.reg<A>(at.op[1]);
  overLanes(lanes, [=](unsigned i) { d[i] = static_cast<D>(a[i]); });
}

/// The first source is the upper half.
template <bool kHalf>
void convertPair(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const float *high = warp.reg<float>(at.op[1]);
  const float *low = warp.reg<float>(at.op[2]);
  Rounding rounding = static_cast<Rounding>(at.rounding);
  auto narrow = [&](float value) -> uint32_t {
    value = at.strong ? aboveZero(value) : value;
    return kHalf ? toHalf(value, rounding) : toBFloat(value, rounding);
  };
  forEachLane(lanes, [&](unsigned i) {
    d[i] = narrow(high[i]) << 16 | narrow(low[i]);
  });
}

void convertTensorFloat(Warp &warp, const Instruction &at, Mask lanes) {
  uint32_t *d = warp.reg<uint32_t>(at.op[0]);
  const float *a = warp.reg<float>(at.op[1]);
  forEachLane(lanes, [&](unsigned i) { d[i] = toTensorFloat(a[i]); });
}

/// Conversions that address arithmetic and loops are full of.
Handler pickPlain(Type to, Type from) {
  if (to == Type::S64 && from == Type::S32)
    return &convertPlain<int64_t, int32_t>;
  if ((to == Type::U64 || to == Type::S64) && from == Type::U32)
    return &convertPlain<uint64_t, uint32_t>;
  if (isInteger(to) && isInteger(from) && bitsOf(to) == 32 &&
      bitsOf(from) == 64)
    return &convertPlain<uint32_t, uint64_t>;
  return nullptr;
}

} // namespace

/// What stands in front of the types.
namespace {
struct Modifiers {
  enum { Nearest, Zero, Down, Up, Away, WholeNearest, WholeUp = 8, None } round;
  bool relu, flush, saturate;

  bool isFloatRounding() const { return round <= Up; }
  bool isWhole() const { return round >= WholeNearest && round <= WholeUp; }
};
} // namespace

static bool narrows(Type to, Type from) {
  return bitsOf(to) < bitsOf(from) ||
         (bitsOf(to) == bitsOf(from) && to != from);
}

/// A float that loses bits is rounded as said; one that does not may become
/// whole; integers are never rounded.
static bool isRoundingLegal(const Modifiers &m, Type to, Type from) {
  if (!isFloat(from))
    return isFloat(to) ? m.isFloatRounding() : m.round == m.None;
  if (!isFloat(to))
    return m.isWhole();
  if (narrows(to, from))
    return m.isFloatRounding();
  return m.round == m.None || (to == from && m.isWhole());
}

static bool holdsAll(Type to, Type from) {
  return to == from ||
         (bitsOf(to) > bitsOf(from) && (isSigned(to) || !isSigned(from)));
}

/// Where a value may be out of range. A bf16 is never saturated.
static bool isSaturationLegal(Type to, Type from) {
  if (to == Type::BF16 || from == Type::BF16)
    return false;
  return isFloat(to) || isFloat(from) || !holdsAll(to, from);
}

static bool isLegal(const Modifiers &m, Type to, Type from) {
  if (m.relu)
    return from == Type::F32 && bitsOf(to) == 16 && isFloat(to) &&
           m.round <= m.Zero && !m.flush && !m.saturate;
  if (m.flush && to != Type::F32 && from != Type::F32)
    return false;
  if (m.saturate && !isSaturationLegal(to, from))
    return false;
  // A bf16 is made of, and makes, whole registers.
  if ((to == Type::BF16 && bitsOf(from) == 8) ||
      (from == Type::BF16 && bitsOf(to) == 8))
    return false;
  return isRoundingLegal(m, to, from);
}

static void buildPair(Form &form, Type to, const Modifiers &m) {
  if (m.round > m.Zero || m.flush || m.saturate)
    form.fail("expected .rn or .rz, and .relu or nothing else");
  form.code.run = to == Type::F16x2 ? &convertPair<true> : &convertPair<false>;
  form.dest(Type::B32);
  form.source(Type::F32);
  form.source(Type::F32);
}

static void buildTensorFloat(Form &form, const Modifiers &m) {
  if (m.round != m.Away || m.flush || m.saturate || m.relu)
    form.fail("expected cvt.rna.tf32.f32");
  form.code.run = &convertTensorFloat;
  form.dest(Type::B32);
  form.source(Type::F32);
}

static void buildPlain(Form &form, Type to, Type from) {
  bool exactTo = isFloat(to) || from == Type::BF16;
  bool exactFrom = isFloat(from) || to == Type::BF16;
  unsigned toBits = exactTo ? (form.dest(to), bitsOf(to)) : form.wideDest(to);
  unsigned fromBits =
      exactFrom ? (form.source(from), bitsOf(from)) : form.wideSource(from);
  form.code.form = static_cast<uint8_t>(from);
  form.code.form2 = static_cast<uint8_t>(to);
  form.code.bytes = toBits;
  form.code.vector = fromBits;
  form.code.run = &convert;
  bool exact = toBits == bitsOf(to) && fromBits == bitsOf(from);
  if (exact && !form.code.saturate)
    if (Handler plain = pickPlain(to, from))
      form.code.run = plain;
}

static Modifiers takeModifiers(Form &form) {
  Modifiers m;
  unsigned round = form.maybe(
      {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"}, m.None);
  m.round = static_cast<decltype(m.round)>(round);
  m.relu = m.round <= m.Zero && form.has("relu");
  m.flush = !m.relu && form.has("ftz");
  m.saturate = !m.relu && form.has("sat");
  form.code.rounding = m.isFloatRounding() ? round : unsigned(RoundNearest);
  form.code.offset = m.isWhole() ? round - m.WholeNearest + ToNearest : 0;
  form.code.flush = m.flush;
  form.code.saturate = m.saturate;
  form.code.strong = m.relu;
  return m;
}

static void buildConvert(Form &form) {
  static constexpr Type types[] = {
      Type::U8,  Type::U16, Type::U32,   Type::U64,    Type::S8,
      Type::S16, Type::S32, Type::S64,   Type::F16,    Type::BF16,
      Type::F32, Type::F64, Type::F16x2, Type::BF16x2, Type::TF32};
  Modifiers m = takeModifiers(form);
  Type to = form.type(types);
  bool fromFloat = isPair(to) || to == Type::TF32;
  Type from =
      form.type(fromFloat ? Types(Type::F32) : Types(types).drop_back(3));
  if (form.failed())
    return;
  if (to == Type::TF32)
    return buildTensorFloat(form, m);
  if (isPair(to))
    return buildPair(form, to, m);
  if (!isLegal(m, to, from))
    form.fail("expected another rounding or no such modifier");
  buildPlain(form, to, from);
}

void raytention::simt::addConvertOps(BuilderTable &table) {
  table["cvt"] = &buildConvert;
}
