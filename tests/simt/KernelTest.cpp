//===- KernelTest.cpp - three known kernels: results, profiles, speed --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include "llvm/Support/JSON.h"

#include <cmath>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {

/// Generated text is kept as data: the machine is tested without a compiler.
enum Text { Stored, Compute80, Compute90a };
std::string textOf(const std::string &name, Text text) {
  if (text == Stored)
    return readData(name + ".ptx");
  return compileCuda(readData(name + ".cu"), {},
                     text == Compute80 ? "compute_80" : "compute_90a");
}

class KernelTest : public testing::TestWithParam<Text> {};

void checkMatmulProfile(const Profile &p) {
  // 16 blocks, 8 stages, two tiles of 64 rows of 64 bytes.
  EXPECT_EQ(p.asyncCopies.bytes, 16u * 8 * 2 * 64 * 64);
  EXPECT_EQ(p.asyncCopies.sectors, p.asyncCopies.bytes / 32);
  EXPECT_EQ(p.asyncCopies.requests, p.asyncCopies.bytes / 512);
  EXPECT_EQ(p.asyncStores.bytes, p.asyncCopies.bytes);
  // Eight lanes write two rows of 64 bytes 80 bytes apart: words 0 to 15 and
  // 20 to 35, of which the last four lie in the banks of the first four.
  EXPECT_EQ(p.asyncStores.conflicts, 4 * p.asyncStores.requests);
  EXPECT_EQ(p.asyncStores.wavefronts, 8 * p.asyncStores.requests);
  // 16 blocks, 4 warps, 16 steps of 16 columns, four x4 loads each.
  EXPECT_EQ(p.sharedLoads.requests, 16u * 4 * 16 * 4);
  EXPECT_EQ(p.sharedLoads.bytes, p.sharedLoads.requests * 512);
  EXPECT_EQ(p.sharedLoads.conflicts, 0u);
  EXPECT_EQ(p.sharedLoads.wavefronts, 4 * p.sharedLoads.requests);
  EXPECT_EQ(p.matrixProducts.at("m16n8k16.bf16"), 8192u);
  EXPECT_EQ(p.matrixFlops, 2u * 256 * 256 * 256);
  // Eight rows of 32 bytes per store.
  EXPECT_EQ(p.globalStores.bytes, 256u * 256 * 4);
  EXPECT_EQ(p.globalStores.requests, 1024u);
  EXPECT_EQ(p.globalStores.sectors, 8192u);
  EXPECT_EQ(p.globalLoads.bytes, 0u);
  EXPECT_EQ(p.barriers, 16u * 4 * 16);
}

} // namespace

TEST_P(KernelTest, MatrixProduct) {
  if (GetParam() != Stored)
    RT_NEED_NVRTC();
  Machine machine(textOf("matmul", GetParam()));
  ASSERT_TRUE(machine.isLoaded());
  std::vector<uint16_t> a = drawBFloats(256 * 256, 1),
                        b = drawBFloats(256 * 256, 2);
  uint16_t *bufferA = machine.buffer(a, "a"), *bufferB = machine.buffer(b, "b");
  float *c = machine.buffer(std::vector<float>(65536), "c");
  Report report = machine.run("matmul", {4, 4, 1}, {128, 1, 1}, 0,
                              pack(c, bufferA, bufferB));
  EXPECT_TRUE(report.clean()) << describe(report);
  double worst = 0;
  for (unsigned i = 0; i < 256; ++i)
    for (unsigned j = 0; j < 256; ++j) {
      double sum = 0;
      for (unsigned k = 0; k < 256; ++k)
        sum +=
            double(widenBFloat(a[i * 256 + k])) * widenBFloat(b[j * 256 + k]);
      worst = std::max(worst, std::fabs(sum - c[i * 256 + j]));
    }
  EXPECT_LE(worst, 256 * 4 * 256 * std::ldexp(1.0, -24));
  checkMatmulProfile(report.profile);
}

TEST_P(KernelTest, BlockReduction) {
  if (GetParam() != Stored)
    RT_NEED_NVRTC();
  Machine machine(textOf("rows", GetParam()));
  ASSERT_TRUE(machine.isLoaded());
  std::vector<float> values(8 * 1024);
  for (unsigned i = 0; i < values.size(); ++i)
    values[i] = std::sin(float(i));
  float *in = machine.buffer(values, "in");
  float *out = machine.buffer(std::vector<float>(8), "out");
  Report report =
      machine.run("reduce", {8, 1, 1}, {256, 1, 1}, 0, pack(out, in));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (unsigned block = 0; block < 8; ++block) {
    double sum = 0;
    for (unsigned i = 0; i < 1024; ++i)
      sum += values[block * 1024 + i];
    EXPECT_NEAR(out[block], sum, 1e-4);
  }
  const Profile &p = report.profile;
  EXPECT_EQ(p.globalLoads.bytes, 8u * 1024 * 4);
  EXPECT_EQ(p.globalLoads.requests, 8u * 8);
  EXPECT_EQ(p.globalLoads.sectors, 8u * 8 * 16);
  EXPECT_EQ(p.globalStores.bytes, 8u * 4);
  EXPECT_EQ(p.globalStores.sectors, 8u);
  EXPECT_EQ(p.sharedStores.bytes, 8u * 8 * 4);
  EXPECT_EQ(p.sharedLoads.bytes, 8u * 8 * 4);
  EXPECT_EQ(p.sharedConflicts(), 0u);
  EXPECT_EQ(p.mix.at("shfl.sync"), 8u * (8 * 5 + 5));
  EXPECT_EQ(p.barriers, 8u * 8);
}

TEST_P(KernelTest, RowSoftmax) {
  if (GetParam() != Stored)
    RT_NEED_NVRTC();
  Machine machine(textOf("rows", GetParam()));
  ASSERT_TRUE(machine.isLoaded());
  std::vector<float> values(64 * 128);
  for (unsigned i = 0; i < values.size(); ++i)
    values[i] = 8 * std::sin(float(i) * 0.37f);
  float *in = machine.buffer(values, "in");
  float *out = machine.buffer(std::vector<float>(values.size()), "out");
  Report report =
      machine.run("softmax", {16, 1, 1}, {128, 1, 1}, 0, pack(out, in));
  EXPECT_TRUE(report.clean()) << describe(report);
  for (unsigned row = 0; row < 64; ++row) {
    const float *x = &values[row * 128];
    double most = *std::max_element(x, x + 128), sum = 0;
    for (unsigned i = 0; i < 128; ++i)
      sum += std::exp(x[i] - most);
    for (unsigned i = 0; i < 128; ++i)
      EXPECT_NEAR(out[row * 128 + i], std::exp(x[i] - most) / sum, 1e-6);
  }
  const Profile &p = report.profile;
  EXPECT_EQ(p.globalLoads.bytes, 64u * 128 * 4);
  EXPECT_EQ(p.globalStores.bytes, 64u * 128 * 4);
  EXPECT_EQ(p.globalLoads.sectors, 64u * 16);
  EXPECT_EQ(p.globalStores.sectors, 64u * 16);
  EXPECT_EQ(p.sharedBytes(), 0u);
  EXPECT_EQ(p.mix.at("shfl.sync"), 64u * 10);
  EXPECT_EQ(p.mix.at("ex2.approx"), 64u * 4);
}

INSTANTIATE_TEST_SUITE_P(Known, KernelTest,
                         testing::Values(Stored, Compute80, Compute90a),
                         [](const auto &info) -> std::string {
                           return info.param == Stored      ? "Stored"
                                  : info.param == Compute80 ? "Compute80"
                                                            : "Compute90a";
                         });

/// The bound is of two cores to themselves; the test reports what it took.
TEST(KernelOrderTest, ResultsDoNotDependOnTheOrderOfBlocks) {
  Machine machine(textOf("matmul", Stored));
  ASSERT_TRUE(machine.isLoaded());
  uint16_t *a = machine.buffer(drawBFloats(256 * 256, 1), "a");
  uint16_t *b = machine.buffer(drawBFloats(256 * 256, 2), "b");
  float *c = machine.buffer(std::vector<float>(65536), "c");
  std::vector<float> first;
  for (uint64_t seed : {0, 1, 2}) {
    LaunchOptions options;
    options.shuffleSeed = seed;
    options.checks = seed != 2;
    machine.run("matmul", {4, 4, 1}, {128, 1, 1}, 0, pack(c, a, b), options);
    std::vector<float> now(c, c + 65536);
    if (seed == 0)
      first = now;
    EXPECT_EQ(now, first);
  }
}

TEST(ProfileTest, TextAndJson) {
  Machine machine(textOf("rows", Stored));
  ASSERT_TRUE(machine.isLoaded());
  float *in = machine.buffer(std::vector<float>(1024, 1.0f), "in");
  float *out = machine.buffer(std::vector<float>(1), "out");
  Report report = machine.run("reduce", {}, {256, 1, 1}, 0, pack(out, in));
  EXPECT_EQ(*out, 1024.0f);
  EXPECT_NE(report.profile.text().find("global loads"), std::string::npos);
  llvm::json::Object json = report.profile.json();
  EXPECT_EQ(json.getObject("global_loads")->getInteger("bytes"), 4096);
  EXPECT_EQ(json.getObject("mix")->getInteger("bar.sync"), 8);
}
