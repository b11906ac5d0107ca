//===- ClusterTest.cpp - the cluster of one block that every block is -----===//
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
#define DO(text) asm volatile(text ::: "memory")
#define ARRIVE() DO("barrier.cluster.arrive.aligned;")
#define WAIT() DO("barrier.cluster.wait.aligned;")
extern "C" __global__ void k(int *out) {
  int i = threadIdx.x;
  __shared__ int s[64];
)";

const Planted cases[] = {
    {"NobodyWaits",
     FindingKind::RaceInBlock,
     R"(
  s[i] = i;
  ARRIVE();
#if !FAULTY
  WAIT();
#endif
  out[i] = s[63 - i]; // here
)",
     64,
     1,
     // The first warp reads before the second has written.
     {FindingKind::UninitializedShared}},
    {"RelaxedArrival", FindingKind::RaceInBlock, R"(
  s[i] = i;
#if FAULTY
  DO("barrier.cluster.arrive.relaxed.aligned;");
#else
  DO("barrier.cluster.arrive.release.aligned;");
#endif
  DO("barrier.cluster.wait.acquire.aligned;");
  out[i] = s[63 - i]; // here
)"},
    {"OnePhaseShort", FindingKind::RaceInBlock, R"(
#pragma unroll 1
  for (int j = 0; j < 3; ++j) {
    s[i] = i + j; // here
    ARRIVE();
    WAIT();
    out[i] = s[63 - i];
#if !FAULTY
    ARRIVE();
    WAIT();
#endif
  }
)"},
    {"WaitWithoutAnArrival", FindingKind::DivergentBarrier, R"(
#if !FAULTY
  ARRIVE();
#endif
  WAIT(); // here
)"},
    {"SecondWait", FindingKind::DivergentBarrier, R"(
  ARRIVE();
  WAIT();
#if FAULTY
  WAIT(); // here
#endif
)"},
    {"ArrivalTwice", FindingKind::DivergentBarrier, R"(
  ARRIVE();
#if !FAULTY
  WAIT();
#endif
  ARRIVE(); // here
  WAIT();
)"},
    {"AlignedInHalfAWarp", FindingKind::DivergentBarrier, R"(
  if (i % 32 < 16 || !FAULTY)
    ARRIVE(); // here
  else
    DO("barrier.cluster.arrive;");
  __syncwarp();
  WAIT();
)"},
    {"AlignedWaitInHalfAWarp", FindingKind::DivergentBarrier, R"(
  ARRIVE();
  if (i % 32 < 16 || !FAULTY)
    WAIT(); // here
  else
    DO("barrier.cluster.wait;");
  __syncwarp();
)"},
    {"OneWarpNeverArrives", FindingKind::Deadlock, R"(
  if (i < 32 || !FAULTY)
    ARRIVE();
#if FAULTY
  else
    __syncthreads();
#endif
  if (i < 32 || !FAULTY)
    WAIT(); // here
)"},
    {"RankOfNobody", FindingKind::OutOfBounds, R"(
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"((u32)__cvta_generic_to_shared(s + i)), "r"(FAULTY)); // here
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(i)
               : "memory");
  out[i] = s[i];
)"},
};

Report runText(const std::string &ptx, std::vector<int> &values,
               Dim3 block = {64, 1, 1}) {
  Machine machine(ptx);
  if (!machine.isLoaded())
    return {};
  int *out = machine.buffer(values, "out");
  Report report = machine.run("k", {1, 1, 1}, block, 0, pack(out));
  std::copy_n(out, values.size(), values.begin());
  return report;
}

Report runCuda(const std::string &source, std::vector<int> &values,
               const std::vector<std::string> &options = {}) {
  return runText(compileCuda(source, options, "compute_90a"), values);
}

class ClusterTest : public testing::TestWithParam<Planted> {
protected:
  std::string source() const {
    return std::string(prelude) + GetParam().body + "}\n";
  }
  Report run(bool faulty) {
    std::vector<int> values(64);
    return runCuda(source(), values, {faultyOption(faulty)});
  }
};

/// A kernel with these directives.
std::string withDirectives(const std::string &directives) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 p)\n" +
         directives +
         "\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
         "ld.param.u64 %rd1, [p];\nmov.pred %p1, %is_explicit_cluster;\n"
         "selp.u32 %r1, 5, 4, %p1;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
}
} // namespace

TEST_P(ClusterTest, IsReportedAtItsLine) {
  RT_NEED_NVRTC();
  expectPlanted(run(true), GetParam(), source());
}

TEST_P(ClusterTest, TwinIsClean) {
  RT_NEED_NVRTC();
  Report report = run(false);
  EXPECT_TRUE(report.clean()) << describe(report);
}

