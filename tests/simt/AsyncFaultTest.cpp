//===- AsyncFaultTest.cpp - planted faults of mbarriers and bulk copies ---===//
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
/// k(out, in, n, map): `in` has 1024 floats that must not be written, `map` is
/// its view of 32 rows and columns in boxes of 8 rows. One mbarrier of one
/// arrival is ready, and visible to the async proxy.
const char *const prelude = R"(
#include "hopper.h"
extern "C" __global__ void k(float *out, const float *in, int n,
                             const __grid_constant__ Map map) {
  int i = threadIdx.x, warp = i / 32;
  __shared__ alignas(128) float s[512];
  __shared__ u64 bar[3];
#ifndef NO_INIT
  if (i == 0) {
    init(bar, 1);
    fenceInit();
  }
  __syncthreads();
#endif
)";

const Planted cases[] = {
    {"ReadBeforeTheWait", FindingKind::AsyncCopyUnfinished, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    load(s, in, 1024, bar);
  }
#if FAULTY
  out[i] = s[i]; // here
#endif
  wait(bar, 0);
  out[i] = s[i];
)",
     32},
    {"OnlyOneWarpWaits", FindingKind::RaceInBlock, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    load(s, in, 1024, bar);
  }
  if (!FAULTY || warp == 0)
    wait(bar, 0);
  out[i] = s[i]; // here
)"},
    {"NobodyWaits", FindingKind::AsyncCopyAtExit, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    load(s, in, 1024, bar); // here
  }
#if !FAULTY
  wait(bar, 0);
#endif
)"},
    {"WrongParity",
     FindingKind::AsyncCopyUnfinished,
     R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    load(s, in, 1024, bar);
  }
  wait(bar, FAULTY);
  out[i] = s[i]; // here
)",
     // Nobody waits for it either.
     64,
     1,
     {FindingKind::AsyncCopyAtExit}},
    {"TooFewBytesExpected", FindingKind::Deadlock, R"(
  if (i == 0) {
    arriveExpect(bar, FAULTY ? 512 : 1024);
    load(s, in, 1024, bar);
  }
  wait(bar, 0); // here
  out[i] = s[i];
)"},
    {"ArrivalMissing", FindingKind::Deadlock, R"(
#if !FAULTY
  if (i == 0)
#else
  if (i == 64)
#endif
    arrive(bar);
  wait(bar, 0); // here
)"},
    {"TooManyArrivals", FindingKind::BarrierMisuse, R"(
  if (i == 0) {
    init(bar + 1, 2);
    arrive(bar + 1);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;"
                 ::"r"(addressOf(bar + 1)), "r"(1 + FAULTY) : "memory"); // here
  }
)"},
    {"NeverInitialised", FindingKind::BarrierMisuse, R"(
  if (i == 0)
    arrive(bar + FAULTY); // here
)"},
    {"InitialisedTwice", FindingKind::BarrierMisuse, R"(
  if (i == 0) {
#if !FAULTY
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];"
                 ::"r"(addressOf(bar)) : "memory");
