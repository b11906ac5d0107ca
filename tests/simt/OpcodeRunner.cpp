//===- OpcodeRunner.cpp - one instruction over edge values ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/OpcodeRunner.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

static const std::vector<uint64_t> &edgesOf(Kind kind) {
  static const std::vector<uint64_t> none = {0};
  static const std::vector<uint64_t> pred = {0, 1};
  static const std::vector<uint64_t> i16 = {
      0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x1234, 15};
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
                                            0xFFFFFFFFFFFFFFFF,
                                            0x0123456789ABCDEF,
                                            0xFFFFFFFF80000000};
  static const std::vector<uint64_t> f16 = {
      0,      0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 0x7E00, 0x0001, 0x83FF,
      0x0400, 0x7BFF, 0xFBFF, 0x3801, 0x3555, 0x4248, 0x3C01, 0x1400};
  static const std::vector<uint64_t> bf16 = {
      0,      0x8000, 0x3F80, 0xBF80, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 0x807F,
      0x0080, 0x7F7F, 0xFF7F, 0x3F01, 0x3EAB, 0x4049, 0x3F81, 0x3B80};
  static const std::vector<uint64_t> f32 = {
      0,          0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000,
      0x7FC00000, 0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,
      0x3F000000, 0x3FC00000, 0x40200000, 0x3EAAAAAB, 0x4F000000, 0xCF000001,
      0x60AD78EC, 0x3F800001, 0xBF000000, 0x477FF000, 0x38800001};
  static const std::vector<uint64_t> f64 = [] {
    std::vector<uint64_t> values;
    for (double v : {0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, 1.0 / 3, 1e300,
                     -1e300, 4294967295.5, -2147483648.75, 9.3e18, 1e-310,
                     65520.0, 3.4e38, 1.0000001})
      values.push_back(bitsOf(v));
    values.push_back(bitsOf(double(INFINITY)));
    values.push_back(bitsOf(-double(INFINITY)));
    values.push_back(bitsOf(double(NAN)));
    return values;
  }();
  switch (kind) {
  case Kind::None:
    return none;
  case Kind::Pred:
    return pred;
  case Kind::I16:
    return i16;
  case Kind::I32:
    return i32;
  case Kind::I64:
    return i64;
  case Kind::F16:
    return f16;
  case Kind::BF16:
    return bf16;
  case Kind::F32:
    return f32;
  default:
    return f64;
  }
}

static unsigned bytesOf(Kind kind) {
  switch (kind) {
  case Kind::None:
    return 0;
  case Kind::I16:
  case Kind::F16:
  case Kind::BF16:
    return 2;
  case Kind::I64:
  case Kind::F64:
    return 8;
  default:
    return 4;
  }
}

static std::string declare(const char *name, Kind kind) {
  if (kind == Kind::None)
    return "";
  if (kind == Kind::Pred)
    return std::string(".reg .pred %") + name + ";\n";
  return ".reg .b" + std::to_string(8 * bytesOf(kind)) + " %" + name + ";\n";
}

/// Every operand is an array of eight bytes per thread.
static std::string load(const char *name, Kind kind, unsigned parameter) {
  if (kind == Kind::None)
    return "";
  std::string text = "ld.param.u64 %rd1, [p" + std::to_string(parameter) +
                     "];\nadd.s64 %rd1, %rd1, %rd0;\n";
  if (kind == Kind::Pred)
    return text + "ld.global.u32 %r3, [%rd1];\nsetp.ne.u32 %" + name +
           ", %r3, 0;\n";
  return text + "ld.global.b" + std::to_string(8 * bytesOf(kind)) + " %" +
         name + ", [%rd1];\n";
}

static std::string makeText(const Opcode &op) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, "
      ".param .u64 p3) {\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n";
  text += declare("d", op.d) + declare("a", op.a) + declare("b", op.b) +
          declare("c", op.c);
  text += "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
          "mov.u32 %r2, %ntid.x;\nmad.lo.u32 %r0, %r1, %r2, %r0;\n"
          "mul.wide.u32 %rd0, %r0, 8;\n";
  text += load("a", op.a, 1) + load("b", op.b, 2) + load("c", op.c, 3);
  text += std::string(op.text) + "\n";
  text += "ld.param.u64 %rd1, [p0];\nadd.s64 %rd1, %rd1, %rd0;\n";
  if (op.d == Kind::Pred)
    text += "selp.u32 %r3, 1, 0, %d;\nst.global.u32 [%rd1], %r3;\n";
  else
    text +=
        "st.global.b" + std::to_string(8 * bytesOf(op.d)) + " [%rd1], %d;\n";
  return text + "ret;\n}\n";
}

static uint64_t truncated(uint64_t bits, Kind kind) {
  unsigned bytes = bytesOf(kind);
  return bytes == 8 ? bits : bits & ((uint64_t(1) << (8 * bytes)) - 1);
}

static bool isNaN(uint64_t bits, Kind kind) {
  switch (kind) {
  case Kind::F16:
    return (bits & 0x7FFF) > 0x7C00;
  case Kind::BF16:
    return (bits & 0x7FFF) > 0x7F80;
  case Kind::F32:
    return std::isnan(asFloat(bits));
  case Kind::F64:
    return std::isnan(asDouble(bits));
  default:
    return false;
  }
}

static bool agree(const Opcode &op, uint64_t got, uint64_t wanted) {
  if (got == wanted || (isNaN(got, op.d) && isNaN(wanted, op.d)))
    return true;
  if (op.tolerance == 0)
    return false;
  double g = op.d == Kind::F64 ? asDouble(got) : asFloat(got);
  double w = op.d == Kind::F64 ? asDouble(wanted) : asFloat(wanted);
  return std::fabs(g - w) <= op.tolerance * std::max(1e-37, std::fabs(w));
}

void raytention::simt::test::checkOpcode(const Opcode &op) {
  SCOPED_TRACE(op.text);
  std::vector<uint64_t> a, b, c;
  for (uint64_t x : edgesOf(op.a))
    for (uint64_t y : edgesOf(op.b))
      for (uint64_t z : edgesOf(op.c)) {
        a.push_back(x);
        b.push_back(y);
        c.push_back(z);
      }
  size_t count = a.size(), padded = (count + 63) / 64 * 64;
  a.resize(padded), b.resize(padded), c.resize(padded);
  Machine machine(makeText(op));
  if (!machine.isLoaded())
    return;
  uint64_t *d = machine.buffer(std::vector<uint64_t>(padded), "d");
  uint64_t *pa = machine.buffer(a, "a"), *pb = machine.buffer(b, "b");
  uint64_t *pc = machine.buffer(c, "c");
  LaunchOptions options;
  options.threads = 1;
  Report report = machine.run("k", {uint32_t(padded / 64), 1, 1}, {64, 1, 1}, 0,
                              pack(d, pa, pb, pc), options);
  EXPECT_TRUE(report.clean()) << describe(report);
  unsigned wrong = 0;
  for (size_t i = 0; i < count && wrong < 3; ++i) {
    uint64_t wanted = truncated(op.model(a[i], b[i], c[i]), op.d);
    uint64_t got = truncated(d[i], op.d);
    if (agree(op, got, wanted))
      continue;
    ++wrong;
    ADD_FAILURE() << std::hex << "of 0x" << a[i] << ", 0x" << b[i] << ", 0x"
                  << c[i] << " expected 0x" << wanted << ", got 0x" << got;
  }
}
