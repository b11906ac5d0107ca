//===- GridOrderTest.cpp - what orders the blocks of a grid ---------------===//
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
/// k(out, ints): both start as zeros. Every block has a worker of its own, so
/// that blocks may wait for one another.
const char *const prelude = R"(
typedef unsigned int u32;
#define FENCE() __threadfence()
/// The last block of a grid to come here.
__device__ bool isLast(int *counter) {
  __shared__ bool last;
  if (threadIdx.x == 0)
    last = atomicInc((u32 *)counter, gridDim.x - 1) == gridDim.x - 1;
  __syncthreads();
  return last;
}
__device__ int readAcquire(const int *from) {
  int value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];"
               : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ int readRelaxed(const int *from) {
  int value;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];"
               : "=r"(value) : "l"(from) : "memory");
  return value;
}
__device__ void writeRelease(int *to, int value) {
  asm volatile("st.release.gpu.global.s32 [%0], %1;"
               ::"l"(to), "r"(value) : "memory");
}
__device__ float sumOf(const float *from, int count) {
  float sum = 0;
#pragma unroll 1
  for (int j = threadIdx.x; j < count; j += blockDim.x)
    sum += from[j]; // here
  return sum;
}
extern "C" __global__ void k(float *out, int *ints) {
  int i = threadIdx.x, b = blockIdx.x, n = blockDim.x, all = n * gridDim.x;
  int at = b * n + i;
)";

const Planted cases[] = {
    // All fence, one counts; all fence, all read.
    {"LastBlockReadsWithoutAFence", FindingKind::RaceBetweenBlocks, R"(
  out[at] = i;
  FENCE();
  __syncthreads();
  if (!isLast(ints))
    return;
#if !FAULTY
  FENCE();
#endif
  out[512 + i] = sumOf(out, all);
)",
     64, 3},
    {"CountedBeforeAllHaveWritten", FindingKind::RaceBetweenBlocks, R"(
  out[at] = i;
  FENCE();
#if !FAULTY
  __syncthreads();
#endif
  if (!isLast(ints))
    return;
  FENCE();
  out[512 + i] = sumOf(out, all);
)",
     64, 3},
    // The counter stands between two fences of one thread, or of all.
    {"OneFencesTooEarlyForAll", FindingKind::RaceBetweenBlocks, R"(
  out[at] = i;
#if !FAULTY
  __syncthreads();
#endif
  if (i == 0)
    FENCE();
#if FAULTY
  __syncthreads();
#endif
  if (!isLast(ints))
    return;
  if (i == 0)
    FENCE();
  __syncthreads();
  out[512 + i] = sumOf(out, all);
)",
     64, 3},
    {"WrittenBehindTheFence", FindingKind::RaceBetweenBlocks, R"(
#if FAULTY
  FENCE();
  out[at] = i;
#else
  out[at] = i;
  FENCE();
#endif
  __syncthreads();
  if (!isLast(ints))
    return;
  FENCE();
  out[512 + i] = sumOf(out, all);
)",
     64, 3},
    {"FencedForTheBlockOnly", FindingKind::RaceBetweenBlocks, R"(
  out[at] = i;
  __threadfence();
  __syncthreads();
  if (!isLast(ints))
    return;
#if FAULTY
  __threadfence_block();
#else
  __threadfence();
#endif
  out[512 + i] = sumOf(out, all);
)",
     64, 3},
    {"ReleasedToTheBlockOnly", FindingKind::RaceBetweenBlocks, R"(
  out[at] = i;
  int before = 0;
#if FAULTY
  asm volatile("atom.acq_rel.cta.global.add.u32 %0, [%1], 1;"
               : "=r"(before) : "l"(ints) : "memory");
#else
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before) : "l"(ints) : "memory");
#endif
  if (before == gridDim.x - 1)
    out[512] = sumOf(out, all);
)",
     1, 3},
    {"ReductionsReadNothing", FindingKind::RaceBetweenBlocks, R"(
  out[at] = i;
  FENCE();
#if FAULTY
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(ints)
               : "memory");
  int before = b;
#else
  int before = atomicAdd(ints, 1);
