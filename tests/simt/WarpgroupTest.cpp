//===- WarpgroupTest.cpp - layouts of wgmma, by products against loops --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/WarpgroupCase.h"

using namespace raytention::simt;
using namespace raytention::simt::test;
using namespace raytention::simt::test::wgmma;

namespace {

Layout layoutOf(unsigned index) {
  return {static_cast<Pattern>(index % 4), index / 4 % 2 == 0, index / 8 != 0};
}

class WarpgroupTest : public testing::TestWithParam<unsigned> {};

} // namespace

/// Every width, with each layout of B.
TEST_P(WarpgroupTest, EveryWidth) {
  Case test;
  test.b = layoutOf(GetParam());
  for (test.n = 8; test.n <= 256; test.n += 8) {
    test.registersOfA = test.n % 16 == 0;
    check(test);
  }
}

TEST_P(WarpgroupTest, EveryLayoutOfA) {
  Case test;
  test.n = 24;
  test.a = layoutOf(GetParam());
  for (Type type : {BF16, F16}) {
    test.type = type;
    test.b = layoutOf(GetParam() + 5);
    check(test);
  }
  test.halfSums = true;
  check(test);
}

INSTANTIATE_TEST_SUITE_P(Layouts, WarpgroupTest, testing::Range(0u, 16u));

TEST(WarpgroupTypeTest, TensorFloat) {
  Case test;
  test.type = TF32;
  for (unsigned swizzle = 0; swizzle < 4; ++swizzle)
    for (test.n = 8; test.n <= 256; test.n += 40) {
      test.a = layoutOf(swizzle);
      test.b = layoutOf((swizzle + 1) % 4);
      test.registersOfA = false;
      check(test);
      test.registersOfA = true;
      check(test);
    }
}

TEST(WarpgroupTypeTest, HalfSumsOfEveryWidth) {
  Case test;
  test.type = F16;
  test.halfSums = true;
  for (test.n = 8; test.n <= 256; test.n += 8) {
    test.registersOfA = test.n % 16 != 0;
    check(test);
  }
}

TEST(WarpgroupTypeTest, ScalesAndSigns) {
  for (Type type : {BF16, F16, TF32})
    for (unsigned bits = 0; bits < 16; ++bits) {
      Case test;
      test.type = type;
      test.n = 16;
      test.accumulates = bits & 1;
      test.negativeA = bits & 2;
      test.negativeB = bits & 4;
      test.registersOfA = bits & 8;
      check(test);
      test.halfSums = type == F16;
      check(test);
    }
}

TEST(WarpgroupTypeTest, ProfileCountsWarpgroups) {
  Case test;
  test.n = 128;
  Profile p = check(test);
  EXPECT_EQ(p.matrixProducts.at("wgmma.m64n128k16.bf16"), 1u);
  EXPECT_EQ(p.matrixFlops, 2u * 64 * 128 * 16);
  EXPECT_EQ(p.productLoads.bytes, (64u + 128) * 16 * 2);
  EXPECT_EQ(p.productLoads.requests, 4u + 1);
  EXPECT_EQ(p.mix.at("wgmma.mma_async.sync"), 4u);
  test.type = F16;
  test.halfSums = true;
  EXPECT_EQ(check(test).matrixProducts.at("wgmma.m64n128k16.f16.f16"), 1u);
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// What parse says of one instruction; "" where it takes it.
static std::string complaint(const std::string &instruction) {
  auto module = parse(".version 8.0\n.target sm_90a\n.address_size 64\n"
                      ".visible .entry k() {\n.reg .pred %p<4>;\n"
                      ".reg .b32 %d<128>;\n.reg .b64 %rd<4>;\n" +
                      instruction + "\nret;\n}\n");
  return module ? "" : llvm::toString(module.takeError());
}

TEST(WarpgroupFormTest, WhatTheAssemblerTakes) {
  std::string head = "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 " +
                     list("%d", 8) + ", ";
  std::string inRegisters = "{%d8,%d9,%d10,%d11}, %rd2, %p1, 1, 1";
  EXPECT_EQ(complaint(head + "%rd1, %rd2, %p1, 1, -1, 0, 1;"), "");
  EXPECT_EQ(complaint(head + "%rd1, %rd2, !%p1, 1, 1, 0, 0;"), "");
  EXPECT_EQ(complaint(head + "%rd1, %rd2, 1, 1, 1, 0, 0;"), "");
  EXPECT_EQ(complaint(head + "1234, %rd2, %p1, 1, 1, 0, 0;"), "");
  EXPECT_EQ(complaint(head + inRegisters + ", 1;"), "");
  EXPECT_NE(complaint(head + inRegisters + ", 0, 1;"), "");
  EXPECT_NE(complaint(head + inRegisters + ";"), "");
  EXPECT_NE(complaint(head + "%rd1, %rd2, %p1, 1, 1;"), "");
  EXPECT_NE(complaint(head + "%rd1, %rd2, %p1, 0, 1, 0, 0;"), "");
  EXPECT_NE(complaint(head + "%rd1, %rd2, %p1, 2, 1, 0, 0;"), "");
  EXPECT_NE(complaint(head + "%rd1, %rd2, %p1, 1, 1, 2, 0;"), "");
  EXPECT_EQ(complaint("setmaxnreg.inc.sync.aligned.u32 240;"), "");
  EXPECT_NE(complaint("setmaxnreg.dec.sync.aligned.u32 28;"), "");
  EXPECT_NE(complaint("setmaxnreg.dec.sync.aligned.u32 264;"), "");
  EXPECT_NE(complaint("wgmma.fence;"), "");
  EXPECT_NE(complaint("wgmma.wait_group.sync.aligned %d1;"), "");
}

TEST(WarpgroupFormTest, RefusesByName) {
  std::string rest = " " + list("%d", 8) + ", %rd1, %rd2, %p1, 1, 1, 0, 0;";
  auto expect = [&](const std::string &name, const std::string &part) {
    std::string text = complaint("wgmma.mma_async." + name + rest);
    EXPECT_EQ(text.find("ptx line 8: "), 0u) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find(name), std::string::npos) << text;
  };
  expect("sync.aligned.m64n16k32.f32.e4m3.e4m3", "m64n16k32");
  expect("sync.aligned.m64n16k32.s32.s8.s8", "m64n16k32");
  expect("sp.sync.aligned.m64n16k32.f32.bf16.bf16", "'.sp'");
  expect("sync.aligned.m64n264k16.f32.bf16.bf16", "m64n8 to m64n256");
  expect("sync.aligned.m64n16k16.f32.bf16.f16", "'.f16'");
  expect("sync.aligned.m64n16k16.f16.bf16.bf16", "expected .f16, got '.bf16'");
  expect("sync.aligned.m64n16k16.f32.tf32.tf32",
         "expected one of .bf16, .f16, got '.tf32'");
  expect("sync.aligned.m64n32k16.f32.bf16.bf16", "expected 16 registers");
}
