//===- BulkStoreTest.cpp - stores over edges, and those left at the end ---===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

static std::vector<std::string> kindsOf(const Report &report) {
  std::vector<std::string> kinds;
  for (const Finding &finding : report.findings)
    kinds.push_back(getName(finding.kind).str());
  return kinds;
}
using Kinds = std::vector<std::string>;

//===----------------------------------------------------------------------===//
// Boxes that reach over the edges of their tensor
//===----------------------------------------------------------------------===//

namespace {
/// k(map, x, y): warp 0 fills what of the box lies in the tensor of WIDTH x 4
/// floats, but for HOLE elements at its end, and stores or adds it; while that
/// goes on warp 1 writes element AT of the box, 0 being none.
const char *const edgeKernel = R"(
#include "hopper.h"
#define REDUCE(op) \
  asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." op ".tile" \
               ".bulk_group [%0, {%1, %2}], [%3];" \
               ::"l"(&map), "r"(x), "r"(y), "r"(addressOf(s)) : "memory")
constexpr int boxWidth = SWIZZLE ? 32 : 72, boxHeight = 8;
__device__ int placeOf(int i) {
  return SWIZZLE ? i ^ (i / 32 % 8) * 4 : i;
}
extern "C" __global__ void k(const __grid_constant__ Map map, int x, int y) {
  __shared__ alignas(1024) float s[boxWidth * boxHeight];
  int i = threadIdx.x, last = -1;
  for (int e = 0; e < boxWidth * boxHeight; ++e) {
    int column = x + e % boxWidth, row = y + e / boxWidth;
    if (column >= 0 && column < WIDTH && row >= 0 && row < 4)
      last = e;
  }
  for (int e = i; e < boxWidth * boxHeight && i < 32; e += 32) {
    int column = x + e % boxWidth, row = y + e / boxWidth;
    if (column >= 0 && column < WIDTH && row >= 0 && row < 4 &&
        !(HOLE && e == last))
      s[placeOf(e)] = 100 * row + column;
  }
  fenceProxy();
  __syncthreads();
  if (i == 0) {
#if ADDS
    REDUCE("add");
#else
    storeBox(&map, x, y, s);
#endif
    commitStores();
  }
  __syncthreads();
  if (i == 32 && AT)
    s[placeOf(AT)] = 7;
  __syncthreads();
  if (i == 0)
    waitStores();
}
)";

struct Edge {
  const char *name;
  int x, y;
  bool swizzled = false, adds = false;
  int outside; ///< an element of the box that is not in the tensor
  int inside;
};
const Edge edges[] = {
    {"WiderThanTheTensor", 0, 0, false, false, 64, 1},
    {"BeforeItsStart", -8, -2, false, false, 1, 2 * 72 + 9},
    {"BehindItsEnd", 40, 3, false, false, 80, 2},
    {"Swizzled", 40, 1, true, false, 30, 3},
    {"SwizzledBeforeItsStart", -12, -1, true, false, 33, 45},
    {"AddsBehindItsEnd", 4, 0, false, true, 71, 4},
    {"AddsSwizzled", -4, 2, true, true, 3, 5},
};

class TensorEdgeTest : public testing::TestWithParam<Edge> {
protected:
  static constexpr int kWidth = 64;

  Report run(bool hole, int at = 0) {
    const Edge &edge = GetParam();
    auto define = [](const char *name, int value) {
      return "--define-macro=" + std::string(name) + "=" +
             std::to_string(value);
    };
    Machine machine(compileCuda(
        edgeKernel,
        {define("SWIZZLE", edge.swizzled), define("ADDS", edge.adds),
         define("HOLE", hole), define("AT", at), define("WIDTH", kWidth)},
        "compute_90a"));
    float *base = machine.buffer(std::vector<float>(4 * kWidth), "tensor");
    TensorMap map;
    map.base = reinterpret_cast<uint64_t>(base);
    map.rank = 2;
    map.size = {kWidth, 4};
    map.stride = {4, 4 * kWidth};
    map.box = {edge.swizzled ? 32u : 72u, 8};
    map.swizzle = edge.swizzled ? Swizzle::Bytes128 : Swizzle::None;
    Report report =
        machine.run("k", {}, {64, 1, 1}, 0, pack(encoded(map), edge.x, edge.y));
    tensor.assign(base, base + 4 * kWidth);
    return report;
  }

  /// Whether the element of the tensor lies in the box.
  static bool isStored(int column, int row) {
    const Edge &edge = GetParam();
    column -= edge.x;
    row -= edge.y;
    return column >= 0 && column < (edge.swizzled ? 32 : 72) && row >= 0 &&
           row < 8;
  }

  std::vector<float> tensor;
};
} // namespace

TEST_P(TensorEdgeTest, WhatIsNotStoredIsNotRead) {
  RT_NEED_NVRTC();
  Report report = run(false);
  EXPECT_TRUE(report.clean()) << describe(report);
  for (int row = 0; row < 4; ++row)
    for (int column = 0; column < kWidth; ++column)
      EXPECT_EQ(tensor[row * kWidth + column],
                isStored(column, row) ? 100 * row + column : 0)
          << row << " " << column;
}

TEST_P(TensorEdgeTest, WhatIsStoredIsRead) {
  RT_NEED_NVRTC();
  Report report = run(true);
  EXPECT_EQ(kindsOf(report), Kinds{"uninitialized-shared"}) << describe(report);
}

TEST_P(TensorEdgeTest, OnlyWhatIsReadMustStay) {
  RT_NEED_NVRTC();
  Report report = run(false, GetParam().outside);
  EXPECT_TRUE(report.clean()) << describe(report);
  report = run(false, GetParam().inside);
  EXPECT_EQ(kindsOf(report), Kinds{"async-read-unfinished"})
      << describe(report);
}

INSTANTIATE_TEST_SUITE_P(Edges, TensorEdgeTest, testing::ValuesIn(edges),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Copies that nobody waits for
//===----------------------------------------------------------------------===//

namespace {
struct Left {
  const char *name;
  const char *body; ///< of k(out, in, map); s holds i + 1
  Kinds kinds;
  int first; ///< 64 counted from it end in out
};
const Left leftCopies[] = {
    {"BulkStore",
     R"(
  if (i == 0) {
    store(out, s, 256);
    commitStores();
  }
)",
     {"async-copy-at-exit"},
     1},
    {"BulkStoreOfNoGroup",
     "if (i == 0) store(out, s, 256);",
     {"async-copy-at-exit"},
     1},
    {"BulkStoreOfALaterGroup",
     R"(
  if (i == 0) {
    store(out, s, 128);
    commitStores();
    store(out + 32, s + 32, 128);
    commitStores();
    asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
  }
)",
     {"async-copy-at-exit"},
     1},
    {"EachStoreOfAThread",
     R"(
  if (i == 0) {
    store(out, s, 128);
    store(out + 32, s + 32, 128);
  }
)",
     {"async-copy-at-exit", "async-copy-at-exit"},
     1},
    {"BulkReduction",
     R"(
  if (i == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
                 "[%0], [%1], 256;" ::"l"(out), "r"(addressOf(s)) : "memory");
    commitStores();
  }
)",
     {"async-copy-at-exit"},
     1},
    {"TensorStore",
     R"(
  if (i == 0) {
    storeBox(&map, 0, 0, s);
    commitStores();
  }
)",
     {"async-copy-at-exit"},
     1},
    // The bytes are on their way out; the end of the grid is late enough.
    {"StoreThatWasRead",
     R"(
  if (i == 0) {
    store(out, s, 256);
    commitStores();
    waitRead();
  }
)",
     {},
     1},
    {"PlainCopy",
     R"(
  if (i >= 32) {
    COPY(t + i - 32, in + i - 32);
    COPY(t + i, in + i);
    asm volatile("cp.async.commit_group;" ::: "memory");
    return;
  }
  __syncthreads();
  out[i] = t[i];
  out[i + 32] = t[i + 32];
)",
     {"async-copy-at-exit", "async-copy-at-exit", "async-copy-unfinished",
      "async-copy-unfinished"},
     0},
    // Who copied is gone when the other warp reads.
    {"PlainCopyOfNoGroup",
     R"(
  if (i < 32) {
    COPY(t + 2 * i, in + 2 * i);
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;"
                 ::: "memory");
    COPY(t + 2 * i + 1, in + 2 * i + 1);
  }
  __syncthreads();
  if (i < 32)
    return;
  out[2 * (i - 32)] = t[2 * (i - 32)];
  out[2 * (i - 32) + 1] = t[2 * (i - 32) + 1];
)",
     {"async-copy-at-exit", "async-copy-unfinished"},
     0},
    // An mbarrier tells of them, also when their thread is gone.
    {"PlainCopyThatAnMbarrierCounts",
     R"(
  if (i == 0) {
    init(&bar, 32);
  }
  __syncthreads();
  if (i >= 32) {
    COPY(t + i - 32, in + i - 32);
    COPY(t + i, in + i);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                 ::"r"(addressOf(&bar)) : "memory");
    return;
  }
  wait(&bar, 0);
  out[i] = t[i];
  out[i + 32] = t[i + 32];
)",
     {},
     0},
    {"PlainCopyBehindWhatAnMbarrierCounts",
     R"(
  if (i == 0) {
    init(&bar, 32);
  }
  __syncthreads();
  if (i >= 32) {
    COPY(t + i - 32, in + i - 32);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                 ::"r"(addressOf(&bar)) : "memory");
    COPY(t + i, in + i);
    return;
  }
  wait(&bar, 0);
  out[i] = t[i];
  out[i + 32] = i + 32;
)",
     {"async-copy-at-exit"},
     0},
    {"MbarrierThatNobodyWaitsFor",
     R"(
  if (i == 0)
    init(&bar, 32);
  __syncthreads();
  if (i >= 32) {
    COPY(t + i - 32, in + i - 32);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];"
                 ::"r"(addressOf(&bar)) : "memory");
  }
  out[i] = i;
)",
     {"async-copy-at-exit"},
     0},
};

class LeftCopyTest : public testing::TestWithParam<Left> {};
} // namespace

TEST_P(LeftCopyTest, IsReportedAndLands) {
  RT_NEED_NVRTC();
  std::string source = R"(
#include "hopper.h"
#define COPY(to, from) \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" \
               ::"r"(addressOf(to)), "l"(from) : "memory")
extern "C" __global__ void k(float *out, const float *in,
                             const __grid_constant__ Map map) {
  __shared__ alignas(128) float s[64], t[64];
  __shared__ u64 bar;
  int i = threadIdx.x;
  s[i] = i + 1;
  fenceProxy();
  __syncthreads();
)" + std::string(GetParam().body) +
                       "\n}\n";
  for (bool checks : {true, false}) {
    Machine machine(compileCuda(source, {}, "compute_90a"));
    std::vector<float> values(64);
    for (unsigned i = 0; i < values.size(); ++i)
      values[i] = i;
    float *in = machine.buffer(values, "in");
    float *out = machine.buffer(std::vector<float>(64), "out");
    TensorMap map;
    map.base = reinterpret_cast<uint64_t>(out);
    map.rank = 2;
    map.size = {16, 4};
    map.stride = {4, 64};
    map.box = {16, 4};
    LaunchOptions options;
    options.checks = checks;
    Report report = machine.run("k", {}, {64, 1, 1}, 0,
                                pack(out, in, encoded(map)), options);
    EXPECT_EQ(kindsOf(report), checks ? GetParam().kinds : Kinds())
        << describe(report);
    for (int i = 0; i < 64; ++i)
      EXPECT_EQ(out[i], i + GetParam().first) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Left, LeftCopyTest, testing::ValuesIn(leftCopies),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Whose fence is missing
//===----------------------------------------------------------------------===//

/// The message of the only finding of one warp.
static std::string messageOf(const std::string &body) {
  Machine machine(compileCuda(R"(
#include "hopper.h"
extern "C" __global__ void k(float *out) {
  __shared__ alignas(128) float s[64];
  __shared__ u64 bar;
  int i = threadIdx.x;
)" + body + "\n}\n",
                              {}, "compute_90a"));
  float *out = machine.buffer(std::vector<float>(64), "out");
  Report report = machine.run("k", {}, {64, 1, 1}, 0, pack(out));
  EXPECT_EQ(report.findings.size(), 1u) << describe(report);
  return report.clean() ? "" : report.findings[0].message;
}

TEST(ProxyFenceTest, AnInitIsCalledOne) {
  RT_NEED_NVRTC();
  EXPECT_EQ(messageOf(R"(
  if (i == 0) {
    init(&bar, 1);
    arriveExpect(&bar, 256);
    load(s, out, 256, &bar);
    wait(&bar, 0);
  }
)"),
            "expected fence.mbarrier_init or fence.proxy.async between the "
            "mbarrier.init of warp 0 lane 0 and its use by this copy, got "
            "none");
  EXPECT_EQ(messageOf(R"(
  if (i == 5)
    init(&bar, 1);
  if (i == 32)
    arrive(&bar);
)"),
            "expected a barrier between this mbarrier instruction of shared "
            "memory and the mbarrier.init of warp 0 lane 5, got none");
  EXPECT_EQ(messageOf(R"(
  s[i] = i;
  __syncthreads();
  if (i == 0) {
    store(out, s, 256);
    commitStores();
    waitStores();
  }
)"),
            "expected fence.proxy.async between the write of warp 0 lane 0 and "
            "this read, got none");
}