#endif
  FENCE();
  if (before == gridDim.x - 1)
    out[512] = sumOf(out, all);
)",
     1, 3},
    // One acquires for its block, which then has to meet.
    {"OneAcquiresAndNobodyMeets", FindingKind::RaceBetweenBlocks, R"(
  if (b == 0) {
    out[i] = i;
    __syncthreads();
    if (i == 0)
      writeRelease(ints, 1);
    return;
  }
  if (i == 0)
    while (!readAcquire(ints))
      ;
#if !FAULTY
  __syncthreads();
#endif
  out[512 + i] = sumOf(out, n);
)",
     64, 2},
    {"ReleasedBeforeAllCame", FindingKind::RaceBetweenBlocks, R"(
  if (b == 0) {
    out[i] = i;
#if !FAULTY
    __syncthreads();
#endif
    if (i == 0)
      writeRelease(ints, 1);
    return;
  }
  if (i == 0)
    while (!readAcquire(ints))
      ;
  __syncthreads();
  out[512 + i] = sumOf(out, n);
)",
     64, 2},
    // From block to block to block.
    {"ChainWithAGap", FindingKind::RaceBetweenBlocks, R"(
  if (b == 0) {
    out[0] = 1;
    writeRelease(ints, 1);
  } else if (b == 1) {
    while (!readRelaxed(ints))
      ;
#if !FAULTY
    FENCE();
#endif
    writeRelease(ints + 1, 1);
  } else {
    while (!readAcquire(ints + 1))
      ;
    out[512] = sumOf(out, 1);
  }
)",
     1, 3},
    {"LockGivenBackWithoutAFence", FindingKind::RaceBetweenBlocks, R"(
  if (i == 0) {
    while (atomicCAS(ints, 0, 1))
      ;
    FENCE();
    out[0] = out[0] + 1; // here
#if !FAULTY
    FENCE();
#endif
    atomicExch(ints, 0);
  }
)",
     32, 4},
    // In turns, as sums in a fixed order are taken.
    {"TurnPassedOnTooEarly", FindingKind::RaceBetweenBlocks, R"(
  if (i == 0)
    while (readAcquire(ints) != b)
      ;
  __syncthreads();
  out[i] = out[i] + 1; // here
#if !FAULTY
  __syncthreads();
#endif
  if (i == 0) {
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" ::"l"(ints)
                 : "memory");
  }
)",
     64, 4},
    // Sums of all blocks before; each tells of its own, then of the total.
    {"LookBackAtASumWithoutItsFlag", FindingKind::RaceBetweenBlocks, R"(
  float *own = out, *total = out + 64;
  if (i != 0)
    return;
  own[b] = b;
  FENCE();
  atomicExch(ints + b, 1);
  float sum = b;
#pragma unroll 1
  for (int j = b - 1; j >= 0; --j) {
    int state = 0;
    do
      state = readRelaxed(ints + j);
    while (!state);
#if !FAULTY
    FENCE();
#endif
    if (state == 2) {
      sum += total[j]; // here
      break;
    }
    sum += own[j]; // here
  }
  total[b] = sum;
  FENCE();
  atomicExch(ints + b, 2);
)",
     32, 4},
    // All blocks read what all wrote, and write again.
    {"GridBarrierWithoutFences", FindingKind::RaceBetweenBlocks, R"(
#pragma unroll 1
  for (int round = 0; round < 3; ++round) {
    out[at] = round; // here
    for (int half = 1; half <= 2; ++half) {
      __syncthreads();
      if (i == 0) {
#if !FAULTY
        FENCE();
#endif
        atomicAdd(ints, 1);
        while (*(volatile int *)ints < (int)gridDim.x * (2 * round + half))
          ;
#if !FAULTY
        FENCE();
#endif
      }
      __syncthreads();
      if (half == 1)
        out[512 + at] = sumOf(out, all);
    }
  }
)",
     64, 3},
    {"GridBarrierPassedByOneWarp",
     FindingKind::RaceBetweenBlocks,
     R"(
  out[at] = i;
  __syncthreads();
  if (i == 0) {
    FENCE();
    atomicAdd(ints, 1);
    while (*(volatile int *)ints < (int)gridDim.x)
      ;
    FENCE();
  }
#if !FAULTY
  __syncthreads();
#endif
  out[512 + at] = sumOf(out, all);
)",
     64,
     3,
     // The block's own other warp has not been waited for either.
     {FindingKind::RaceInBlock}},
    // What was read before is not to be written either.
    {"ReadersNotWaitedFor", FindingKind::RaceBetweenBlocks, R"(
  if (b == 0) {
    ints[1 + i] = out[i] == 0;
    __syncthreads();
    if (i == 0) {
#if !FAULTY
      FENCE();
#endif
      atomicExch(ints, 1);
    }
    return;
  }
  if (i == 0) {
    while (!readRelaxed(ints))
      ;
    FENCE();
  }
  __syncthreads();
  out[i] = 1; // here
)",
     64, 2},
    // The last block neither reads nor signals.
    {"OneReaderOfTwoDoesNotFence", FindingKind::RaceBetweenBlocks, R"(
  if (b == 0) {
    while (!readAcquire(ints + 1))
      ;
    while (!readAcquire(ints + 2))
      ;
    out[0] = 1; // here
  } else if (b < 3) {
    ints[8 + b] = out[0] == 0;
    if (b == 1 || !FAULTY)
      FENCE();
    atomicExch(ints + b, 1);
  }
)",
     1, 4},
    // Round by round: what both neighbours have read is written again.
    {"NeighboursNotWaitedFor", FindingKind::RaceBetweenBlocks, R"(
  int left = (b + 3) % 4, right = (b + 1) % 4;
#pragma unroll 1
  for (int round = 1; round <= 2; ++round) {
    out[b] = round; // here
    writeRelease(ints + b, 2 * round - 1);
    while (readAcquire(ints + left) < 2 * round - 1 ||
           readAcquire(ints + right) < 2 * round - 1)
      ;
    out[512 + b] = out[left] + out[right];
#if FAULTY
    atomicExch(ints + b, 2 * round);
    while (*(volatile int *)(ints + left) < 2 * round ||
           *(volatile int *)(ints + right) < 2 * round)
      ;
#else
    writeRelease(ints + b, 2 * round);
    while (readAcquire(ints + left) < 2 * round ||
           readAcquire(ints + right) < 2 * round)
      ;
#endif
  }
)",
     1, 4},
    // Within a block, too, one may fence and another raise the flag.
    {"FlagOfOneThatDidNotMeet",
     FindingKind::RaceInBlock,
     R"(
  __shared__ float s[32];
  volatile int *flag = ints;
  if (i / 32 == 1) {
    s[i - 32] = i;
    __threadfence_block();
  }
  if (i < 64 && !FAULTY)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  if (i == 0)
    *flag = 1;
  if (i >= 64) {
    while (!*flag)
      ;
    __threadfence_block();
    out[i] = s[i - 64]; // here
  }
)",
     96,
     1,
     {FindingKind::UninitializedShared}},
};

class GridOrderTest : public testing::TestWithParam<Planted> {
protected:
  std::string source() const {
    return std::string(prelude) + GetParam().body + "}\n";
  }

  Report run(bool faulty, unsigned rounds = 1) {
    const Planted &test = GetParam();
    Machine machine(compileCuda(source(), {faultyOption(faulty)}));
    Report report;
    for (unsigned i = 0; i < rounds && report.clean(); ++i) {
      float *out = machine.buffer(std::vector<float>(1024), "out");
      int *ints = machine.buffer(std::vector<int>(256), "ints");
      LaunchOptions options;
      options.threads = test.blocks;
      report = machine.run("k", {test.blocks, 1, 1}, {test.threads, 1, 1}, 0,
                           pack(out, ints), options);
    }
    return report;
  }
};
} // namespace

TEST_P(GridOrderTest, IsReportedAtItsLine) {
  RT_NEED_NVRTC();
  expectPlanted(run(true), GetParam(), source());
}

TEST_P(GridOrderTest, TwinIsClean) {
  RT_NEED_NVRTC();
  Report report = run(false, 8);
  EXPECT_TRUE(report.clean()) << describe(report);
}

INSTANTIATE_TEST_SUITE_P(Planted, GridOrderTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

/// Many blocks at one counter cost no more than their number.
TEST(GridOrderTest, ManyBlocksCount) {
  RT_NEED_NVRTC();
  Machine machine(compileCuda(std::string(prelude) + R"(
  out[b] = 1;
  FENCE();
  int before = 0;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
               : "=r"(before) : "l"(ints) : "memory");
  if (before == gridDim.x - 1)
    ints[1] = (int)sumOf(out, gridDim.x);
}
)"));
  constexpr unsigned kBlocks = 20000;
  float *out = machine.buffer(std::vector<float>(kBlocks), "out");
  int *ints = machine.buffer(std::vector<int>(2), "ints");
  Report report =
      machine.run("k", {kBlocks, 1, 1}, {1, 1, 1}, 0, pack(out, ints));
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(ints[1], int(kBlocks));
}