#endif
    init(bar, 2); // here
  }
)"},
    {"CountOutOfRange", FindingKind::BarrierMisuse, R"(
  if (i == 0)
    init(bar + 1, FAULTY ? 0 : 1); // here
)"},
    {"WrittenByAStore", FindingKind::BarrierMisuse, R"(
  if (i == 0)
    ((int *)bar)[FAULTY ? 1 : 2] = 1; // here
)"},
    {"InitNotOrdered", FindingKind::RaceInBlock, R"(
  if (i == 0)
    init(bar + 1, 1);
#if !FAULTY
  __syncthreads();
#endif
  if (i == 32)
    arrive(bar + 1); // here
)"},
    {"InitNotFenced", FindingKind::NoProxyFence, R"(
  if (i == 0) {
    init(bar + 1, 1);
#if !FAULTY
    fenceProxy();
#endif
    arriveExpect(bar + 1, 1024);
    load(s, in, 1024, bar + 1); // here
    wait(bar + 1, 0);
  }
)"},
    {"StoreWithoutProxyFence", FindingKind::NoProxyFence, R"(
  s[i] = i;
#if !FAULTY
  fenceProxy();
#endif
  __syncthreads();
  if (i == 0) {
    store(out, s, 256); // here
    commitStores();
    waitStores();
  }
)"},
    {"FenceOfOneWarpOnly", FindingKind::NoProxyFence, R"(
  s[i] = i;
  if (!FAULTY || warp == 0)
    fenceProxy();
  __syncthreads();
  if (i == 0) {
    store(out, s, 256); // here
    commitStores();
    waitStores();
  }
)"},
    {"StoreWithoutBarrier",
     FindingKind::RaceInBlock,
     R"(
  s[i] = i; // here
  fenceProxy();
#if FAULTY
  __syncwarp();
#else
  __syncthreads();
#endif
  if (i == 0) {
    store(out, s, 256); // here
    commitStores();
    waitStores();
  }
)",
     64,
     1,
     // The other warp has not written yet.
     {FindingKind::UninitializedShared}},
    {"SourceOverwritten", FindingKind::AsyncReadUnfinished, R"(
  s[i] = i;
  fenceProxy();
  __syncthreads();
  if (i == 0) {
    store(out, s, 256);
    commitStores();
#if !FAULTY
    waitRead();
#endif
    s[1] = 2; // here
    waitStores();
  }
)"},
    {"StoreLeft", FindingKind::AsyncCopyAtExit, R"(
  s[i] = i;
  fenceProxy();
  __syncthreads();
  if (i == 0) {
    store(out, s, 256); // here
    commitStores();
#if !FAULTY
    waitRead();
#endif
  }
)"},
    {"ResultReadBeforeTheStoreEnds", FindingKind::AsyncCopyUnfinished, R"(
  s[i] = i;
  fenceProxy();
  __syncthreads();
  if (i == 0) {
    store(out, s, 256);
    commitStores();
#if FAULTY
    waitRead();
#else
    waitStores();
#endif
    out[64] = out[1]; // here
    waitStores();
  }
)"},
    {"SourceWrittenTooEarly", FindingKind::AsyncReadUnfinished, R"(
  if (i == 32) {
    arriveExpect(bar, 256);
    load(s, out, 256, bar);
  }
  __syncthreads();
#if !FAULTY
  wait(bar, 0);
#endif
  if (i == 0)
    out[0] = 1; // here
  wait(bar, 0);
)"},
    // By the time of the write the copy has landed for the other warp.
    {"SourceWrittenWithoutAWait", FindingKind::RaceInBlock, R"(
  if (i == 0) {
    arriveExpect(bar, 256);
    load(s, out, 256, bar);
  }
  if (!FAULTY || warp == 0)
    wait(bar, 0);
  if (i == 32)
    out[0] = 1; // here
)"},
    // Reductions of two warps may meet.
    {"StoreBesideAReduction", FindingKind::RaceInBlock, R"(
  s[i] = i;
  fenceProxy();
  __syncthreads();
  if (i % 32 == 0) {
#if FAULTY
    if (i)
      store(out, s, 256); // here
    else
#endif
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                   "[%0], [%1], 256;" ::"l"(out), "r"(addressOf(s))
                   : "memory"); // here
    commitStores();
    waitStores();
  }
)"},
    {"StageRefilledTooEarly", FindingKind::RaceInBlock, R"(
  for (int j = 0; j < 2; ++j) {
    if (i == 32) {
      arriveExpect(bar, 1024);
      load(s, in, 1024, bar); // here
    }
    wait(bar, j);
    __syncthreads();
    if (warp == 0)
      out[i] = s[i];
#if !FAULTY
    __syncthreads();
#endif
  }
)"},
    {"StageRefilledBeforeItIsFull", FindingKind::AsyncCopyUnfinished, R"(
  if (i == 0) {
    arriveExpect(bar, 1024 * (1 + FAULTY));
    load(s, in, 1024, bar);
#if FAULTY
    load(s, in, 1024, bar); // here
#endif
  }
  wait(bar, 0);
)"},
    {"ArrivalWithoutSyncwarp", FindingKind::RaceInBlock, R"(
  if (warp == 1) {
    s[i - 32] = i;
#if !FAULTY
    __syncwarp();
#endif
    if (i == 32)
      arrive(bar);
  } else {
    wait(bar, 0);
    out[i] = s[i]; // here
  }
)"},
    {"RelaxedArrival", FindingKind::RaceInBlock, R"(
  if (warp == 1) {
    s[i - 32] = i;
    __syncwarp();
    if (i == 32)
#if FAULTY
      asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0], 1;"
                   ::"r"(addressOf(bar)) : "memory");
#else
      arrive(bar);
#endif
  } else {
    wait(bar, 0);
    out[i] = s[i]; // here
  }
)"},
    {"CopiesNotCounted", FindingKind::RaceInBlock, R"(
  if (warp == 0) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 ::"r"(addressOf(s + i)), "l"(in + i) : "memory");
    if (i == 0) {
#if FAULTY
      arrive(bar);
#else
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                   ::"r"(addressOf(bar)) : "memory");
#endif
    }
  } else if (i == 32) {
    wait(bar, 0);
    out[i] = s[0]; // here
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
)"},
    {"MisalignedBox",
     FindingKind::Misaligned,
     R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    loadBox(s + 4 * FAULTY, &map, 0, 0, bar); // here
    if (!FAULTY)
      wait(bar, 0);
  }
)",
     64,
     1,
     {FindingKind::AsyncCopyAtExit}},
    {"BoxBeyondShared", FindingKind::OutOfBounds, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    loadBox(s + (FAULTY ? 320 : 256), &map, 0, 0, bar); // here
    if (!FAULTY)
      wait(bar, 0);
  }
)"},
    {"SourcePastTheEnd", FindingKind::OutOfBounds, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    load(s, in + (FAULTY ? 772 : 768), 1024, bar); // here
    if (!FAULTY)
      wait(bar, 0);
  }
)"},
    {"ReadOnlyDestination", FindingKind::ReadOnlyWrite, R"(
  s[i] = i;
  fenceProxy();
  __syncthreads();
  if (i == 0) {
    store(FAULTY ? (float *)in : out, s, 256); // here
    commitStores();
    waitStores();
  }
)"},
    {"OddNumberOfBytes", FindingKind::BulkCopyMisuse, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    load(s, in, 1024 - 8 * FAULTY, bar); // here
    if (!FAULTY)
      wait(bar, 0);
  }
)"},
    {"NoTensorMap", FindingKind::BulkCopyMisuse, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
    loadBox(s, FAULTY ? (const Map *)in : &map, 0, 0, bar); // here
    if (!FAULTY)
      wait(bar, 0);
  }
)"},
    {"MapInLocalMemory", FindingKind::BulkCopyMisuse, R"(
  if (i == 0) {
    Map copy = map;
    copy.bytes[n] = copy.bytes[n];
    arriveExpect(bar, 1024);
    loadBox(s, FAULTY ? &copy : &map, 0, 0, bar); // here
    if (!FAULTY)
      wait(bar, 0);
  }
)"},
    {"MapOfAnotherRank", FindingKind::BulkCopyMisuse, R"(
  if (i == 0) {
    arriveExpect(bar, 1024);
#if FAULTY
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::"
        "bytes [%0], [%1, {%2}], [%3];" ::"r"(addressOf(s)), "l"(&map), "r"(0),
        "r"(addressOf(bar)) : "memory"); // here
#else
    loadBox(s, &map, 0, 0, bar);
    wait(bar, 0);
#endif
  }
)"},
};

class AsyncFaultTest : public testing::TestWithParam<Planted> {
protected:
  std::string source() const {
    return std::string(prelude) + GetParam().body + "}\n";
  }

  Report run(bool faulty) {
    const Planted &test = GetParam();
    Machine machine(
        compileCuda(source(), {faultyOption(faulty)}, "compute_90a"));
    std::vector<float> values(1024);
    for (unsigned i = 0; i < values.size(); ++i)
      values[i] = i;
    float *in = machine.buffer(values, "in");
    float *out = machine.buffer(std::vector<float>(256), "out");
    llvm::cantFail(machine.memory.setReadOnly(in, true));
    TensorMap map;
    map.base = reinterpret_cast<uint64_t>(in);
    map.rank = 2;
    map.size = {32, 32};
    map.stride = {4, 128};
    map.box = {32, 8};
    return machine.run("k", {test.blocks, 1, 1}, {test.threads, 1, 1}, 0,
                       pack(out, in, 64, encoded(map)));
  }
};
} // namespace

TEST_P(AsyncFaultTest, IsReportedAtItsLine) {
  RT_NEED_NVRTC();
  expectPlanted(run(true), GetParam(), source());
}

TEST_P(AsyncFaultTest, TwinIsClean) {
  RT_NEED_NVRTC();
  Report report = run(false);
  EXPECT_TRUE(report.clean()) << describe(report);
}

INSTANTIATE_TEST_SUITE_P(Planted, AsyncFaultTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });
