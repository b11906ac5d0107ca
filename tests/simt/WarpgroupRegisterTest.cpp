//===- WarpgroupRegisterTest.cpp - marks of registers in flight -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

// What a compiler does to registers between products; CUDA text does not say.

namespace {

/// B is zeros, in place and visible; `product` of %d and `other` of %e take A
/// from %a. The first line of the body is line 20.
const char *const head = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k() {
.reg .b32 %r<4>;
.reg .f32 %f<8>;
.reg .b32 %a<8>;
.reg .f32 %d<4>;
.reg .f32 %e<4>;
.reg .f32 %t<4>;
.reg .b64 %rd<4>;
.shared .align 1024 .b8 tile[512];
mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;
add.u32 %r3, %r3, %r2; mov.u32 %r2, 0; st.shared.u32 [%r3], %r2;
mov.u64 %rd1, tile; shr.u64 %rd1, %rd1, 4; or.b64 %rd1, %rd1, 68720001024;
mov.b32 %a0, %r1; mov.b32 %a1, %r1; mov.b32 %a2, %r1; mov.b32 %a3, %r1;
mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0; mov.f32 %d2, %d0; mov.f32 %d3, %d0;
mov.f32 %e0, 0f00000000; mov.f32 %e1, %e0; mov.f32 %e2, %e0; mov.f32 %e3, %e0;
fence.proxy.async; bar.sync 0; wgmma.fence.sync.aligned;
)";

std::string product(const char *sums, const char *a = "{%a0,%a1,%a2,%a3}") {
  return std::string("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 ") +
         sums + ", " + a + ", %rd1, 1, 1, 1, 0;\n";
}
const char *const d = "{%d0,%d1,%d2,%d3}";
const char *const e = "{%e0,%e1,%e2,%e3}";
const char *const end = "wgmma.commit_group.sync.aligned;\n"
                        "wgmma.wait_group.sync.aligned 0;\nret;\n}\n";

Report run(const std::string &body) {
  Machine machine(head + body + end);
  return machine.run("k", {}, {128, 1, 1}, 0, {});
}

void expectOnly(const std::string &body, FindingKind kind, unsigned line) {
  Report report = run(body);
  ASSERT_EQ(report.findings.size(), 1u) << describe(report);
  EXPECT_EQ(report.findings[0].kind, kind) << describe(report);
  EXPECT_EQ(report.findings[0].ptxLine, line) << describe(report);
}

void expectClean(const std::string &body) {
  Report report = run(body);
  EXPECT_TRUE(report.clean()) << describe(report);
}

} // namespace

TEST(WarpgroupRegisterTest, NumberMovedIntoASum) {
  expectOnly(product(d) + "mov.f32 %d1, 0f00000000;\n",
             FindingKind::WgmmaUnfinished, 21);
}

TEST(WarpgroupRegisterTest, NumberMovedIntoA) {
  expectOnly(product(d) + "mov.b32 %a1, 7;\n", FindingKind::WgmmaUnfinished,
             21);
}

TEST(WarpgroupRegisterTest, CopiesPassTheMarkOn) {
  std::string copied = product(d) + "mov.f32 %t0, %d0;\n";
  expectClean(copied);
  expectOnly(copied + "add.f32 %f1, %t0, %t0;\n", FindingKind::WgmmaUnfinished,
             22);
  expectClean(copied + "wgmma.commit_group.sync.aligned;\n"
                       "wgmma.wait_group.sync.aligned 0;\n"
                       "add.f32 %f1, %t0, %t0;\n");
}

/// A loop rotates its sums in flight.
TEST(WarpgroupRegisterTest, SumsChangePlaces) {
  expectClean(product(d) + product(e) +
              "mov.f32 %t0, %d0;\nmov.f32 %d0, %e0;\nmov.f32 %e0, %t0;\n");
}

TEST(WarpgroupRegisterTest, SumsFollowOneAnother) {
  expectClean(product(d) + product(d));
  expectClean(product(d) + "wgmma.commit_group.sync.aligned;\n" + product(d));
}

TEST(WarpgroupRegisterTest, ManyProductsReadOneA) {
  expectClean(product(d) + product(e));
}

TEST(WarpgroupRegisterTest, SumInFlightIsNoA) {
  expectOnly(product(d) + "mov.b32 %a4, %d0;\n" +
                 product(e, "{%a4,%a1,%a2,%a3}"),
             FindingKind::WgmmaUnfinished, 22);
}

TEST(WarpgroupRegisterTest, CopyOfALateWriteIsLate) {
  expectOnly("add.f32 %t0, %d0, %d0;\nmov.f32 %d0, %t0;\n" + product(d),
             FindingKind::WgmmaUnfenced, 22);
  expectClean("mov.f32 %t0, %d1;\nmov.f32 %d0, %t0;\n" + product(d));
}

TEST(WarpgroupRegisterTest, ManyIssuesAreForgotten) {
  std::string loop = "mov.u32 %r1, 0;\nagain:\n" + product(d) +
                     "wgmma.commit_group.sync.aligned;\n"
                     "wgmma.wait_group.sync.aligned 1;\n"
                     "add.u32 %r1, %r1, 1;\n.reg .pred %p;\n"
                     "setp.lt.u32 %p, %r1, 3000;\n@%p bra again;\n";
  expectClean(loop);
}
