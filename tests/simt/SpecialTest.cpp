//===- SpecialTest.cpp - what special registers hold ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Forms.h"
#include "tests/simt/Support.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// A grid of 2 x 3 x 2 blocks of 4 x 3 x 3 threads: two warps, one not full.
std::map<std::string, uint32_t> expectedOf(uint32_t block, uint32_t thread) {
  uint32_t lane = thread % 32, bit = 1u << lane, below = bit - 1;
  return {{"%tid.x", thread % 4},
          {"%tid.y", thread / 4 % 3},
          {"%tid.z", thread / 12},
          {"%ntid.x", 4},
          {"%ntid.y", 3},
          {"%ntid.z", 3},
          {"%ctaid.x", block % 2},
          {"%ctaid.y", block / 2 % 3},
          {"%ctaid.z", block / 6},
          {"%nctaid.x", 2},
          {"%nctaid.y", 3},
          {"%nctaid.z", 2},
          {"%laneid", lane},
          {"%warpid", thread / 32},
          {"%nwarpid", 2},
          {"%lanemask_eq", bit},
          {"%lanemask_lt", below},
          {"%lanemask_le", below | bit},
          {"%lanemask_gt", ~(below | bit)},
          {"%lanemask_ge", ~below},
          {"%dynamic_smem_size", 48},
          {"%total_smem_size", 64},
          {"%smid", 0},
          {"%nsmid", 1},
          {"%gridid", 0},
          {"%cluster_ctarank", 0},
          {"%cluster_nctarank", 1},
          {"%cluster_ctaid.x", 0},
          {"%cluster_ctaid.y", 0},
          {"%cluster_ctaid.z", 0},
          {"%cluster_nctaid.x", 1},
          {"%cluster_nctaid.y", 1},
          {"%cluster_nctaid.z", 1},
          {"%clusterid.x", block % 2},
          {"%clusterid.y", block / 2 % 3},
          {"%clusterid.z", block / 6},
          {"%nclusterid.x", 2},
          {"%nclusterid.y", 3},
          {"%nclusterid.z", 2}};
}

std::string makeText() {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<8>;\n"
      ".reg .b64 %rd<3>;\n.shared .align 16 .b8 s[16];\n"
      "mov.u32 %r1, %tid.z;\nmov.u32 %r2, %tid.y;\n"
      "mad.lo.u32 %r1, %r1, 3, %r2;\nmov.u32 %r2, %tid.x;\n"
      "mad.lo.u32 %r1, %r1, 4, %r2;\nmov.u32 %r2, %ctaid.z;\n"
      "mov.u32 %r3, %ctaid.y;\nmad.lo.u32 %r2, %r2, 3, %r3;\n"
      "mov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r2, %r2, 2, %r3;\n"
      "mad.lo.u32 %r1, %r2, 36, %r1;\nld.param.u64 %rd1, [out];\n"
      "mul.wide.u32 %rd2, %r1, " +
      std::to_string(4 * specialNames().size()) +
      ";\nadd.s64 %rd1, %rd1, %rd2;\n";
  for (size_t i = 0; i < specialNames().size(); ++i)
    text += "mov.u32 %r1, " + specialNames()[i].str() +
            ";\nst.global.u32 [%rd1+" + std::to_string(4 * i) + "], %r1;\n";
  return text + "ret;\n}\n";
}

} // namespace

TEST(SpecialTest, EveryRegister) {
  size_t count = specialNames().size();
  Machine machine(makeText());
  ASSERT_TRUE(machine.isLoaded());
  uint32_t *out = machine.buffer(std::vector<uint32_t>(12 * 36 * count), "out");
  Report report = machine.run("k", {2, 3, 2}, {4, 3, 3}, 48, pack(out));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (uint32_t block = 0; block < 12; ++block)
    for (uint32_t thread = 0; thread < 36; ++thread)
      for (size_t i = 0; i < count; ++i) {
        auto expected = expectedOf(block, thread);
        std::string name = specialNames()[i].str();
        ASSERT_TRUE(expected.count(name)) << "no value is known of " << name;
        EXPECT_EQ(out[(block * 36 + thread) * count + i], expected[name])
            << name << " of block " << block << ", thread " << thread;
      }
}
