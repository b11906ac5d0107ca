//===- FloatForms.cpp - models of float instructions ------------*- C++ -*-===//
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

/// What a mnemonic says beside its type.
struct Flags {
  std::string op, rounding, property;
  bool approximate = false, ftz = false, sat = false, relu = false, nan = false;
};

Flags takeFlags(FormCase &form) {
  Flags flags;
  flags.op = form.parts[0];
  flags.approximate = !form.takeAny({"approx", "full"}).empty();
  flags.rounding = form.takeAny({"rn", "rz", "rm", "rp"});
  flags.ftz = form.take("ftz");
  flags.nan = form.take("NaN");
  flags.sat = form.take("sat");
  flags.relu = form.take("relu");
  return flags;
}

/// A number wins over a NaN unless .NaN says otherwise; -0 is below +0.
template <class T> T extreme(const Flags &flags, T a, T b) {
  bool least = flags.op == "min";
  if (std::isnan(a) || std::isnan(b)) {
    bool both = std::isnan(a) && std::isnan(b);
    return flags.nan || both ? T(NAN) : std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) == least ? a : b;
  return least ? std::min(a, b) : std::max(a, b);
}

/// One operation in the host's rounding mode; T is float, double or Exact.
template <class T> T arithmetic(const std::string &op, T a, T b, T c) {
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  return a / b;
}

template <class T> T functionOf(const std::string &op, T a) {
  double x = a;
  return op == "rcp"     ? T(1) / a
         : op == "sqrt"  ? std::sqrt(a)
         : op == "rsqrt" ? T(1 / std::sqrt(x))
         : op == "ex2"   ? T(std::exp2(x))
         : op == "lg2"   ? T(std::log2(x))
         : op == "sin"   ? T(std::sin(x))
         : op == "cos"   ? T(std::cos(x))
         : op == "tanh"  ? T(std::tanh(x))
         : op == "neg"   ? -a
                         : std::fabs(a);
}

template <class T> T wideResult(const Flags &flags, T a, T b, T c) {
  const std::string &op = flags.op;
  if (op == "min" || op == "max")
    return extreme(flags, a, b);
  if (op == "copysign")
    return std::copysign(b, a);
  if (op == "fma" || op == "mad")
    return std::fma(a, b, c);
  bool two = op == "add" || op == "sub" || op == "mul" || op == "div";
  return two ? arithmetic(op, a, b, c) : functionOf(op, a);
}

/// volatile keeps the operation between the changes of the mode.
template <class T> T modelOf(const Flags &flags, T a, T b, T c) {
  volatile T x = flags.ftz ? flush(a) : a, y = flags.ftz ? flush(b) : b,
             z = flags.ftz ? flush(c) : c;
  std::fesetround(modeOf(flags.rounding));
  volatile T result = wideResult<T>(flags, x, y, z);
  std::fesetround(FE_TONEAREST);
  T kept = flags.ftz ? flush(T(result)) : T(result);
  return flags.sat ? saturate(kept) : kept;
}

/// The NaN of min and max is canonical.
uint64_t singleModel(const Flags &flags, const uint64_t *in) {
  float value = modelOf(flags, asFloat(in[0]), asFloat(in[1]), asFloat(in[2]));
  bool canonical = flags.op == "min" || flags.op == "max";
  return canonical && std::isnan(value) ? 0x7FFFFFFF : bitsOf(value);
}

uint64_t doubleModel(const Flags &flags, const uint64_t *in) {
  return bitsOf(
      modelOf(flags, asDouble(in[0]), asDouble(in[1]), asDouble(in[2])));
}

/// Exact, and rounded once.
uint64_t smallModel(const Flags &flags, bool isHalf, uint64_t a, uint64_t b,
                    uint64_t c) {
  uint64_t exponent = isHalf ? 0x7C00 : 0x7F80;
  auto read = [&](uint64_t bits) {
    double value = isHalf ? half(bits) : bfloat(bits);
    return flags.ftz && !(bits & exponent) ? std::copysign(0.0, value) : value;
  };
  double x = read(a), y = read(b), z = read(c);
  const std::string &op = flags.op;
  Exact exact = op == "add"                  ? Exact(x) + y
                : op == "sub"                ? Exact(x) - y
                : op == "mul"                ? Exact(x) * y
                : op == "fma"                ? Exact(x) * y + z
                : op == "min" || op == "max" ? Exact(extreme(flags, x, y))
                                             : Exact(functionOf(op, x));
  if (flags.sat)
    exact = exact != exact || exact < 0 ? 0 : exact > 1 ? 1 : exact;
  uint64_t bits = isHalf ? toHalf(exact) : toBFloat(exact);
  // A negation of a NaN is any NaN.
  if (bits == 0x7FFF && (op == "neg" || op == "abs"))
    bits = 0x7FFE;
  if (flags.relu && bits & 0x8000)
    bits = 0;
  return flags.ftz && !(bits & exponent) ? bits & 0x8000 : bits;
}

uint64_t pairModel(const Flags &flags, bool isHalf, const uint64_t *in) {
  uint64_t low =
      smallModel(flags, isHalf, in[0] & 0xFFFF, in[1] & 0xFFFF, in[2] & 0xFFFF);
  uint64_t high = smallModel(flags, isHalf, in[0] >> 16 & 0xFFFF,
                             in[1] >> 16 & 0xFFFF, in[2] >> 16 & 0xFFFF);
  return low | high << 16;
}

/// Those of f64 are good to 20 bits, those of 16 bits to a unit or two.
double toleranceOf(const Flags &flags, const std::string &type) {
  if (!flags.approximate)
    return 0;
  return type == "f32" ? 1e-6 : type == "f64" ? 2e-6 : 1.0 / 100;
}

uint64_t valueModel(const Flags &flags, const std::string &type,
                    const uint64_t *in) {
  return type == "f32"    ? singleModel(flags, in)
         : type == "f64"  ? doubleModel(flags, in)
         : type == "f16"  ? smallModel(flags, true, in[0], in[1], in[2])
         : type == "bf16" ? smallModel(flags, false, in[0], in[1], in[2])
                          : pairModel(flags, type == "f16x2", in);
}

Check checkProperty(FormCase &form) {
  std::string what = form.takeAny(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  std::string type = form.takeType();
  return checkModel(form, [=](const uint64_t *in, uint64_t *out) {
    double v = type == "f32" ? asFloat(in[0]) : asDouble(in[0]);
    bool subnormal = type == "f32"
                         ? std::fpclassify(asFloat(in[0])) == FP_SUBNORMAL
                         : std::fpclassify(v) == FP_SUBNORMAL;
    // A zero counts as normal.
    out[0] = what == "finite"       ? std::isfinite(v)
             : what == "infinite"   ? std::isinf(v)
             : what == "number"     ? !std::isnan(v)
             : what == "notanumber" ? std::isnan(v)
             : what == "subnormal"  ? subnormal
                                    : std::isfinite(v) && !subnormal;
  });
}

} // namespace

Check raytention::simt::test::checkFloat(FormCase &form) {
  Flags flags = takeFlags(form);
  std::string type = form.takeType();
  if (type.empty())
    return {};
  return checkModel(
      form,
      [=](const uint64_t *in, uint64_t *out) {
        out[0] = valueModel(flags, type, in);
      },
      toleranceOf(flags, type));
}

void raytention::simt::test::addFloatChecks(CheckTable &table) {
  for (const char *family : {"fma", "copysign", "sqrt", "rcp", "rsqrt", "ex2",
                             "lg2", "sin", "cos", "tanh"})
    table[family] = &checkFloat;
  table["testp"] = &checkProperty;
}
