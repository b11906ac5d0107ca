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

/// Out of range goes to the nearest end; a NaN to zero.
uint64_t floatToInteger(double value, Type to) {
  unsigned bits = bitsOf(to);
  if (std::isnan(value))
    return isSigned(to) || bits < 64 ? 0 : uint64_t(1) << 63;
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

bool isFloat(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 ||
         type == Type::F64;
}

//===----------------------------------------------------------------------===//
// Handlers. form: from, form2: to, vector: bits of the source register,
// bytes: bits of the destination register, offset: rounding to an integer.
//===----------------------------------------------------------------------===//

uint64_t convertInteger(const Instruction &at, uint64_t raw, Type from,
                        Type to) {
  int64_t value = extend(raw, from);
  Rounding rounding = static_cast<Rounding>(at.rounding);
  if (!isFloat(to))
    return at.saturate ? clampInteger(value, from, to) : uint64_t(value);
  bool isUnsigned = !isSigned(from);
  if (to == Type::F64)
    return writeFloat(integerToDouble(value, isUnsigned, rounding), to,
                      RoundNearest);
  if (to == Type::F32)
    return toBits(integerToFloat(value, isUnsigned, rounding));
  // Far beyond the range of a half; a bfloat sees 53 bits of it.
  return writeFloat(isUnsigned ? double(uint64_t(value)) : double(value), to,
                    rounding);
}

uint64_t convertFloat(const Instruction &at, uint64_t raw, Type from, Type to) {
  double value = readFloat(raw, from);
  if (at.flush && from == Type::F32)
    value = flushed(float(value));
  value = roundToInteger(value, at.offset);
  if (!isFloat(to))
    return floatToInteger(value, to);
  if (at.saturate)
    value = saturated(value);
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
    if (at.form && value < 0) // .relu
      value = 0;
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
  if (bitsOf(to) == 32 && bitsOf(from) == 64)
    return &convertPlain<uint32_t, uint64_t>;
  return nullptr;
}

} // namespace

static void buildPair(Form &form, Type to) {
  form.code.form = form.has("relu");
  form.oneOf({"f32"});
  form.code.run = to == Type::F16x2 ? &convertPair<true> : &convertPair<false>;
  form.dest(Type::B32);
  form.source(Type::F32);
  form.source(Type::F32);
}

static void takeRounding(Form &form, Type &to, Type &from) {
  bool away = form.has("rna");
  unsigned whole = form.maybe({"rni", "rzi", "rmi", "rpi"}, 4);
  form.code.offset = whole == 4 ? 0 : whole + 1;
  form.code.rounding = away ? RoundAway : form.rounding();
  form.code.flush = form.has("ftz");
  form.code.saturate = form.has("sat");
  to = form.type();
  if (to == Type::F16x2 || to == Type::BF16x2)
    return;
  form.has("relu");
  from = form.type();
}

static void buildConvert(Form &form) {
  Type to = Type::None, from = Type::None;
  takeRounding(form, to, from);
  if (form.failed())
    return;
  if (to == Type::F16x2 || to == Type::BF16x2)
    return buildPair(form, to);
  if (to == Type::TF32) {
    if (from != Type::F32 || form.code.rounding != RoundAway)
      form.fail("expected cvt.rna.tf32.f32");
    form.code.run = &convertTensorFloat;
    form.dest(Type::B32);
    return form.source(Type::F32);
  }
  bool known = (isFloat(to) || (isInteger(to) && to >= Type::U8)) &&
               (isFloat(from) || (isInteger(from) && from >= Type::U8));
  if (!known)
    return form.fail("expected other types");
  unsigned toBits =
      isFloat(to) ? (form.dest(to), bitsOf(to)) : form.wideDest(to);
  unsigned fromBits =
      isFloat(from) ? (form.source(from), bitsOf(from)) : form.wideSource(from);
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

void raytention::simt::addConvertOps(BuilderTable &table) {
  table["cvt"] = &buildConvert;
}
