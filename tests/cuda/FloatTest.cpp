//===- FloatTest.cpp - float arithmetic in CUDA C++ -----------------------===//
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

template <class T> std::vector<T> edgeValues() {
  using Limits = std::numeric_limits<T>;
  return {T(0),
          T(-0.0),
          1,
          -1,
          T(0.1),
          T(-2.5),
          3,
          T(1e30),
          T(-1e-30),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          Limits::denorm_min(),
          -Limits::denorm_min(),
          Limits::min() / 2,
          Limits::max(),
          Limits::lowest(),
          Limits::epsilon()};
}

template <class T> std::string typeName() {
  return sizeof(T) == 4 ? "f32" : "f64";
}

template <class T>
OpCase<T, T> binary(const std::string &op, std::function<T(T, T)> host) {
  return {op, "  %r = " + op + " %a, %b : " + typeName<T>(),
          [host](T a, T b, T) { return host(a, b); }};
}

/// The op's name as that of its kernel: arith.addf is addf.
template <class R, class T>
std::vector<OpCase<R, T>> named(std::vector<OpCase<R, T>> ops) {
  for (auto &op : ops)
    op.name = op.name.substr(op.name.find('.') + 1);
  return ops;
}

template <class T> T maximum(T a, T b) {
  if (a != a || b != b)
    return std::numeric_limits<T>::quiet_NaN();
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T> void checkArithmetic() {
  std::vector<OpCase<T, T>> ops = {
      binary<T>("arith.addf", [](T a, T b) { return a + b; }),
      binary<T>("arith.subf", [](T a, T b) { return a - b; }),
      binary<T>("arith.mulf", [](T a, T b) { return a * b; }),
      binary<T>("arith.divf", [](T a, T b) { return a / b; }),
      binary<T>("arith.maximumf", maximum<T>),
      binary<T>("arith.minimumf", [](T a, T b) { return -maximum(-a, -b); }),
      {"arith.negf", "  %r = arith.negf %a : " + typeName<T>(),
       [](T a, T, T) { return -a; }},
      {"math.fma", "  %r = math.fma %a, %b, %c : " + typeName<T>(),
       [](T a, T b, T c) { return std::fma(a, b, c); }},
      // Rounded twice, also where a fused form is at hand.
      {"twice",
       "  %p = arith.mulf %a, %b : " + typeName<T>() +
           "\n  %r = arith.addf %p, %c : " + typeName<T>(),
       [](T a, T b, T c) {
         volatile T product = a * b;
         return product + c;
       }}};
  checkOps<T, T>(typeName<T>(), typeName<T>(), named(ops), edgeValues<T>(),
                 sameBits<T>);
}

TEST(CudaFloats, ArithmeticOfF32) {
  RT_NVRTC_OR_SKIP(compiler);
  checkArithmetic<float>();
}
TEST(CudaFloats, ArithmeticOfF64) {
  RT_NVRTC_OR_SKIP(compiler);
  checkArithmetic<double>();
}

/// A number wins over a NaN; which zero wins is left open.
template <class T> void checkNumbers() {
  std::vector<OpCase<T, T>> ops = {
      binary<T>("arith.maxnumf", [](T a, T b) { return std::fmax(a, b); }),
      binary<T>("arith.minnumf", [](T a, T b) { return std::fmin(a, b); })};
  checkOps<T, T>(typeName<T>(), typeName<T>(), named(ops), edgeValues<T>(),
                 [](T a, T b) { return (a != a && b != b) || a == b; });
}

TEST(CudaFloats, MinAndMaxOfNumbers) {
  RT_NVRTC_OR_SKIP(compiler);
  checkNumbers<float>();
  checkNumbers<double>();
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

template <class T> void checkComparisons() {
  auto isNaN = [](T a, T b) { return a != a || b != b; };
  std::vector<std::pair<std::string, std::function<bool(T, T)>>> predicates = {
      {"false", [](T, T) { return false; }},
      {"oeq", [](T a, T b) { return a == b; }},
      {"ogt", [](T a, T b) { return a > b; }},
      {"oge", [](T a, T b) { return a >= b; }},
      {"olt", [](T a, T b) { return a < b; }},
      {"ole", [](T a, T b) { return a <= b; }},
      {"one", [=](T a, T b) { return !isNaN(a, b) && a != b; }},
      {"ord", [=](T a, T b) { return !isNaN(a, b); }},
      {"ueq", [=](T a, T b) { return isNaN(a, b) || a == b; }},
      {"ugt", [=](T a, T b) { return isNaN(a, b) || a > b; }},
      {"uge", [=](T a, T b) { return isNaN(a, b) || a >= b; }},
      {"ult", [=](T a, T b) { return isNaN(a, b) || a < b; }},
      {"ule", [=](T a, T b) { return isNaN(a, b) || a <= b; }},
      {"une", [](T a, T b) { return a != b; }},
      {"uno", [=](T a, T b) { return isNaN(a, b); }},
      {"true", [](T, T) { return true; }}};
  std::vector<OpCase<int32_t, T>> ops;
  for (auto &[name, host] : predicates)
    ops.push_back({"is_" + name,
                   "  %p = arith.cmpf " + name + ", %a, %b : " + typeName<T>() +
                       "\n  %r = arith.extui %p : i1 to i32",
                   [host = host](T a, T b, T) { return int32_t(host(a, b)); }});
  checkOps<int32_t, T>(typeName<T>(), "i32", ops, edgeValues<T>(),
                       sameBits<int32_t>);
}

TEST(CudaFloats, ComparisonsOfF32) {
  RT_NVRTC_OR_SKIP(compiler);
  checkComparisons<float>();
}
TEST(CudaFloats, ComparisonsOfF64) {
  RT_NVRTC_OR_SKIP(compiler);
  checkComparisons<double>();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// How many floats lie between the two; 0 and -0 are the same.
template <class T> double distanceInUlps(T a, T b) {
  if ((a != a && b != b) || a == b)
    return 0;
  if (std::isinf(a) || std::isinf(b) || a != a || b != b)
    return 1e9;
  T unit = std::nextafter(std::fabs(b), std::numeric_limits<T>::infinity()) -
           std::fabs(b);
  return std::fabs(a - b) / unit;
}

template <class T>
OpCase<T, T> function(const std::string &op, std::function<T(T)> host) {
  return {op, "  %r = " + op + " %a : " + typeName<T>(),
          [host](T a, T, T) { return host(a); }};
}

template <class T> std::vector<OpCase<T, T>> exactFunctions() {
  return {function<T>("math.absf", [](T a) { return std::fabs(a); }),
          function<T>("math.floor", [](T a) { return std::floor(a); }),
          function<T>("math.ceil", [](T a) { return std::ceil(a); }),
          function<T>("math.sqrt", [](T a) { return std::sqrt(a); })};
}

/// The host's of f32 are those of f64, rounded.
template <class T> std::vector<OpCase<T, T>> closeFunctions() {
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  return {
      function<T>("math.exp", [](T a) { return T(std::exp(Wide(a))); }),
      function<T>("math.exp2", [](T a) { return T(std::exp2(Wide(a))); }),
      function<T>("math.log", [](T a) { return T(std::log(Wide(a))); }),
      function<T>("math.log2", [](T a) { return T(std::log2(Wide(a))); }),
      function<T>("math.rsqrt", [](T a) { return T(1 / std::sqrt(Wide(a))); }),
      function<T>("math.tanh", [](T a) { return T(std::tanh(Wide(a))); })};
}

template <class T> std::vector<T> manyValues() {
  std::vector<T> values = edgeValues<T>();
  for (T x : {-104.0, -88.1, -87.3, -20.7, -0.6931, -1e-6, 1e-4, 0.3, 0.5,
              0.99999, 1.00001, 2.71828, 10.0, 88.7, 127.5, 300.25, 1e5})
    values.push_back(x);
  return values;
}

template <class T> void checkFunctions() {
  checkOps<T, T>(typeName<T>(), typeName<T>(), named(exactFunctions<T>()),
                 manyValues<T>(), sameBits<T>);
  // The CUDA guide's bounds for full-precision functions are 1 and 2.
  checkOps<T, T>(typeName<T>(), typeName<T>(), named(closeFunctions<T>()),
                 manyValues<T>(),
                 [](T a, T b) { return distanceInUlps(a, b) <= 2.5; });
}

TEST(CudaFloats, FunctionsOfF32) {
  RT_NVRTC_OR_SKIP(compiler);
  checkFunctions<float>();
}
TEST(CudaFloats, FunctionsOfF64) {
  RT_NVRTC_OR_SKIP(compiler);
  checkFunctions<double>();
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Every literal is the constant, bit by bit.
template <class T> void checkConstants() {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  std::vector<T> values = manyValues<T>();
  values.push_back(T(1) / 3);
  values.push_back(-std::numeric_limits<T>::quiet_NaN());
  std::vector<OpCase<T, T>> ops;
  for (size_t i = 0; i < values.size(); ++i) {
    Bits bits;
    std::memcpy(&bits, &values[i], sizeof(bits));
    ops.push_back({"constant" + std::to_string(i),
                   "  %r = arith.constant 0x" + llvm::utohexstr(bits) + " : " +
                       typeName<T>(),
                   [x = values[i]](T, T, T) { return x; }});
  }
  checkOps<T, T>(typeName<T>(), typeName<T>(), ops, {T(0)},
                 [](T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; });
}

TEST(CudaFloats, Constants) {
  RT_NVRTC_OR_SKIP(compiler);
  checkConstants<float>();
  checkConstants<double>();
}

/// Signs of literals beside those of operators.
TEST(CudaFloats, NegativeConstants) {
  RT_NVRTC_OR_SKIP(compiler);
  const std::string k = "  %k = arith.constant -2.5 : f32\n";
  checkOps<float, float>("f32", "f32",
                         {{"minus", k + "  %r = arith.subf %a, %k : f32",
                           [](float a, float, float) { return a + 2.5f; }},
                          {"negative", k + "  %r = arith.negf %k : f32",
                           [](float, float, float) { return 2.5f; }},
                          {"inverse", k + "  %r = arith.divf %k, %a : f32",
                           [](float a, float, float) { return -2.5f / a; }}},
                         {1.0f, -0.0f, 7.5f}, sameBits<float>);
}

} // namespace
