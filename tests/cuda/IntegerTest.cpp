//===- IntegerTest.cpp - integer arithmetic in CUDA C++ -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/cuda/Support.h"

#include <limits>

using namespace raytention::test;

namespace {

template <class T> std::vector<T> edgeValues() {
  using Limits = std::numeric_limits<T>;
  return {0,
          1,
          -1,
          2,
          -2,
          3,
          -3,
          7,
          -7,
          31,
          64,
          99,
          13,
          -64,
          Limits::max(),
          Limits::min(),
          Limits::max() - 1,
          Limits::min() + 1};
}

/// Sums of narrow integers are made in int.
template <class T> using Unsigned = std::make_unsigned_t<T>;
template <class T> T wrap(uint64_t value) { return T(Unsigned<T>(value)); }

template <class T> bool canDivide(T a, T b) {
  return b != 0 && !(a == std::numeric_limits<T>::min() && b == -1);
}
template <class T> bool isNonZero(T, T b) { return b != 0; }
template <class T> bool canShift(T, T b) {
  return b >= 0 && b < T(8 * sizeof(T));
}

template <class T> T floorDivide(T a, T b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
template <class T> T ceilDivide(T a, T b) {
  return a / b + (a % b != 0 && (a % b < 0) == (b < 0));
}

template <class T>
OpCase<T, T> binary(const std::string &op, const std::string &type,
                    std::function<T(T, T)> host,
                    std::function<bool(T, T)> isDefined = nullptr) {
  return {op, "  %r = arith." + op + " %a, %b : " + type,
          [host](T a, T b, T) { return host(a, b); }, isDefined};
}

template <class T>
std::vector<OpCase<T, T>> signedOps(const std::string &type) {
  auto op = [&](const char *name, std::function<T(T, T)> host,
                std::function<bool(T, T)> isDefined = nullptr) {
    return binary<T>(name, type, host, isDefined);
  };
  return {
      op(
          "divsi", [](T a, T b) { return T(a / b); }, canDivide<T>),
      op(
          "remsi", [](T a, T b) { return T(a % b); }, canDivide<T>),
      op("ceildivsi", ceilDivide<T>, canDivide<T>),
      op("floordivsi", floorDivide<T>, canDivide<T>),
      op("minsi", [](T a, T b) { return std::min(a, b); }),
      op("maxsi", [](T a, T b) { return std::max(a, b); }),
      op("andi", [](T a, T b) { return T(a & b); }),
      op("ori", [](T a, T b) { return T(a | b); }),
      op("xori", [](T a, T b) { return T(a ^ b); }),
      op(
          "shli", [](T a, T b) { return wrap<T>(Unsigned<T>(a) << b); },
          canShift<T>),
      op(
          "shrsi", [](T a, T b) { return T(a >> b); }, canShift<T>),
  };
}

template <class T>
std::vector<OpCase<T, T>> unsignedOps(const std::string &type) {
  using U = Unsigned<T>;
  auto op = [&](const char *name, std::function<U(U, U)> host,
                std::function<bool(T, T)> isDefined = nullptr) {
    return binary<T>(
        name, type, [host](T a, T b) { return T(host(U(a), U(b))); },
        isDefined);
  };
  return {
      op(
          "divui", [](U a, U b) { return U(a / b); }, isNonZero<T>),
      op(
          "remui", [](U a, U b) { return U(a % b); }, isNonZero<T>),
      op(
          "ceildivui", [](U a, U b) { return U(a / b + (a % b != 0)); },
          isNonZero<T>),
      op("minui", [](U a, U b) { return std::min(a, b); }),
      op("maxui", [](U a, U b) { return std::max(a, b); }),
      op(
          "shrui", [](U a, U b) { return U(a >> b); }, canShift<T>),
  };
}

template <class T>
std::vector<OpCase<T, T>> wrappingOps(const std::string &type) {
  return {
      binary<T>("addi", type,
                [](T a, T b) { return wrap<T>(uint64_t(a) + uint64_t(b)); }),
      binary<T>("subi", type,
                [](T a, T b) { return wrap<T>(uint64_t(a) - uint64_t(b)); }),
      binary<T>("muli", type,
                [](T a, T b) { return wrap<T>(uint64_t(a) * uint64_t(b)); }),
  };
}

template <class T> void checkIntegers(const std::string &type) {
  std::vector<OpCase<T, T>> ops = signedOps<T>(type);
  for (auto more : {unsignedOps<T>(type), wrappingOps<T>(type)})
    ops.insert(ops.end(), more.begin(), more.end());
  checkOps<T, T>(type, type, ops, edgeValues<T>(), sameBits<T>);
}

TEST(CudaIntegers, I8) {
  RT_NVRTC_OR_SKIP(compiler);
  checkIntegers<int8_t>("i8");
}
TEST(CudaIntegers, I32) {
  RT_NVRTC_OR_SKIP(compiler);
  checkIntegers<int32_t>("i32");
}
TEST(CudaIntegers, I64) {
  RT_NVRTC_OR_SKIP(compiler);
  checkIntegers<int64_t>("i64");
}

/// Sums of index are not asked to wrap around: they are sizes and positions.
TEST(CudaIntegers, Index) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<OpCase<int64_t, int64_t>> ops = signedOps<int64_t>("index");
  for (auto &op : unsignedOps<int64_t>("index"))
    ops.push_back(op);
  checkOps<int64_t, int64_t>("index", "index", ops, edgeValues<int64_t>(),
                             sameBits<int64_t>);
  checkOps<int64_t, int64_t>("index", "index", wrappingOps<int64_t>("index"),
                             {0, 1, -1, 5, -7, int64_t(1) << 30},
                             sameBits<int64_t>);
}

/// Overflow that is declared impossible leaves plain operators.
TEST(CudaIntegers, NoSignedWrap) {
  RT_NVRTC_OR_SKIP(compiler);
  std::vector<OpCase<int32_t, int32_t>> ops = {
      {"add", "  %r = arith.addi %a, %b overflow<nsw> : i32",
       [](int32_t a, int32_t b, int32_t) { return a + b; }},
      {"mul", "  %r = arith.muli %a, %b overflow<nsw> : i32",
       [](int32_t a, int32_t b, int32_t) { return a * b; }}};
  checkOps<int32_t, int32_t>("i32", "i32", ops, {0, 3, -5, 1000},
                             sameBits<int32_t>);
}

//===----------------------------------------------------------------------===//
// Comparisons and selects
//===----------------------------------------------------------------------===//

template <class T>
std::vector<OpCase<int32_t, T>> comparisons(const std::string &type) {
  using U = Unsigned<T>;
  std::vector<std::pair<std::string, std::function<bool(T, T)>>> predicates = {
      {"eq", [](T a, T b) { return a == b; }},
      {"ne", [](T a, T b) { return a != b; }},
      {"slt", [](T a, T b) { return a < b; }},
      {"sle", [](T a, T b) { return a <= b; }},
      {"sgt", [](T a, T b) { return a > b; }},
      {"sge", [](T a, T b) { return a >= b; }},
      {"ult", [](T a, T b) { return U(a) < U(b); }},
      {"ule", [](T a, T b) { return U(a) <= U(b); }},
      {"ugt", [](T a, T b) { return U(a) > U(b); }},
      {"uge", [](T a, T b) { return U(a) >= U(b); }}};
  std::vector<OpCase<int32_t, T>> ops;
  for (auto &[name, host] : predicates)
    ops.push_back({name,
                   "  %p = arith.cmpi " + name + ", %a, %b : " + type +
                       "\n  %r = arith.extui %p : i1 to i32",
                   [host = host](T a, T b, T) { return int32_t(host(a, b)); }});
  return ops;
}

template <class T> void checkComparisons(const std::string &type) {
  checkOps<int32_t, T>(type, "i32", comparisons<T>(type), edgeValues<T>(),
                       sameBits<int32_t>);
}

TEST(CudaIntegers, Comparisons) {
  RT_NVRTC_OR_SKIP(compiler);
  checkComparisons<int8_t>("i8");
  checkComparisons<int32_t>("i32");
  checkComparisons<int64_t>("i64");
  checkComparisons<int64_t>("index");
}

/// p = a < b, q = b < c.
OpCase<int32_t, int32_t> onBits(const std::string &name,
                                const std::string &body,
                                std::function<int32_t(bool, bool)> host) {
  return {
      name,
      "  %p = arith.cmpi slt, %a, %b : i32\n"
      "  %q = arith.cmpi slt, %b, %c : i32\n" +
          body,
      [host](int32_t a, int32_t b, int32_t c) { return host(a < b, b < c); }};
}

TEST(CudaIntegers, I1) {
  RT_NVRTC_OR_SKIP(compiler);
  const std::string widen = "\n  %r = arith.extui %s : i1 to i32";
  checkOps<int32_t, int32_t>(
      "i32", "i32",
      {onBits("both", "  %s = arith.andi %p, %q : i1" + widen,
              [](bool p, bool q) { return p && q; }),
       onBits("any", "  %s = arith.ori %p, %q : i1" + widen,
              [](bool p, bool q) { return p || q; }),
       onBits("odd", "  %s = arith.xori %p, %q : i1" + widen,
              [](bool p, bool q) { return p != q; }),
       onBits("same", "  %s = arith.cmpi eq, %p, %q : i1" + widen,
              [](bool p, bool q) { return p == q; }),
       onBits("below", "  %s = arith.cmpi ult, %p, %q : i1" + widen,
              [](bool p, bool q) { return p < q; }),
       onBits("choice", "  %s = arith.select %p, %q, %p : i1" + widen,
              [](bool p, bool q) { return p ? q : p; }),
       onBits("signed", "  %r = arith.extsi %p : i1 to i32",
              [](bool p, bool) { return -int32_t(p); }),
       onBits("signed_index",
              "  %s = arith.index_cast %p : i1 to index\n"
              "  %r = arith.index_cast %s : index to i32",
              [](bool p, bool) { return -int32_t(p); }),
       onBits("not",
              "  %true = arith.constant true\n"
              "  %s = arith.xori %p, %true : i1" +
                  widen,
              [](bool p, bool) { return !p; })},
      {-1, 0, 1}, sameBits<int32_t>);
}

/// Literals: their type, their sign, the least value.
TEST(CudaIntegers, Constants) {
  RT_NVRTC_OR_SKIP(compiler);
  auto op = [](const std::string &name, const std::string &constant,
               const std::string &expression,
               std::function<int64_t(int64_t)> host) {
    return OpCase<int64_t, int64_t>{
        name, "  %k = arith.constant " + constant + " : i64\n" + expression,
        [host](int64_t a, int64_t, int64_t) { return host(a); }};
  };
  const std::string least = "-9223372036854775808";
  const int64_t min = std::numeric_limits<int64_t>::min();
  checkOps<int64_t, int64_t>(
      "i64", "i64",
      {op("minus", "-3", "  %r = arith.subi %a, %k overflow<nsw> : i64",
          [](int64_t a) { return a + 3; }),
       op("from", "-3", "  %r = arith.subi %k, %a overflow<nsw> : i64",
          [](int64_t a) { return -3 - a; }),
       op("least", least, "  %r = arith.maxsi %k, %a : i64",
          [](int64_t a) { return a; }),
       op("least_only", least, "  %r = arith.minsi %k, %a : i64",
          [=](int64_t) { return min; }),
       op("least_bits", least, "  %r = arith.xori %k, %a : i64",
          [=](int64_t a) { return min ^ a; }),
       op("least_part", least, "  %r = arith.divui %k, %k : i64",
          [](int64_t) { return 1; }),
       // In 64 bits, as no operand says so.
       op("square", "65536", "  %r = arith.muli %k, %k overflow<nsw> : i64",
          [](int64_t) { return int64_t(1) << 32; }),
       op("shifted", "1",
          "  %s = arith.constant 40 : i64\n  %r = arith.shli %k, %s : i64",
          [](int64_t) { return int64_t(1) << 40; }),
       op("far", "-5",
          "  %m = arith.constant 63 : i64\n  %s = arith.andi %a, %m : i64\n"
          "  %r = arith.shrsi %k, %s : i64",
          [](int64_t a) { return int64_t(-5) >> (a & 63); }),
       op("top", "1",
          "  %s = arith.constant 40 : i64\n  %r = arith.maxsi %k, %s : i64",
          [](int64_t) { return 40; }),
       op("least32", "0",
          "  %m = arith.constant -2147483648 : i32\n"
          "  %r = arith.extsi %m : i32 to i64",
          [](int64_t) { return std::numeric_limits<int32_t>::min(); }),
       op("small", "0",
          "  %m = arith.constant -1 : i8\n  %r = arith.extui %m : i8 to i64",
          [](int64_t) { return 255; })},
      {0, 1, -1, 12345678901}, sameBits<int64_t>);
}

TEST(CudaIntegers, ConstantsOfI8) {
  RT_NVRTC_OR_SKIP(compiler);
  auto op = [](const std::string &name, std::function<int8_t(int8_t)> host) {
    return OpCase<int8_t, int8_t>{
        name,
        "  %k = arith.constant -3 : i8\n  %r = arith." + name + " %a, %k : i8",
        [host](int8_t a, int8_t, int8_t) { return host(a); }};
  };
  checkOps<int8_t, int8_t>(
      "i8", "i8",
      {op("ceildivsi", [](int8_t a) { return ceilDivide<int8_t>(a, -3); }),
       op("floordivsi", [](int8_t a) { return floorDivide<int8_t>(a, -3); }),
       op("divui", [](int8_t a) { return int8_t(uint8_t(a) / 253); }),
       op("maxui", [](int8_t a) { return int8_t(std::max<uint8_t>(a, 253)); }),
       op("minsi", [](int8_t a) { return std::min<int8_t>(a, -3); })},
      edgeValues<int8_t>(), sameBits<int8_t>);
}

} // namespace
