//===- ConvertForms.cpp - models of conversions -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/FormCase.h"
#include "tests/simt/ModelMath.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

struct Flags {
  std::string rounding, to, from;
  bool relu = false, ftz = false, sat = false;
};

long double readFloat(const Flags &flags, uint64_t bits) {
  if (flags.from == "f16")
    return half(bits);
  if (flags.from == "bf16")
    return bfloat(bits);
  if (flags.from == "f64")
    return asDouble(bits);
  return flags.ftz ? flush(asFloat(bits)) : asFloat(bits);
}

/// .rni and so on: to a whole number; else to what the type holds.
uint64_t toFloat(const Flags &flags, long double v) {
  std::string rounding = flags.rounding.empty() ? "rn" : flags.rounding;
  if (rounding.size() == 3) {
    v = rounding == "rni"   ? std::rint(v)
        : rounding == "rzi" ? std::trunc(v)
        : rounding == "rmi" ? std::floor(v)
                            : std::ceil(v);
    rounding = "rn";
  }
  if (flags.sat)
    v = saturate(v);
  if (flags.relu && !std::isnan(v) && !(v > 0))
    v = 0;
  uint64_t bits = rounded(v, flags.to, rounding);
  // Where nothing is rounded a NaN may stay what it is.
  bool same = flags.to == flags.from || flags.to == "f32";
  if (std::isnan(v) && same && flags.to != "f64")
    return bits - 1;
  return flags.ftz && flags.to == "f32" ? bitsOf(flush(asFloat(bits))) : bits;
}

/// Out of range goes to the nearest end. A NaN goes to zero, or to the highest
/// bit where either type has 64 bits.
uint64_t floatToWhole(const Flags &flags, long double v) {
  int width = std::atoi(flags.to.c_str() + 1);
  if (std::isnan(v))
    return flags.from == "f64" || width == 64 ? uint64_t(1) << (width - 1) : 0;
  v = flags.rounding == "rni"   ? std::rint(v)
      : flags.rounding == "rzi" ? std::trunc(v)
      : flags.rounding == "rmi" ? std::floor(v)
                                : std::ceil(v);
  bool isSigned = flags.to[0] == 's';
  long double end = std::ldexp(1.0L, isSigned ? width - 1 : width);
  S128 most = (S128(1) << (isSigned ? width - 1 : width)) - 1;
  if (v >= end)
    return uint64_t(most);
  return uint64_t(v < (isSigned ? -end : 0) ? (isSigned ? -most - 1 : 0)
                                            : S128(v));
}

uint64_t wholeToWhole(const Flags &flags, S128 v) {
  int width = std::atoi(flags.to.c_str() + 1);
  if (!flags.sat)
    return uint64_t(v);
  bool isSigned = flags.to[0] == 's';
  S128 most = (S128(1) << (isSigned ? width - 1 : width)) - 1;
  return uint64_t(std::min(std::max(v, isSigned ? -most - 1 : S128(0)), most));
}

uint64_t convert(const Flags &flags, uint64_t bits) {
  bool fromFloat = isFloatType(flags.from), toIsFloat = isFloatType(flags.to);
  if (fromFloat && toIsFloat)
    return toFloat(flags, readFloat(flags, bits));
  if (toIsFloat)
    return toFloat(flags, (long double)wholeOf(bits, flags.from));
  uint64_t value = fromFloat ? floatToWhole(flags, readFloat(flags, bits))
                             : wholeToWhole(flags, wholeOf(bits, flags.from));
  // A wider register is filled by the sign of what it holds.
  return uint64_t(wholeOf(value, flags.to));
}

uint64_t toTensorFloat(uint64_t bits) {
  float value = asFloat(bits);
  return std::isnan(value)   ? 0x7FFFFFFF
         : std::isinf(value) ? bits
                             : (bits + 0x1000) & ~uint64_t(0x1FFF);
}

Check checkConvert(FormCase &form) {
  Flags flags;
  flags.rounding =
      form.takeAny({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
  flags.relu = form.take("relu");
  flags.ftz = form.take("ftz");
  flags.sat = form.take("sat");
  flags.to = form.takeType();
  flags.from = form.takeType();
  if (flags.from.empty())
    return {};
  bool pair = flags.to.size() > 4, tensor = flags.to == "tf32";
  if (pair)
    flags.to.resize(flags.to.size() - 2);
  return checkModel(form, [=](const uint64_t *in, uint64_t *out) {
    // The first source becomes the upper half.
    out[0] = tensor ? toTensorFloat(in[0])
             : pair ? convert(flags, in[0]) << 16 | convert(flags, in[1])
                    : convert(flags, in[0]);
  });
}

} // namespace

void raytention::simt::test::addConvertChecks(CheckTable &table) {
  table["cvt"] = &checkConvert;
}
