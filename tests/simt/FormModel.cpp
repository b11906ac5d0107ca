//===- FormModel.cpp - forms over edge values -------------------*- C++ -*-===//
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

static std::vector<uint64_t> doubleEdges() {
  std::vector<uint64_t> values;
  for (double v : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 1.0 / 3, 1e300, -1e300,
                   4294967295.5, -2147483648.75, 9.3e18, 1e-310, 65520.0,
                   3.4e38, 1.0000001})
    values.push_back(bitsOf(v));
  for (uint64_t bits : std::initializer_list<uint64_t>{
           0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
           0x7FEFFFFFFFFFFFFF, 0x000FFFFFFFFFFFFF, 0x43E0000000000000})
    values.push_back(bits);
  return values;
}

/// Of 16 bits: zeros, ones, infinities, a NaN, subnormals, the largest, and
/// numbers that are rounded.
static const std::vector<uint64_t> &narrowEdges(const std::string &type) {
  static const std::vector<uint64_t> f16 = {
      0,      0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x83FF,
      0x0400, 0x7BFF, 0xFBFF, 0x3801, 0x3555, 0x4248, 0x3C01, 0x1400};
  static const std::vector<uint64_t> bf16 = {
      0,      0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x807F,
      0x0080, 0x7F7F, 0xFF7F, 0x3F01, 0x3EAB, 0x4049, 0x3F81, 0x3B80};
  static const std::vector<uint64_t> whole = {
      0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x1234, 15};
  return type == "f16" ? f16 : type == "bf16" ? bf16 : whole;
}

/// Each edge beside another.
static std::vector<uint64_t> pairEdges(const std::string &half) {
  const std::vector<uint64_t> &one = narrowEdges(half);
  std::vector<uint64_t> pairs;
  for (size_t i = 0; i < one.size(); ++i)
    pairs.push_back(one[i] | one[(5 * i + 3) % one.size()] << 16);
  return pairs;
}

static std::vector<uint64_t> edgesOf(const std::string &type) {
  static const std::vector<uint64_t> f32 = {
      0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000,
      0x7FC00000, 0xFFA00001, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF,
      0xFF7FFFFF, 0x3F000000, 0x3FC00000, 0x40200000, 0x3EAAAAAB, 0x4F000000,
      0xCF000001, 0x60AD78EC, 0x3F800001, 0xBF000000, 0x477FF000, 0x38800001};
  static const std::vector<uint64_t> i32 = {
      0,          1,          2,          7,          31,
      32,         33,         0xFFFF,     0x7FFFFFFF, 0x80000000,
      0xFFFFFFFF, 0x12345678, 0x80000001, 0xFFFFFFF0, 0x01000001};
  static const std::vector<uint64_t> i64 = {0,
                                            1,
                                            2,
                                            63,
                                            64,
                                            0x7FFFFFFF,
                                            0x80000000,
                                            0xFFFFFFFF,
                                            0x7FFFFFFFFFFFFFFF,
                                            0x8000000000000000,
                                            0x8000000000000001,
                                            0xFFFFFFFFFFFFFFFF,
                                            0x0123456789ABCDEF,
                                            0xFFFFFFFF80000000};
  if (type == "pred")
    return {0, 1};
  if (type.size() > 2 && type.substr(type.size() - 2) == "x2")
    return pairEdges(type.substr(0, type.size() - 2));
  unsigned bits = bitsOfType(type);
  if (bits <= 16)
    return narrowEdges(type);
  if (bits == 32)
    return type == "f32" ? f32 : i32;
  return type == "f64" ? doubleEdges() : i64;
}

/// One column per source: all combinations of their edges.
static Columns combinations(const FormCase &form) {
  Columns columns;
  size_t count = 1;
  for (const Slot &slot : form.slots) {
    if (slot.kind != Slot::Source)
      continue;
    std::vector<uint64_t> edges = edgesOf(slot.type), column;
    for (std::vector<uint64_t> &before : columns) {
      std::vector<uint64_t> repeated;
      for (size_t i = 0; i < edges.size(); ++i)
        repeated.insert(repeated.end(), before.begin(), before.end());
      before = std::move(repeated);
    }
    for (uint64_t edge : edges)
      column.insert(column.end(), count, edge);
    count = column.size();
    columns.push_back(std::move(column));
  }
  return columns;
}

/// Every so many of the rows, where there are more than a few.
static void thin(Columns &columns) {
  size_t step = columns.empty() || columns[0].size() < 1024 ? 1 : kSample;
  for (std::vector<uint64_t> &column : columns) {
    size_t kept = 0;
    for (size_t i = 0; i < column.size(); i += step)
      column[kept++] = column[i];
    column.resize(kept);
  }
}

static std::vector<std::string> destTypes(const FormCase &form) {
  std::vector<std::string> types;
  for (const Slot &slot : form.slots)
    if (slot.kind == Slot::Dest)
      types.push_back(slot.type);
  return types;
}

static void compare(const FormCase &form, const Columns &in, const Columns &out,
                    const Model &model, double tolerance) {
  std::vector<std::string> types = destTypes(form);
  unsigned wrong = 0;
  for (size_t i = 0; i < in[0].size() && wrong < 3; ++i) {
    uint64_t values[8] = {}, wanted[8] = {};
    for (size_t s = 0; s < in.size(); ++s)
      values[s] = in[s][i];
    model(values, wanted);
    for (size_t d = 0; d < types.size(); ++d) {
      uint64_t got = truncated(out[d][i], types[d]);
      uint64_t right = truncated(wanted[d], types[d]);
      if (agree(types[d], got, right, tolerance))
        continue;
      ++wrong;
      ADD_FAILURE() << form.info.text() << std::hex << ": of 0x" << values[0]
                    << ", 0x" << values[1] << ", 0x" << values[2] << ", 0x"
                    << values[3] << " expected 0x" << right << ", got 0x"
                    << got;
    }
  }
}

Check raytention::simt::test::checkModel(const FormCase &form, Model model,
                                         double tolerance) {
  if (!model)
    return {};
  return [=] {
    FormRun run;
    run.inputs = combinations(form);
    thin(run.inputs);
    Columns out = runForm(form, run);
    compare(form, run.inputs, out, model, tolerance);
  };
}

static double valueOf(const std::string &type, uint64_t bits) {
  return type == "f64"    ? asDouble(bits)
         : type == "f16"  ? half(bits)
         : type == "bf16" ? bfloat(bits)
                          : asFloat(bits);
}

bool raytention::simt::test::agree(const std::string &type, uint64_t got,
                                   uint64_t wanted, double tolerance) {
  if (got == wanted || !isFloatType(type))
    return got == wanted;
  if (type == "f16x2" || type == "bf16x2") {
    std::string half = type.substr(0, type.size() - 2);
    return agree(half, got & 0xFFFF, wanted & 0xFFFF, tolerance) &&
           agree(half, got >> 16, wanted >> 16, tolerance);
  }
  double g = valueOf(type, got), w = valueOf(type, wanted);
  bool canonical = wanted == 0x7FFF || (type == "f32" && wanted == 0x7FFFFFFF);
  if (std::isnan(g) && std::isnan(w))
    return !canonical;
  return tolerance &&
         std::fabs(g - w) <= tolerance * std::max(1e-37, std::fabs(w));
}
