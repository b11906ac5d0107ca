//===- WarpgroupFaultTest.cpp - planted faults of wgmma ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Planted.h"
#include "tests/simt/WarpgroupSupport.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
/// k(c, a, b): tiles of A (64 rows) and of B (16 rows) of 64 columns, which
/// fill() puts at `s` and `tileB`, for a warpgroup where no more are asked for.
const char *const prelude = R"(
extern __shared__ __align__(1024) char s[];
#define tileB (s + 8192)
DEVICE void fill(const u16 *a, const u16 *b) {
  load(s, a, 64, 64);
  load(tileB, b, 16, 64);
  proxyFence();
  __syncthreads();
}
// A write that the compiler leaves where it is.
DEVICE void change(float &value) {
  asm volatile("add.f32 %0, %0, 0f3F800000;" : "+f"(value)::"memory");
}
DEVICE u32 packHere(float low, float high) {
  u32 both;
  asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;"
               : "=r"(both) : "f"(high), "f"(low) : "memory");
  return both;
}
extern "C" __global__ void k(float *c, const u16 *a, const u16 *b) {
  int i = threadIdx.x;
  float d[2][4] = {}, e[2][4] = {};
)";

const Planted cases[] = {
    //===------------------------------------------------------------------===//
    // Registers in flight
    //===------------------------------------------------------------------===//
    {"ReadBeforeTheWait", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
#if FAULTY
  store(c, 16, d); // here
#endif
  wait<0>();
  store(c, 16, d);
)"},
    {"OneGroupShort", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
  wgmma(e, describe(s + 32), describe(tileB + 32));
  commit();
  wait<FAULTY>();
  store(c, 16, d);
  store(c, 16, e); // here
  wait<0>();
)"},
    {"NeverCommitted", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
#if !FAULTY
  commit();
#endif
  wait<0>();
  store(c, 16, d); // here
  commit();
  wait<0>();
)"},
    {"WrittenInFlight", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
#if FAULTY
  change(d[1][2]); // here
#endif
  wait<0>();
  change(d[1][2]);
  store(c, 16, d);
)"},
    {"OtherShapeInFlight", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
#if !FAULTY
  wait<0>();
  fence();
#endif
  wgmma8(*(float (*)[1][4])d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
  store(c, 16, d);
)"},
    {"ResultUsedAsA", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
#if !FAULTY
  wait<0>();
#endif
  u32 fragment[4];
  for (int j = 0; j < 4; ++j)
    fragment[j] = packHere(d[j / 2][j % 2 * 2], d[j / 2][j % 2 * 2 + 1]); // here
  fence();
  wgmmaRegisters(e, fragment, describe(tileB));
  commit();
  wait<0>();
  store(c, 16, e);
)"},
    {"RegisterOfAWritten", FindingKind::WgmmaUnfinished, R"(
  fill(a, b);
  u32 fragment[4];
  for (int j = 0; j < 4; ++j)
    fragment[j] = packHere(i, j);
  fence();
  wgmmaRegisters(d, fragment, describe(tileB));
  commit();
#if !FAULTY
  wait<0>();
#endif
  asm volatile("add.u32 %0, %0, 1;" : "+r"(fragment[1])::"memory"); // here
  wait<0>();
  c[i] = fragment[1];
)"},
    //===------------------------------------------------------------------===//
    // Shared memory in flight
    //===------------------------------------------------------------------===//
    {"WrittenWhileRead", FindingKind::AsyncReadUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
#if !FAULTY
  wait<0>();
#endif
  if (i < 4)
    *elementOf(s, 2, i) = 0; // here
  wait<0>();
)"},
    {"WrittenBehindABarrier", FindingKind::AsyncReadUnfinished, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
#if !FAULTY
  wait<0>();
#endif
  __syncthreads();
  if (i == 127)
    *elementOf(tileB, 3, 1) = 0; // here
  __syncthreads();
  wait<0>();
)"},
    // Its own warps know that all four warps' parts are over; others do not.
    {"NoBarrierAfterTheWait", FindingKind::RaceInBlock, R"(
  fill(a, b);
  if (i < 128) {
    fence();
    wgmma(d, describe(s), describe(tileB));
    commit();
    wait<0>();
    if (i < 16)
      *elementOf(tileB, i, 1) = 0;
  }
#if !FAULTY
  __syncthreads();
#endif
  if (i >= 144)
    *elementOf(tileB, i - 144, 0) = 0; // here
)",
     160},
    {"NoBarrierBefore",
     FindingKind::RaceInBlock,
     R"(
  load(s, a, 64, 64);
  load(tileB, b, 16, 64);
  proxyFence();
#if FAULTY
  __syncwarp();
#else
  __syncthreads();
#endif
  fence();
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)",
     // Warps that come first read what others write later.
     128,
     1,
     {FindingKind::UninitializedShared, FindingKind::AsyncReadUnfinished}},
    {"NoProxyFence", FindingKind::NoProxyFence, R"(
  load(s, a, 64, 64);
  load(tileB, b, 16, 64);
#if !FAULTY
  proxyFence();
#endif
  __syncthreads();
  fence();
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"NeverFilled", FindingKind::UninitializedShared, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB + FAULTY * 2048)); // here
  commit();
  wait<0>();
)"},
    //===------------------------------------------------------------------===//
    // Fences of registers
    //===------------------------------------------------------------------===//
    {"NoFence", FindingKind::WgmmaUnfenced, R"(
  fill(a, b);
#if !FAULTY
  fence();
#endif
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"NoFenceAfterAChange", FindingKind::WgmmaUnfenced, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB));
  commit();
  wait<0>();
  change(d[0][3]);
