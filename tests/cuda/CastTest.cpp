//===- CastTest.cpp - conversions in CUDA C++ -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/cuda/Support.h"

#include <cmath>
#include <limits>

using namespace raytention::test;

namespace {

template <class T> std::vector<T> integers() {
  using Limits = std::numeric_limits<T>;
  return {0, 1, -1, 5, -77, 127, -128, Limits::max(), Limits::min()};
}

template <class R, class T>
OpCase<R, T> convert(const std::string &op, const std::string &from,
                     const std::string &to, std::function<R(T)> host) {
  return {op, "  %r = arith." + op + " %a : " + from + " to " + to,
          [host](T a, T, T) { return host(a); }};
}

TEST(CudaCasts, Widen) {
  RT_NVRTC_OR_SKIP(compiler);
  checkOps<int32_t, int8_t>(
      "i8", "i32",
      {convert<int32_t, int8_t>("extsi", "i8", "i32",
                                [](int8_t a) { return a; }),
       convert<int32_t, int8_t>("extui", "i8", "i32",
                                [](int8_t a) { return uint8_t(a); })},
      integers<int8_t>(), sameBits<int32_t>);
  checkOps<int64_t, int32_t>(
      "i32", "i64",
      {convert<int64_t, int32_t>("extsi", "i32", "i64",
                                 [](int32_t a) { return a; }),
       convert<int64_t, int32_t>("extui", "i32", "i64",
                                 [](int32_t a) { return uint32_t(a); })},
      integers<int32_t>(), sameBits<int64_t>);
  checkOps<int64_t, int32_t>(
      "i32", "index",
      {convert<int64_t, int32_t>("index_cast", "i32", "index",
                                 [](int32_t a) { return a; }),
       convert<int64_t, int32_t>("index_castui", "i32", "index",
                                 [](int32_t a) { return uint32_t(a); })},
      integers<int32_t>(), sameBits<int64_t>);
}

TEST(CudaCasts, Narrow) {
  RT_NVRTC_OR_SKIP(compiler);
  checkOps<int32_t, int64_t>(
      "i64", "i32",
      {convert<int32_t, int64_t>("trunci", "i64", "i32",
                                 [](int64_t a) { return int32_t(a); }),
       {"bit",
        "  %s = arith.trunci %a : i64 to i1\n"
        "  %r = arith.extui %s : i1 to i32",
        [](int64_t a, int64_t, int64_t) { return int32_t(a & 1); }}},
      integers<int64_t>(), sameBits<int32_t>);
  checkOps<int8_t, int64_t>(
      "index", "i8",
      {convert<int8_t, int64_t>("index_cast", "index", "i8",
                                [](int64_t a) { return int8_t(a); }),
       convert<int8_t, int64_t>("index_castui", "index", "i8",
                                [](int64_t a) { return int8_t(a); })},
      integers<int64_t>(), sameBits<int8_t>);
  checkOps<int64_t, int64_t>(
      "i64", "index",
      {convert<int64_t, int64_t>("index_cast", "i64", "index",
                                 [](int64_t a) { return a; })},
      integers<int64_t>(), sameBits<int64_t>);
}

template <class F> void checkToFloat(const std::string &type) {
  checkOps<F, int8_t>(
      "i8", type,
      {convert<F, int8_t>("sitofp", "i8", type, [](int8_t a) { return F(a); }),
       convert<F, int8_t>("uitofp", "i8", type,
                          [](int8_t a) { return F(uint8_t(a)); })},
      integers<int8_t>(), sameBits<F>);
  checkOps<F, int64_t>(
      "i64", type,
      {convert<F, int64_t>("sitofp", "i64", type,
                           [](int64_t a) { return F(a); }),
       convert<F, int64_t>("uitofp", "i64", type,
                           [](int64_t a) { return F(uint64_t(a)); })},
      integers<int64_t>(), sameBits<F>);
  checkOps<F, int32_t>(
      "i32", type,
      {convert<F, int32_t>("sitofp", "i32", type,
                           [](int32_t a) { return F(a); }),
       convert<F, int32_t>("uitofp", "i32", type,
                           [](int32_t a) { return F(uint32_t(a)); }),
       {"bit",
        "  %s = arith.trunci %a : i32 to i1\n  %r = arith.uitofp %s : i1 to " +
            type,
        [](int32_t a, int32_t, int32_t) { return F(a & 1); }}},
      integers<int32_t>(), sameBits<F>);
}

TEST(CudaCasts, IntegersToFloats) {
  RT_NVRTC_OR_SKIP(compiler);
  checkToFloat<float>("f32");
  checkToFloat<double>("f64");
}

template <class F> void checkToInteger(const std::string &type) {
  std::vector<F> values = {0, F(-0.0), 1.5, -1.5, F(0.999), -127, 100};
  checkOps<int8_t, F>(
      type, "i8",
      {convert<int8_t, F>("fptosi", type, "i8", [](F a) { return int8_t(a); })},
      values, sameBits<int8_t>);
  checkOps<int32_t, F>(type, "i32",
                       {convert<int32_t, F>("fptosi", type, "i32",
                                            [](F a) { return int32_t(a); })},
                       values, sameBits<int32_t>);
  values.push_back(F(-4e12));
  checkOps<int64_t, F>(type, "i64",
                       {convert<int64_t, F>("fptosi", type, "i64",
                                            [](F a) { return int64_t(a); })},
                       values, sameBits<int64_t>);
  checkOps<int32_t, F>(
      type, "i32",
      {convert<int32_t, F>("fptoui", type, "i32",
                           [](F a) { return int32_t(uint32_t(a)); })},
      {0, 1.5, F(4294967040.0)}, sameBits<int32_t>);
}

TEST(CudaCasts, FloatsToIntegers) {
  RT_NVRTC_OR_SKIP(compiler);
  checkToInteger<float>("f32");
  checkToInteger<double>("f64");
}

template <class To, class From> To bitsAs(From value) {
  To bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

TEST(CudaCasts, Bits) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<int32_t> words = {0, -1, 0x7fc00001, 0x3f800000, int(0x80000000)};
  checkOps<float, int32_t>("i32", "f32",
                           {convert<float, int32_t>("bitcast", "i32", "f32",
                                                    bitsAs<float, int32_t>)},
                           words, sameBits<float>);
  checkOps<int32_t, float>("f32", "i32",
                           {convert<int32_t, float>("bitcast", "f32", "i32",
                                                    bitsAs<int32_t, float>)},
                           {0.0f, -0.0f, 1.5f, INFINITY}, sameBits<int32_t>);
  checkOps<int64_t, double>("f64", "i64",
                            {convert<int64_t, double>("bitcast", "f64", "i64",
                                                      bitsAs<int64_t, double>)},
                            {0.0, -0.0, 1.5, INFINITY}, sameBits<int64_t>);
  checkOps<double, int64_t>("i64", "f64",
                            {convert<double, int64_t>("bitcast", "i64", "f64",
                                                      bitsAs<double, int64_t>)},
                            {0, -1, int64_t(0x3ff8000000000000)},
                            sameBits<double>);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

TEST(CudaCasts, BetweenF32AndF64) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<double> wide = {0.0,
                              -0.0,
                              1.0 / 3,
                              1e300,
                              -1e300,
                              1e-320,
                              1e-45,
                              7e-46,
                              NAN,
                              INFINITY,
                              1 + std::ldexp(1.0, -24),
                              1 + std::ldexp(3.0, -25)};
  checkOps<float, double>(
      "f64", "f32",
      {convert<float, double>("truncf", "f64", "f32",
                              [](double a) { return float(a); })},
      wide, sameBits<float>);
  checkOps<double, float>(
      "f32", "f64",
      {convert<double, float>("extf", "f32", "f64",
                              [](float a) { return double(a); })},
      {0.0f, -0.0f, 0.1f, 1e-45f, INFINITY, NAN}, sameBits<double>);
}

/// Rounded to nearest, ties to even, in exact arithmetic.
uint16_t toBf16(double value) {
  if (value != value)
    return 0x7fc0;
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude))
    return sign | 0x7f80;
  int exponent = magnitude == 0 ? -126 : std::max(std::ilogb(magnitude), -126);
  // 8 bits of precision: in units of the last one.
  double units = std::nearbyint(std::ldexp(magnitude, 7 - exponent));
  int bits = ((exponent + 127) << 7) + int(units) - 128;
  return sign | uint16_t(std::min(bits, 0x7f80));
}

