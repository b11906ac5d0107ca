//===- PipelineTest.cpp - loads, mbarriers and stores in stages -----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
constexpr unsigned kBoxes = 11, kBlocks = 2, kRows = 32 * kBoxes;

raytention::device::EncodedTensorMap mapOf(float *base) {
  TensorMap map;
  map.base = reinterpret_cast<uint64_t>(base);
  map.rank = 2;
  map.swizzle = Swizzle::Bytes128;
  // The last box reaches over the end.
  map.size = {32, kRows - 3};
  map.stride = {4, 128};
  map.box = {32, 32};
  return encoded(map);
}

void checkProfile(const Profile &p) {
  uint64_t bytes = 128 * (kRows - 3);
  EXPECT_EQ(p.bulkLoads.requests, kBoxes);
  EXPECT_EQ(p.bulkLoads.bytes, bytes);
  EXPECT_EQ(p.bulkLoads.sectors, bytes / 32);
  EXPECT_EQ(p.bulkStores.requests, kBoxes);
  EXPECT_EQ(p.bulkStores.bytes, bytes);
  EXPECT_EQ(p.bulkSharedBytes, 2 * kBoxes * 4096); // zeros behind the end, too
  // Four warps read and write a box, eight lanes a row.
  EXPECT_EQ(p.sharedLoads.bytes, kBoxes * 4096);
  EXPECT_EQ(p.sharedStores.bytes, kBoxes * 4096);
  EXPECT_EQ(p.sharedConflicts(), 0u);
  // Per box one wait of the producer and one of each consumer's warp, one
  // arrival of bytes and one of each warp.
  auto count = [&](const char *name) { return p.mix.at(name); };
  EXPECT_EQ(count("mbarrier.try_wait"), kBoxes * 5);
  EXPECT_EQ(count("mbarrier.arrive.expect_tx"), kBoxes);
  EXPECT_EQ(count("mbarrier.arrive"), kBoxes * 4);
  EXPECT_EQ(count("mbarrier.init"), kBlocks * 6);
  // Two meetings of four warps, and the first one of all five.
  EXPECT_EQ(p.barriers, kBoxes * 8 + kBlocks * 5);
}

void check(const std::string &ptx, const LaunchOptions &options) {
  Machine machine(ptx);
  std::vector<float> values(kRows * 32);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(int(i * 37 % 1001) - 500);
  float *in = machine.buffer(values, "in");
  float *out = machine.buffer(std::vector<float>(values.size(), -1), "out");
  Report report =
      machine.run("pipeline", {kBlocks, 1, 1}, {160, 1, 1}, 4 * 4096,
                  pack(mapOf(in), mapOf(out), int(kBoxes)), options);
  EXPECT_TRUE(report.clean()) << describe(report);
  unsigned wrong = 0;
  for (unsigned i = 0; i < values.size(); ++i)
    wrong += out[i] != (i / 32 < kRows - 3 ? 2 * values[i] : -1);
  EXPECT_EQ(wrong, 0u);
  checkProfile(report.profile);
}
} // namespace

TEST(PipelineTest, DoublesAMatrix) {
  for (bool checks : {true, false}) {
    LaunchOptions options;
    options.checks = checks;
    check(readData("pipeline.ptx"), options);
  }
}

TEST(PipelineTest, DoesNotDependOnTheOrderOfBlocks) {
  for (uint64_t seed = 1; seed < 5; ++seed) {
    LaunchOptions options;
    options.shuffleSeed = seed;
    options.threads = seed;
    check(readData("pipeline.ptx"), options);
  }
}

TEST(PipelineTest, AsCompiledNow) {
  RT_NEED_NVRTC();
  check(compileCuda(readData("pipeline.cu"), {}, "compute_90a"), {});
}
