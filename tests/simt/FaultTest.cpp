//===- FaultTest.cpp - one planted fault per kernel, and its clean twin --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Planted.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
const char *const prelude = R"(
typedef unsigned int u32;
__device__ u32 addressOf(const void *p) {
  return (u32)__cvta_generic_to_shared(p);
}
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" \
               ::"r"(addressOf(to)), "l"(from) : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
extern __shared__ float dynamic[];
extern "C" __global__ void k(float *out, const float *in, int *ints, int n) {
  int i = threadIdx.x;
  __shared__ __align__(16) float s[256];
)";

/// Bodies of k(float *out, const float *in, int *ints, int n).
const Planted cases[] = {
    {"StorePastTheEnd", FindingKind::OutOfBounds, R"(
#if FAULTY
  out[i + 193] = 1; // here
#else
  out[i + 192] = 1;
#endif
)"},
    {"LoadBeforeTheStart", FindingKind::OutOfBounds, R"(
#if FAULTY
  float v = in[i - 1]; // here
#else
  float v = in[i];
#endif
  out[i] = v;
)"},
    {"DynamicSharedPastTheEnd", FindingKind::OutOfBounds, R"(
#if FAULTY
  dynamic[i + 1] = 1; // here
#else
  dynamic[i] = 1;
#endif
)"},
    {"LocalPastTheEnd", FindingKind::OutOfBounds, R"(
  int a[4];
  for (int j = 0; j < 4; ++j)
    a[j] = j * i;
#if FAULTY
  ints[i] = a[n - 60]; // here
#else
  ints[i] = a[n - 62];
#endif
)"},
    {"MisalignedPair", FindingKind::Misaligned, R"(
#if FAULTY
  *(float2 *)(out + 2 * i + 1) = make_float2(1, 2); // here
#else
  *(float2 *)(out + 2 * i) = make_float2(1, 2);
#endif
)"},
    {"MisalignedShared", FindingKind::Misaligned, R"(
  s[4 * i] = s[4 * i + 1] = s[4 * i + 2] = s[4 * i + 3] = i;
  __syncthreads();
#if FAULTY
  float4 v = *(float4 *)(s + 4 * (i / 2) + 2); // here
#else
  float4 v = *(float4 *)(s + 4 * (i / 2));
#endif
  out[i] = v.x + v.w;
)"},
    {"ReadOnlyWrite", FindingKind::ReadOnlyWrite, R"(
#if FAULTY
  ((float *)in)[i] = 1; // here
#else
  out[i] = in[i];
#endif
)"},
    {"SharedNeverWritten", FindingKind::UninitializedShared, R"(
#if !FAULTY
  s[i] = 1;
#endif
  out[i] = s[i]; // here
)"},
    {"SharedHalfWritten", FindingKind::UninitializedShared, R"(
#if FAULTY
  if (i < n / 2)
#endif
    s[i] = 1;
  __syncthreads();
  out[i] = s[n - 1 - i]; // here
)"},
    {"SharedByteNotWritten", FindingKind::UninitializedShared, R"(
  unsigned short *h = (unsigned short *)s;
  h[2 * i] = 1;
#if !FAULTY
  h[2 * i + 1] = 2;
#endif
  __syncthreads();
  ints[i] = ((int *)s)[i ^ 1]; // here
)"},
    {"NoBarrierAfterWrite",
     FindingKind::RaceInBlock,
     R"(
  s[i] = i;
#if !FAULTY
  __syncthreads();
#endif
  out[i] = s[(i + 32) % 64]; // here
)",
     64,
     1,
     // The first warp reads before the second has written.
     {FindingKind::UninitializedShared}},
    {"NoBarrierBeforeReuse", FindingKind::RaceInBlock, R"(
  float sum = 0;
#pragma unroll 1
  for (int j = 0; j < 3; ++j) {
    s[i] = j + i; // here
    __syncthreads();
    sum += s[(i + 32) % 64];
#if !FAULTY
    __syncthreads();
#endif
  }
  out[i] = sum;
)"},
    {"NoWarpBarrier", FindingKind::RaceInBlock, R"(
  s[i] = i;
#if !FAULTY
  __syncwarp();
#endif
  out[i] = s[i ^ 1]; // here
)"},
    {"AllWriteOneWord", FindingKind::RaceInBlock, R"(
#if FAULTY
  s[0] = i; // here
#else
  if (i == 0)
    s[0] = i;
#endif
  __syncthreads();
  out[i] = s[0];
)"},
    {"GlobalWithinBlock", FindingKind::RaceInBlock, R"(
  out[i] = i;
#if !FAULTY
  __syncthreads();
#endif
  ints[i] = out[(i + 32) % 64]; // here
)"},
    {"BlocksWriteTheSame", FindingKind::RaceBetweenBlocks, R"(
#if FAULTY
  out[i] = blockIdx.x; // here
#else
  out[i + 64 * blockIdx.x] = blockIdx.x;
#endif
)",
     64, 2},
    {"CountWithoutAtomics", FindingKind::RaceBetweenBlocks, R"(
  if (i == 0)
#if FAULTY
    ints[0] += 1; // here
#else
    atomicAdd(ints, 1);
#endif
)",
     64, 4},
    {"LastBlockWithoutFence", FindingKind::RaceBetweenBlocks, R"(
  if (i == 0) {
    out[blockIdx.x] = blockIdx.x;
#if !FAULTY
    __threadfence();
#endif
    int before = atomicAdd(ints, 1);
    if (before == (int)gridDim.x - 1) {
#if !FAULTY
      __threadfence();
#endif
      float sum = 0;
#pragma unroll 1
      for (int j = 0; j < (int)gridDim.x; ++j)
        sum += out[j]; // here
      out[100] = sum;
    }
  }
)",
     32, 4},
    {"BarrierInHalfAWarp", FindingKind::DivergentBarrier, R"(
#if FAULTY
  if (i % 32 < 16)
#endif
    __syncthreads(); // here
  out[i] = 1;
  __syncthreads();
)"},
    {"WarpsAtDifferentBarriers", FindingKind::DivergentBarrier, R"(
  if (i < 32)
    out[i] = 1;
  __syncthreads();
#if FAULTY
  if (i >= 32) {
    out[i] = 2;
    __syncthreads(); // here
    out[i] = 3;
  } else {
    __syncthreads(); // here
    out[i] = 4;
  }
#endif
)"},
    {"ShuffleInHalfAWarp", FindingKind::DivergentCollective, R"(
  int v = i;
#if FAULTY
  if (i % 32 < 16)
#endif
    v = __shfl_xor_sync(0xFFFFFFFF, v, 1); // here
  ints[i] = v;
  __syncwarp();
)"},
    {"VoteInHalfAWarp", FindingKind::DivergentCollective, R"(
  int v = 0;
#if FAULTY
  if (in[i] > 8)
#endif
    v = __any_sync(0xFFFFFFFF, in[i] > 10); // here
  ints[i] = v;
  __syncwarp();
)"},
    {"LanesNotInTheMask", FindingKind::LaneNotInMask, R"(
#if FAULTY
  ints[i] = __ballot_sync(0xFFFF, in[i] > 3); // here
#else
  ints[i] = __ballot_sync(0xFFFFFFFF, in[i] > 3);
#endif
)"},
    {"ShuffleFromNobody", FindingKind::LaneNotInMask, R"(
#if FAULTY
  ints[i] = __shfl_down_sync(0xFFFF, i, 8); // here
#else
  ints[i] = __shfl_down_sync(0xFFFF, i, 8, 16);
#endif
)",
     16},
    {"AsyncCopyNotWaitedFor", FindingKind::AsyncCopyUnfinished, R"(
  COPY(s + i, in + i);
  COMMIT();
#if !FAULTY
  WAIT(0);
#endif
  out[i] = s[i]; // here
  WAIT(0);
)"},
    {"AsyncCopyOneGroupShort",
     FindingKind::AsyncCopyUnfinished,
     R"(
  COPY(s + i, in + i);
  COMMIT();
  COPY(s + 64 + i, in + 64 + i);
  COMMIT();
#if FAULTY
  WAIT(1);
#else
  WAIT(0);
#endif
  __syncthreads();
  out[i] = s[i];
  out[64 + i] = s[64 + 63 - i]; // here
  WAIT(0);
)",
     64,
     1,
     // Where the other warp has waited at its end, its copy has landed, but
     // behind the barrier.
     {FindingKind::RaceInBlock}},
    {"AsyncCopyWithoutBarrier",
     FindingKind::RaceInBlock,
     R"(
  COPY(s + i, in + i);
  COMMIT();
  WAIT(0);
#if !FAULTY
  __syncthreads();
#endif
  out[i] = s[63 - i]; // here
)",
     64,
     1,
     // The first warp reads before the second has copied.
     {FindingKind::UninitializedShared}},
    {"AsyncCopyLeft", FindingKind::AsyncCopyAtExit, R"(
  COPY(s + i, in + i); // here
  COMMIT();
#if !FAULTY
  WAIT(0);
#endif
)"},
    {"BarrierNobodyCompletes", FindingKind::Deadlock, R"(
  if (i < 32) {
#if FAULTY
    asm volatile("bar.sync 1, 64;" ::: "memory"); // here
#else
    asm volatile("bar.sync 1, 32;" ::: "memory");
#endif
  }
)"},
    {"EndlessLoop", FindingKind::StepLimit, R"(
  volatile int *flag = ints + 200;
#if FAULTY
  while (*flag != 7) // here
#else
  while (*flag == 7)
#endif
    ;
)"},
    // The writer met the second reader, but before that one read.
    {"OneReaderOfTwoNotWaitedFor", FindingKind::RaceInBlock, R"(
#define MEET(id, n) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(n) : "memory")
  s[i] = i;
  __syncthreads();
  float v = 0;
  if (i < 32) {
    MEET(1, 64);
    MEET(2, FAULTY ? 64 : 96);
    s[i] = v; // here
  } else if (i < 64) {
    v = s[i - 32];
    MEET(5, 32);
    MEET(5, 32);
    v += s[i - 32];
    MEET(2, FAULTY ? 64 : 96);
  } else {
    MEET(1, 64);
    v = s[i - 64];
    if (!FAULTY)
      MEET(2, 96);
  }
  out[i] = v;
)",
     96},
    {"BarrierOfTooFewThreads",
     FindingKind::RaceInBlock,
     R"(
  s[i] = i;
  asm volatile("bar.sync 1, %0;" ::"n"(FAULTY ? 64 : 128) : "memory");
  out[i] = s[127 - i]; // here
)",
     128,
     1,
     // The first two warps read before the others write.
     {FindingKind::UninitializedShared}},
    {"BarrierOfPartOfAWarp", FindingKind::DivergentBarrier, R"(
  asm volatile("bar.sync 1, %0;" ::"n"(FAULTY ? 63 : 64) : "memory"); // here
  out[i] = 1;
)"},
    {"FlagWithoutRelease", FindingKind::RaceInBlock, R"(
  volatile int *flag = ints;
  if (i == 32) {
    s[0] = n;
#if !FAULTY
    __threadfence_block();
#endif
    *flag = 1;
  } else if (i == 0) {
    while (*flag != 1)
      ;
    __threadfence_block();
    out[0] = s[0]; // here
  }
)"},
    {"FlagWithoutAcquire", FindingKind::RaceInBlock, R"(
  if (i == 32) {
    s[0] = n;
    asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(ints) : "memory");
  } else if (i == 0) {
    int seen = 0;
    while (!seen)
#if FAULTY
      asm volatile("ld.relaxed.cta.global.u32 %0, [%1];"
                   : "=r"(seen) : "l"(ints) : "memory");
#else
      asm volatile("ld.acquire.cta.global.u32 %0, [%1];"
                   : "=r"(seen) : "l"(ints) : "memory");
#endif
    out[0] = s[0]; // here
  }
)"},
    {"LockTakenByOneOnly", FindingKind::RaceInBlock, R"(
  if (i == 0)
    s[0] = 0;
  __syncthreads();
  if (i % 32 == 0) {
    if (!FAULTY || i == 0) {
      while (atomicCAS(ints, 0, 1))
        ;
      __threadfence_block();
    }
    s[0] = s[0] + 1; // here
    if (!FAULTY || i == 0) {
      __threadfence_block();
      atomicExch(ints, 0);
    }
  }
)"},
    {"CounterWithoutOrder", FindingKind::RaceBetweenBlocks, R"(
  out[blockIdx.x] = 1;
  int before = 0;
#if FAULTY
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before) : "l"(ints) : "memory");
#else
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before) : "l"(ints) : "memory");
#endif
  if (before == gridDim.x - 1)
    out[255] = out[0] + out[1]; // here
)",
     1, 2},
    {"Trap", FindingKind::Trap, R"(
#if FAULTY
  if (n > 10)
    __trap(); // here
#endif
  out[i] = 1;
)"},
};