INSTANTIATE_TEST_SUITE_P(Planted, ClusterTest, testing::ValuesIn(cases),
                         [](const auto &info) { return info.param.name; });

/// Warps come late, leave early, and come in halves.
TEST(ClusterOfOneTest, WaitsForAllThatAreLeft) {
  RT_NEED_NVRTC();
  std::vector<int> values(64);
  Report report = runCuda(std::string(prelude) + R"(
  if (i >= 32) {
    for (int j = 0; j < 200; ++j)
      s[i] = j + i;
    if (i % 2)
      DO("barrier.cluster.arrive;");
    else
      DO("barrier.cluster.arrive.release;");
    return;
  }
  DO("barrier.cluster.arrive;");
  DO("barrier.cluster.wait;");
  out[i] = s[63 - i];
  DO("barrier.cluster.arrive;");
  DO("barrier.cluster.wait;");
  out[32 + i] = 1;
}
)",
                          values);
  EXPECT_TRUE(report.clean()) << describe(report);
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(values[i], 63 - i + 199);
    EXPECT_EQ(values[32 + i], 1);
  }
}

/// The shared memory of the cluster is the block's own.
TEST(ClusterOfOneTest, AddressesAreTheBlocksOwn) {
  RT_NEED_NVRTC();
  std::vector<int> values(64);
  Report report = runCuda(std::string(prelude) + R"(
  u32 there, isThere;
  unsigned long long generic = (unsigned long long)&s[i], mapped;
  asm volatile("mapa.u64 %0, %1, 0;" : "=l"(mapped) : "l"(generic));
  asm volatile("cvt.u32.u64 %0, %1;"
               : "=r"(there) : "l"(__cvta_generic_to_shared(&s[i])));
  asm volatile("{\n.reg .pred p;\nisspacep.shared::cluster p, %1;\n"
               "selp.u32 %0, 100, 0, p;\n}" : "=r"(isThere) : "l"(mapped));
  *(int *)mapped = i;
  u32 rank, value;
  asm volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(mapped));
  asm volatile("atom.shared::cluster.add.u32 %0, [%1], 1000;"
               : "=r"(value) : "r"(there) : "memory");
  asm volatile("ld.shared::cluster.u32 %0, [%1];"
               : "=r"(value) : "r"(there) : "memory");
  out[i] = value + isThere + rank;
}
)",
                          values);
  EXPECT_TRUE(report.clean()) << describe(report);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], i + 1100);
}

TEST(ClusterOfOneTest, ArrivalAndWaitOfOneWarp) {
  RT_NEED_NVRTC();
  std::vector<int> values(1);
  Report report = runText(compileCuda(R"(
extern "C" __global__ void k(int *out) {
  asm volatile("barrier.cluster.arrive.aligned;\n"
               "barrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0)
    out[0] = 7;
}
)",
                                      {}, "compute_90a"),
                          values, {32, 1, 1});
  EXPECT_TRUE(report.clean()) << describe(report);
  EXPECT_EQ(values[0], 7);
}

TEST(ClusterDirectiveTest, OneBlockRuns) {
  for (const char *directives :
       {"", ".reqnctapercluster 1", ".reqnctapercluster 1, 1, 1",
        ".maxclusterrank 1", ".maxclusterrank 8\n.maxntid 64"}) {
    std::vector<int> values(1);
    EXPECT_TRUE(runText(withDirectives(directives), values, {1, 1, 1}).clean());
    EXPECT_EQ(values[0], 4) << directives;
  }
  std::vector<int> values(1);
  EXPECT_TRUE(
      runText(withDirectives(".explicitcluster\n.reqnctapercluster 1, 1, 1"),
              values, {1, 1, 1})
          .clean());
  EXPECT_EQ(values[0], 5);
}

TEST(ClusterDirectiveTest, MoreBlocksAreRefused) {
  auto errorOf = [](const char *directives) {
    auto module = parse(withDirectives(directives));
    return module ? "" : llvm::toString(module.takeError());
  };
  EXPECT_EQ(errorOf(".maxntid 64\n.reqnctapercluster 2, 1, 1"),
            "ptx line 6: expected clusters of one block, got 2 blocks in "
            "'.reqnctapercluster'");
  EXPECT_EQ(errorOf(".explicitcluster\n.reqnctapercluster 1, 2, 4"),
            "ptx line 6: expected clusters of one block, got 8 blocks in "
            "'.reqnctapercluster'");
  EXPECT_EQ(errorOf(".reqnctapercluster 2"),
            "ptx line 5: expected clusters of one block, got 2 blocks in "
            "'.reqnctapercluster'");
}