float fromBf16(uint16_t bits) { return bitsAs<float>(uint32_t(bits) << 16); }

bool sameBf16(uint16_t a, uint16_t b) {
  bool bothNaN = std::isnan(fromBf16(a)) && std::isnan(fromBf16(b));
  return bothNaN || a == b;
}

std::vector<float> bf16Halfways() {
  std::vector<float> values = {0.0f,        -0.0f,        1.0f,     1.00390625f,
                               1.01171875f, -1.00390625f, 3.4e38f,  -3.4e38f,
                               1e-40f,      -1e-45f,      9.2e-41f, INFINITY,
                               -INFINITY,   NAN};
  for (uint32_t bits : {0x7f800001u, 0xffbfffffu, 0x3f808000u, 0x3f818000u,
                        0x3f808001u, 0x3f807fffu, 0x7f7f7fffu, 0x7f7f8000u,
                        0x00008000u, 0x00018000u, 0x007fffffu})
    values.push_back(bitsAs<float>(bits));
  return values;
}

TEST(CudaCasts, F32ToBf16) {
  RT_NVRTC_OR_SKIP(compiler);
  checkOps<uint16_t, float>(
      "f32", "bf16",
      {convert<uint16_t, float>("truncf", "f32", "bf16",
                                [](float a) { return toBf16(a); })},
      bf16Halfways(), sameBf16);
}

/// Values that rounding to f32 first would put on a tie.
TEST(CudaCasts, F64ToBf16) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<double> values = {1e300, -1e300, 1e-300, -1e-300, 1e-40};
  for (float value : bf16Halfways()) {
    values.push_back(value);
    values.push_back(std::nextafter(double(value), 1e300));
    values.push_back(std::nextafter(double(value), -1e300));
  }
  checkOps<uint16_t, double>(
      "f64", "bf16",
      {convert<uint16_t, double>("truncf", "f64", "bf16", toBf16)}, values,
      sameBf16);
}

TEST(CudaCasts, FromBf16) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<uint16_t> values = {0,      0x8000, 0x3f80, 0x7f80, 0xff80,
                                  0x7fc0, 0x0001, 0x807f, 0x4049};
  checkOps<float, uint16_t>(
      "bf16", "f32",
      {convert<float, uint16_t>("extf", "bf16", "f32", fromBf16)}, values,
      sameBits<float>);
  checkOps<double, uint16_t>(
      "bf16", "f64",
      {convert<double, uint16_t>("extf", "bf16", "f64", fromBf16)}, values,
      sameBits<double>);
}

TEST(CudaCasts, ChoosesAndStoresBf16) {
  RT_NVRTC_OR_SKIP(compiler);
  const std::string body = R"(
  %k = arith.constant -1.5 : bf16
  %x = arith.extf %a : bf16 to f32
  %zero = arith.constant 0.0 : f32
  %p = arith.cmpf olt, %x, %zero : f32
  %r = arith.select %p, %k, %b : bf16)";
  checkOps<uint16_t, uint16_t>("bf16", "bf16",
                               {{"choose", body,
                                 [](uint16_t a, uint16_t b, uint16_t) {
                                   return fromBf16(a) < 0 ? toBf16(-1.5) : b;
                                 }}},
                               {0, 0x8000, 0x3f80, 0xbf80, 0x4049},
                               sameBits<uint16_t>);
}

} // namespace