#if !FAULTY
  fence();
#endif
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"ChangedBehindTheFence", FindingKind::WgmmaUnfenced, R"(
  fill(a, b);
  if (!FAULTY)
    change(d[0][0]);
  fence();
  if (FAULTY)
    change(d[0][0]);
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"PackedBehindTheFence", FindingKind::WgmmaUnfenced, R"(
  fill(a, b);
  u32 fragment[4];
  if (FAULTY)
    fence();
  for (int j = 0; j < 4; ++j)
    fragment[j] = packHere(i, j);
  if (!FAULTY)
    fence();
  wgmmaRegisters(d, fragment, describe(tileB)); // here
  commit();
  wait<0>();
)"},
    //===------------------------------------------------------------------===//
    // Ends and meetings
    //===------------------------------------------------------------------===//
    {"LeftAtTheEnd", FindingKind::WgmmaAtExit, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
#if !FAULTY
  wait<0>();
#endif
)"},
    {"OneWarpStaysAway", FindingKind::DivergentCollective, R"(
  fill(a, b);
  fence();
  if (!FAULTY || i / 32 != 2)
    wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"OneWarpStaysAwayFirst", FindingKind::DivergentCollective, R"(
  fill(a, b);
  fence();
  if (!FAULTY || i >= 32)
    wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"OneWarpStaysAwayLast", FindingKind::DivergentCollective, R"(
  fill(a, b);
  fence();
  if (!FAULTY || i / 32 != 3)
    wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"DifferentProducts", FindingKind::DivergentCollective, R"(
  fill(a, b);
  fence();
  if (FAULTY ? i < 96 : b != 0)
    wgmma(d, describe(s), describe(tileB)); // here
  else
    wgmma8(*(float (*)[1][4])d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"HalfAWarp", FindingKind::DivergentCollective, R"(
  fill(a, b);
  fence();
  if (!FAULTY || i % 32 < 16)
    wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"WarpWithoutAGroup", FindingKind::DivergentCollective, R"(
  fill(a, b);
  fence();
  if (FAULTY || i < 128)
    wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)",
     160},
    {"HalfAWarpExists", FindingKind::DivergentCollective, R"(
  fill(a, b);
  if (FAULTY && i % 32 == 9)
    return;
  fence();
  wgmma(d, describe(s), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    //===------------------------------------------------------------------===//
    // Descriptors
    //===------------------------------------------------------------------===//
    {"PastTheEnd", FindingKind::OutOfBounds, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(FAULTY ? s + 16384 : tileB)); // here
  commit();
  wait<0>();
)"},
    {"StridePastTheEnd", FindingKind::OutOfBounds, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB, 16, FAULTY ? 65536 : 1024)); // here
  commit();
  wait<0>();
)"},
    {"PatternOffItsPlace", FindingKind::Misaligned, R"(
  fill(a, b);
  fence();
  wgmma8(*(float (*)[1][4])d, describe(s), describe(tileB + FAULTY * 128)); // here
  commit();
  wait<0>();
)"},
    {"ReservedBits", FindingKind::BadDescriptor, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s) | (u64)FAULTY << 46, describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"OtherDescriptorInAWarp", FindingKind::BadDescriptor, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s + (FAULTY && i >= 64 ? 32 : 0)), describe(tileB)); // here
  commit();
  wait<0>();
)"},
    {"OtherDescriptorInALane", FindingKind::BadDescriptor, R"(
  fill(a, b);
  fence();
  wgmma(d, describe(s), describe(tileB + (FAULTY && i % 2 ? 32 : 0))); // here
  commit();
  wait<0>();
)"},
};

class WarpgroupFaultTest : public testing::TestWithParam<Planted> {
protected:
  std::string source() const {
    return "#include \"wgmma.h\"\n" + wgmmaFunction("wgmma", 16, false) +
           wgmmaFunction("wgmma8", 8, false) +
           wgmmaFunction("wgmmaRegisters", 16, true) + prelude +
           GetParam().body + "}\n";
  }

  Report run(bool faulty) {
    const Planted &test = GetParam();
    Machine machine(
        compileCuda(source(), {faultyOption(faulty)}, "compute_90a"));
    uint16_t *a = machine.buffer(std::vector<uint16_t>(64 * 64, 0x3F80), "a");
    uint16_t *b = machine.buffer(std::vector<uint16_t>(16 * 64, 0x4000), "b");
    float *c = machine.buffer(std::vector<float>(64 * 16), "c");
    uint32_t threads = std::max(test.threads, 128u);
    return machine.run("k", {test.blocks, 1, 1}, {threads, 1, 1}, 16384,
                       pack(c, a, b));
  }
};
} // namespace

TEST_P(WarpgroupFaultTest, IsReportedAtItsLine) {
  RT_NEED_NVRTC();
  expectPlanted(run(true), GetParam(), source());
}

TEST_P(WarpgroupFaultTest, TwinIsClean) {
  RT_NEED_NVRTC();
  Report report = run(false);
  EXPECT_TRUE(report.clean()) << describe(report);
}

INSTANTIATE_TEST_SUITE_P(Planted, WarpgroupFaultTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });
