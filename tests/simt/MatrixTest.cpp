//===- MatrixTest.cpp - layouts of fragments, by products against loops --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include <cmath>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

uint16_t toBFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits >> 16;
}

/// Small whole numbers: every type here holds them and their sums exactly.
float element(unsigned i) { return float(int(i * 7 + i / 5) % 13 - 6); }

uint16_t toHalf(float value) {
  if (value == 0)
    return 0;
  int exponent;
  float fraction = std::frexp(std::fabs(value), &exponent);
  uint16_t bits =
      uint16_t((exponent + 14) << 10) | (uint16_t(fraction * 2048) & 0x3FF);
  return value < 0 ? bits | 0x8000 : bits;
}

const char *const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
                         ".visible .entry k(.param .u64 pa, .param .u64 pb, "
                         ".param .u64 pd) {\n"
                         ".reg .b32 %r<32>;\n.reg .f32 %f<8>;\n"
                         ".reg .b64 %rd<16>;\n"
                         ".shared .align 16 .b8 tile[512];\n"
                         "ld.param.u64 %rd1, [pa];\n"
                         "ld.param.u64 %rd2, [pb];\n"
                         "ld.param.u64 %rd3, [pd];\n"
                         "mov.u32 %r1, %tid.x;\n";

/// Each lane loads registers of A and B as they lie in memory by lane, runs the
/// product with C = 0 and stores four floats.
std::string product(const std::string &mma, unsigned a, unsigned b) {
  std::string text = head;
  auto load = [&](unsigned count, unsigned first, const char *base) {
    text += "mul.wide.u32 %rd4, %r1, " + std::to_string(4 * count) +
            ";\nadd.s64 %rd4, %rd4, " + base + ";\n";
    for (unsigned i = 0; i < count; ++i)
      text += "ld.global.u32 %r" + std::to_string(first + i) + ", [%rd4+" +
              std::to_string(4 * i) + "];\n";
  };
  load(a, 4, "%rd1");
  load(b, 8, "%rd2");
  auto list = [](unsigned first, unsigned count) {
    std::string names = "{";
    for (unsigned i = 0; i < count; ++i)
      names += (i ? ",%r" : "%r") + std::to_string(first + i);
    return names + "}";
  };
  text += "mov.f32 %f0, 0f00000000;\n" + mma + " {%f1,%f2,%f3,%f4}, " +
          list(4, a) + ", " + list(8, b) + ", {%f0,%f0,%f0,%f0};\n";
  text += "mul.wide.u32 %rd4, %r1, 16;\nadd.s64 %rd4, %rd4, %rd3;\n"
          "st.global.v4.f32 [%rd4], {%f1,%f2,%f3,%f4};\nret;\n}\n";
  return text;
}

/// Runs the product of A (16 x depth) and B (depth x 8); the layout here is
/// written from the definition: element by element, not by register.
template <class Pack>
void checkProduct(const std::string &mma, unsigned depth, unsigned perRegister,
                  Pack pack16) {
  unsigned a = 16 * depth / 32 / perRegister, b = 8 * depth / 32 / perRegister;
  std::vector<uint32_t> registersA(32 * a), registersB(32 * b);
  auto put = [&](std::vector<uint32_t> &to, unsigned count, unsigned lane,
                 unsigned i, float value) {
    to[lane * count + i / perRegister] |= uint32_t(pack16(value))
                                          << (16 * (i % perRegister));
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane >> 2, inGroup = lane & 3;
    for (unsigned i = 0; i < a * perRegister; ++i) {
      unsigned row = perRegister == 2
                         ? (i < 2 || (i >= 4 && i < 6) ? group : group + 8)
                         : (i % 2 ? group + 8 : group);
      unsigned column = perRegister == 2
                            ? inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0)
                            : (i >= 2 ? inGroup + 4 : inGroup);
      put(registersA, a, lane, i, element(row * depth + column));
    }
    for (unsigned i = 0; i < b * perRegister; ++i) {
      unsigned row = perRegister == 2 ? inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0)
                                      : inGroup + 4 * i;
      put(registersB, b, lane, i, element(100 + row * 8 + group));
    }
  }
  Machine machine(product(mma, a, b));
  uint32_t *bufferA = machine.buffer(registersA, "a");
  uint32_t *bufferB = machine.buffer(registersB, "b");
  float *d = machine.buffer(std::vector<float>(128), "d");
  Report report =
      machine.run("k", {}, {32, 1, 1}, 0, pack(bufferA, bufferB, d));
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(report.profile.matrixFlops, 2u * 16 * 8 * depth);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = (lane >> 2) + (i >= 2 ? 8 : 0);
      unsigned column = (lane & 3) * 2 + (i & 1);
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k)
        sum += element(row * depth + k) * element(100 + k * 8 + column);
      EXPECT_EQ(d[lane * 4 + i], sum) << row << "," << column;
    }
}

} // namespace

TEST(MatrixTest, Bf16M16N8K16) {
  checkProduct("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 2,
               toBFloat);
}
TEST(MatrixTest, F16M16N8K16) {
  checkProduct("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 2,
               toHalf);
}
TEST(MatrixTest, Bf16M16N8K8) {
  checkProduct("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, 2,
               toBFloat);
}
TEST(MatrixTest, Tf32M16N8K8) {
  checkProduct("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, 1,
               [](float value) {
                 uint32_t bits;
                 std::memcpy(&bits, &value, 4);
                 return bits | 0x1FFF; // bits below ten are not read
               });
}

/// ldmatrix.x4: four 8 x 8 matrices of halves, here 16 x 16 in shared memory.
static void checkLoadMatrix(bool transposed) {
  std::string text = head;
  text += "mul.wide.u32 %rd4, %r1, 16;\nadd.s64 %rd5, %rd4, %rd1;\n"
          "ld.global.v4.u32 {%r4,%r5,%r6,%r7}, [%rd5];\n"
          "mov.u32 %r2, tile;\nmul.lo.u32 %r3, %r1, 16;\n"
          "add.u32 %r2, %r2, %r3;\nst.shared.v4.u32 [%r2], {%r4,%r5,%r6,%r7};\n"
          "bar.sync 0;\nldmatrix.sync.aligned.m8n8.x4";
  text += transposed ? ".trans" : "";
  text += ".shared.b16 {%r8,%r9,%r10,%r11}, [%r2];\n"
          "add.s64 %rd5, %rd4, %rd3;\n"
          "st.global.v4.u32 [%rd5], {%r8,%r9,%r10,%r11};\nret;\n}\n";
  Machine machine(text);
  std::vector<uint16_t> values(256);
  for (unsigned i = 0; i < 256; ++i)
    values[i] = i;
  uint16_t *in = machine.buffer(values, "in");
  uint16_t *out = machine.buffer(std::vector<uint16_t>(256), "out");
  Report report = machine.run("k", {}, {32, 1, 1}, 0, pack(in, in, out));
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(report.profile.sharedLoads.wavefronts, 4u);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 8; ++i) {
      unsigned matrix = i / 2, row = lane / 4, column = 2 * (lane % 4) + i % 2;
      if (transposed)
        std::swap(row, column);
      EXPECT_EQ(out[lane * 8 + i], matrix * 64 + row * 8 + column);
    }
}

TEST(MatrixTest, LoadMatrix) { checkLoadMatrix(false); }
TEST(MatrixTest, LoadMatrixTransposed) { checkLoadMatrix(true); }