class FaultTest : public testing::TestWithParam<Planted> {
protected:
  std::string source() const {
    return std::string(prelude) + GetParam().body + "}\n";
  }

  Report run(bool faulty, uint64_t seed = 0) {
    const Planted &test = GetParam();
    Machine machine(compileCuda(source(), {faultyOption(faulty)}));
    if (!machine.isLoaded())
      return {};
    std::vector<float> values(256);
    for (unsigned i = 0; i < values.size(); ++i)
      values[i] = i % 17;
    float *in = machine.buffer(values, "in");
    float *out = machine.buffer(std::vector<float>(256), "out");
    int *ints = machine.buffer(std::vector<int>(256), "ints");
    llvm::cantFail(machine.memory.setReadOnly(in, true));
    LaunchOptions options;
    options.stepLimit = 20000;
    options.shuffleSeed = seed;
    return machine.run("k", {test.blocks, 1, 1}, {test.threads, 1, 1},
                       test.threads * 4, pack(out, in, ints, 64), options);
  }
};
} // namespace

TEST_P(FaultTest, IsReportedAtItsLine) {
  RT_NEED_NVRTC();
  expectPlanted(run(true), GetParam(), source());
}

TEST_P(FaultTest, TwinIsClean) {
  RT_NEED_NVRTC();
  for (uint64_t seed : {0, 1}) {
    Report report = run(false, seed);
    EXPECT_TRUE(report.clean()) << describe(report);
  }
}

INSTANTIATE_TEST_SUITE_P(Planted, FaultTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });
