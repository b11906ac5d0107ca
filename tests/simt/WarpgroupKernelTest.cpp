//===- WarpgroupKernelTest.cpp - wgmma kernels as NVRTC compiles them --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"
#include "tests/simt/WarpgroupSupport.h"

#include <cmath>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// C (64 x columns) = A (64 x depth) times the transpose of B (columns x
/// depth), rows of which follow one another; each body computes it in its own
/// way.
struct Shape {
  const char *name;
  unsigned columns, depth;
  const char *body;
  unsigned threads = 128;
  bool flat = false;
};

/// Before the body: a tile of A per 64 columns at `a`, of B at `b`, in place
/// and visible to products; `d` is to be stored by store().
const char *const head = R"(
extern __shared__ __align__(1024) char shared[];
DEVICE void loadAll(const u16 *a, const u16 *b) {
  for (int tile = 0; tile < DEPTH / 64; ++tile) {
    load(shared + tile * 8192, a + 64 * tile, 64, DEPTH);
    load(shared + DEPTH * 128 + tile * COLUMNS * 128, b + 64 * tile, COLUMNS,
         DEPTH);
  }
  proxyFence();
  __syncthreads();
}
DEVICE u64 stepOfA(int k) {
  return describe(shared + k / 4 * 8192 + k % 4 * 32);
}
DEVICE u64 stepOfB(int k, int row = 0) {
  return describe(shared + DEPTH * 128 + k / 4 * COLUMNS * 128 + row * 128 +
                  k % 4 * 32);
}
)";

const Shape shapes[] = {
    {"Unrolled", 128, 64, R"(
  float d[16][4];
  loadAll(a, b);
  fence();
#pragma unroll
  for (int k = 0; k < DEPTH / 16; ++k)
    wgmma(d, stepOfA(k), stepOfB(k), k != 0);
  commit();
  wait<0>();
  store(c, COLUMNS, d);
)"},
    {"ZeroedThenLooped", 128, 256, R"(
  float d[16][4] = {};
  loadAll(a, b);
  fence();
#pragma unroll 1
  for (int k = 0; k < DEPTH / 16; ++k)
    wgmma(d, stepOfA(k), stepOfB(k));
  commit();
  wait<0>();
  store(c, COLUMNS, d);
)"},
    {"OneGroupInFlight", 64, 256, R"(
  float d[8][4] = {};
  loadAll(a, b);
#pragma unroll 1
  for (int tile = 0; tile < DEPTH / 64; ++tile) {
    fence();
    for (int k = 0; k < 4; ++k)
      wgmma(d, stepOfA(tile * 4 + k), stepOfB(tile * 4 + k));
    commit();
    wait<1>();
  }
  wait<0>();
  store(c, COLUMNS, d);
)"},
    {"TwoBuffersOneInFlight", 64, 512, R"(
  // The tile of the product in flight stays; the other one is filled.
  float d[8][4] = {};
  char *tiles[2] = {shared, shared + 16384};
  load(tiles[0], a, 64, DEPTH);
  load(tiles[0] + 8192, b, 64, DEPTH);
  proxyFence();
  __syncthreads();
#pragma unroll 1
  for (int t = 0; t < DEPTH / 64; ++t) {
    fence();
    for (int k = 0; k < 4; ++k)
      wgmma(d, describe(tiles[t % 2] + 32 * k),
            describe(tiles[t % 2] + 8192 + 32 * k));
    commit();
    wait<1>();
    __syncthreads();
    if (t + 1 < DEPTH / 64) {
      char *next = tiles[(t + 1) % 2];
      load(next, a + (t + 1) * 64, 64, DEPTH);
      load(next + 8192, b + (t + 1) * 64, 64, DEPTH);
      proxyFence();
    }
    __syncthreads();
  }
  wait<0>();
  store(c, COLUMNS, d);
)"},
    {"TwoAccumulators", 64, 128, R"(
  // Halves of the columns in groups of their own, finished one by one.
  float d[2][4][4];
  loadAll(a, b);
  fence();
  for (int half = 0; half < 2; ++half) {
    for (int k = 0; k < DEPTH / 16; ++k)
      wgmmaHalf(d[half], stepOfA(k), stepOfB(k, 32 * half), k != 0);
    commit();
  }
  wait<1>();
  store(c, COLUMNS, d[0]);
  wait<0>();
  store(c + 32, COLUMNS, d[1]);
)"},
    {"ScaledBetween", 64, 256, R"(
  float d[8][4] = {}, before[32];
  loadAll(a, b);
#pragma unroll 1
  for (int tile = 0; tile < DEPTH / 64; ++tile) {
    for (int i = 0; i < 32; ++i) {
      before[i] = d[i / 4][i % 4];
      d[i / 4][i % 4] *= 2;
    }
    keep(d);
    fence();
    for (int k = 0; k < 4; ++k)
      wgmma(d, stepOfA(tile * 4 + k), stepOfB(tile * 4 + k));
    commit();
    wait<0>();
    for (int i = 0; i < 32; ++i)
      d[i / 4][i % 4] -= before[i];
  }
  store(c, COLUMNS, d);
)"},
    {"RegistersOfA", 64, 64, R"(
  float d[8][4] = {};
  loadAll(a, b);
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;
  u32 fragments[4][4];
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 4; ++i)
      fragments[k][i] = *(const u32 *)(a + (row + i % 2 * 8) * DEPTH + 16 * k +
                                       threadIdx.x % 4 * 2 + i / 2 * 8);
  fence();
  for (int k = 0; k < 4; ++k)
    wgmmaRegisters(d, fragments[k], stepOfB(k));
  commit();
  wait<0>();
  store(c, COLUMNS, d);
)"},
    {"ConvertedBetween", 64, 64, R"(
  // A product whose result is rounded and becomes A, as in attention.
  float p[8][4], d[8][4] = {};
  for (int i = threadIdx.x; i < 64 * 64; i += 128)
    *elementOf(shared + 16384, i / 64, i % 64) =
        toBf16(i / 64 == i % 64 ? 1 : 0);
  loadAll(a, b);
  fence();
  for (int k = 0; k < 4; ++k)
    wgmma(p, stepOfA(k), describe(shared + 16384 + 32 * k), k != 0);
  commit();
  wait<0>();
  fence();
  for (int k = 0; k < 4; ++k) {
    u32 fragment[4];
    for (int i = 0; i < 4; ++i)
      fragment[i] = pack(p[2 * k + i / 2][i % 2 * 2],
                         p[2 * k + i / 2][i % 2 * 2 + 1]);
    fence();
    wgmmaRegisters(d, fragment, stepOfB(k));
    commit();
  }
  wait<0>();
  store(c, COLUMNS, d);
)"},
    {"TwoWarpgroups", 64, 256, R"(
  // Each takes half of the depth; sums meet in shared memory.
  float d[8][4] = {};
  int group = threadIdx.x / 128;
  loadAll(a, b);
  fence();
#pragma unroll 1
  for (int k = group * DEPTH / 32; k < (group + 1) * DEPTH / 32; ++k)
    wgmma(d, stepOfA(k), stepOfB(k));
  commit();
  wait<0>();
  __syncthreads();
  float *sums = (float *)shared;
  if (group)
    for (int i = 0; i < 32; ++i)
      sums[i * 128 + threadIdx.x % 128] = d[i / 4][i % 4];
  __syncthreads();
  if (group)
    return;
  for (int i = 0; i < 32; ++i)
    d[i / 4][i % 4] += sums[i * 128 + threadIdx.x];
  store(c, COLUMNS, d);
)",
     256},
    {"FlatAccumulators", 64, 128, R"(
  float flat[32];
  for (int i = 0; i < 32; ++i)
    flat[i] = 0;
  loadAll(a, b);
#pragma unroll 2
  for (int k = 0; k < DEPTH / 16; ++k) {
    fence();
    wgmmaFlat(flat, stepOfA(k), stepOfB(k));
    commit();
    wait<2>();
  }
  wait<0>();
  float d[8][4];
  for (int i = 0; i < 32; ++i)
    d[i / 4][i % 4] = flat[i];
  store(c, COLUMNS, d);
)"},
    {"NextWhileLastIsRead", 64, 256, R"(
  // A sum is added up while the product of the next tile runs.
  float sum[8][4] = {}, d[2][8][4];
  loadAll(a, b);
#pragma unroll
  for (int tile = 0; tile <= DEPTH / 64; ++tile) {
    if (tile < DEPTH / 64) {
      fence();
      for (int k = 0; k < 4; ++k)
        wgmma(d[tile % 2], stepOfA(tile * 4 + k), stepOfB(tile * 4 + k),
              k != 0);
      commit();
      wait<1>();
    } else {
      wait<0>();
    }
    if (tile)
      for (int i = 0; i < 32; ++i)
        sum[i / 4][i % 4] += d[(tile + 1) % 2][i / 4][i % 4];
  }
  store(c, COLUMNS, sum);
)"},
};

/// Small whole numbers, so that every order of the sums gives the same.
float element(unsigned i) { return float(int(i * 7 + i / 5) % 9 - 4); }

std::vector<uint16_t> makeMatrix(unsigned count, unsigned first) {
  std::vector<uint16_t> values(count);
  for (unsigned i = 0; i < count; ++i) {
    float value = element(first + i);
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    values[i] = bits >> 16;
  }
  return values;
}

std::string sourceOf(const Shape &shape) {
  return "#define COLUMNS " + std::to_string(shape.columns) +
         "\n#define DEPTH " + std::to_string(shape.depth) +
         "\n#include \"wgmma.h\"\n" +
         wgmmaFunction("wgmma", shape.columns, false) +
         wgmmaFunction("wgmmaHalf", shape.columns / 2, false) +
         wgmmaFunction("wgmmaRegisters", shape.columns, true) +
         wgmmaFunction("wgmmaFlat", shape.columns, false, true) + head +
         "extern \"C\" __global__ void __launch_bounds__(" +
         std::to_string(shape.threads) +
         ") k(float *c, const u16 *a, const u16 *b) {\n" + shape.body + "}\n";
}

class WarpgroupKernelTest : public testing::TestWithParam<Shape> {};

} // namespace

TEST_P(WarpgroupKernelTest, IsRightAndClean) {
  RT_NEED_NVRTC();
  const Shape &shape = GetParam();
  Machine machine(compileCuda(sourceOf(shape), {}, "compute_90a"));
  ASSERT_TRUE(machine.isLoaded());
  unsigned columns = shape.columns, depth = shape.depth;
  uint16_t *a = machine.buffer(makeMatrix(64 * depth, 0), "a");
  uint16_t *b = machine.buffer(makeMatrix(columns * depth, 5000), "b");
  float *c = machine.buffer(std::vector<float>(64 * columns), "c");
  uint32_t bytes = std::max((64 + columns) * depth * 2, 32768u);
  Report report =
      machine.run("k", {}, {shape.threads, 1, 1}, bytes, pack(c, a, b));
  EXPECT_TRUE(report.clean()) << describe(report);
  unsigned wrong = 0;
  for (unsigned i = 0; i < 64; ++i)
    for (unsigned j = 0; j < columns; ++j) {
      float sum = 0;
      for (unsigned k = 0; k < depth; ++k)
        sum += element(i * depth + k) * element(5000 + j * depth + k);
      wrong += c[i * columns + j] != sum;
    }
  EXPECT_EQ(wrong, 0u) << "of " << 64 * columns;
  EXPECT_GT(report.profile.matrixFlops, 0u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, WarpgroupKernelTest, testing::ValuesIn(shapes),
                         [](const auto &info) { return info.param.name; });
