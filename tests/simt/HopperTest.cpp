//===- HopperTest.cpp - a product by bulk copies and warpgroups -----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include <cmath>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
constexpr unsigned kSize = 256;

/// Boxes of `rows` rows and 64 columns.
raytention::device::EncodedTensorMap mapOf(uint16_t *base, unsigned rows) {
  TensorMap map;
  map.base = reinterpret_cast<uint64_t>(base);
  map.element = TensorElement::BF16;
  map.rank = 2;
  map.swizzle = Swizzle::Bytes128;
  map.size = {kSize, kSize};
  map.stride = {2, 2 * kSize};
  map.box = {64, rows};
  return encoded(map);
}

void checkProfile(const Profile &p) {
  // 8 blocks, 4 steps, a box of 128 and one of 64 rows of 128 bytes.
  constexpr unsigned blocks = 8, steps = 4, bytes = (128 + 64) * 128;
  EXPECT_EQ(p.bulkLoads.requests, blocks * steps * 2);
  EXPECT_EQ(p.bulkLoads.bytes, blocks * steps * bytes);
  EXPECT_EQ(p.bulkLoads.sectors, blocks * steps * bytes / 32);
  EXPECT_EQ(p.bulkSharedBytes, p.bulkLoads.bytes);
  // Two warpgroups, four products a step; A is read by one of them each, B by
  // both.
  unsigned products = blocks * steps * 2 * 4;
  EXPECT_EQ(p.matrixProducts.at("wgmma.m64n64k16.bf16"), products);
  EXPECT_EQ(p.matrixFlops, 2ull * kSize * kSize * kSize);
  EXPECT_EQ(p.productLoads.bytes, products * (64 + 64) * 32);
  EXPECT_EQ(p.globalStores.bytes, kSize * kSize * 4);
  // A step: a wait of eight warps and one of the producer.
  EXPECT_EQ(p.mix.at("mbarrier.try_wait"), blocks * steps * 9);
  EXPECT_EQ(p.mix.at("mbarrier.arrive.expect_tx"), blocks * steps);
  EXPECT_EQ(p.mix.at("mbarrier.arrive"), blocks * (steps - 1) * 2);
  EXPECT_EQ(p.sharedConflicts(), 0u);
}

void check(const std::string &ptx, const LaunchOptions &options) {
  Machine machine(ptx);
  std::vector<uint16_t> a = drawBFloats(kSize * kSize, 1),
                        b = drawBFloats(kSize * kSize, 2);
  uint16_t *inA = machine.buffer(a, "a"), *inB = machine.buffer(b, "b");
  float *c = machine.buffer(std::vector<float>(kSize * kSize), "c");
  Report report =
      machine.run("hopper", {4, 2, 1}, {288, 1, 1}, 3 * 24576,
                  pack(mapOf(inA, 128), mapOf(inB, 64), c), options);
  EXPECT_TRUE(report.clean()) << describe(report);
  double worst = 0;
  for (unsigned i = 0; i < kSize; ++i)
    for (unsigned j = 0; j < kSize; ++j) {
      double sum = 0;
      for (unsigned k = 0; k < kSize; ++k)
        sum += double(widenBFloat(a[i * kSize + k])) *
               widenBFloat(b[j * kSize + k]);
      worst = std::max(worst, std::fabs(c[i * kSize + j] - sum));
    }
  // Sums of 256 numbers of few bits are exact.
  EXPECT_EQ(worst, 0);
  if (options.profile)
    checkProfile(report.profile);
}
} // namespace

TEST(HopperTest, Multiplies) {
  for (bool checks : {true, false}) {
    LaunchOptions options;
    options.checks = checks;
    check(readData("hopper.ptx"), options);
  }
}

TEST(HopperTest, DoesNotDependOnTheOrderOfBlocks) {
  for (uint64_t seed = 1; seed < 4; ++seed) {
    LaunchOptions options;
    options.shuffleSeed = seed;
    options.threads = seed;
    check(readData("hopper.ptx"), options);
  }
}

TEST(HopperTest, AsCompiledNow) {
  RT_NEED_NVRTC();
  check(compileCuda(readData("hopper.cu"), {}, "compute_90a"), {});
}

//===----------------------------------------------------------------------===//
// One change of its text each
//===----------------------------------------------------------------------===//

namespace {
struct Change {
  const char *name, *from, *to;
  FindingKind kind; ///< among others that follow from it
};

const Change changes[] = {
    {"FreesTheWrongStage", "s.empty + before", "s.empty + stage",
     FindingKind::Deadlock},
    {"FreesBeforeTheProductsEnd", "      wait<1>();\n", "",
     FindingKind::AsyncReadUnfinished},
    // The two arrivals end two phases.
    {"CountsOneWarpgroupOnly", "init(empty + i, 2)", "init(empty + i, 1)",
     FindingKind::Deadlock},
    {"ReadsBeforeTheStageIsFull", "    wait(s.full + stage, phase);\n", "",
     FindingKind::UninitializedShared},
    {"NeverTurnsThePhase", "stage = 0, phase ^= 1;\n  }\n  wait<0>",
     "stage = 0;\n  }\n  wait<0>", FindingKind::RaceInBlock},
    {"WaitsForAPhaseThatNeverEnds", "phase ^ 1);", "phase);",
     FindingKind::Deadlock},
    {"ExpectsTooFewBytes", "kBytesA + kBytesB);", "kBytesA);",
     FindingKind::Deadlock},
    {"ReadsSumsInFlight", "  wait<0>();\n", "", FindingKind::WgmmaUnfinished},
    {"NeverFences", "    fence();\n", "", FindingKind::WgmmaUnfenced},
    {"ForgetsTheInitFence", "    fenceInit();\n", "",
     FindingKind::NoProxyFence},
    {"LoadsBeyondShared", "s.b + stage * kBytesB, b",
     "s.b + (stage + 1) * kBytesB, b", FindingKind::OutOfBounds},
};

class HopperChangeTest : public testing::TestWithParam<Change> {};
} // namespace

TEST_P(HopperChangeTest, IsFound) {
  RT_NEED_NVRTC();
  const Change &change = GetParam();
  std::string text = readData("hopper.cu");
  size_t at = text.find(change.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(change.from).size(), change.to);
  Machine machine(compileCuda(text, {}, "compute_90a"));
  std::vector<uint16_t> a = drawBFloats(kSize * kSize, 1);
  uint16_t *in = machine.buffer(a, "in");
  float *c = machine.buffer(std::vector<float>(kSize * kSize), "c");
  Report report = machine.run("hopper", {4, 2, 1}, {288, 1, 1}, 3 * 24576,
                              pack(mapOf(in, 128), mapOf(in, 64), c));
  ASSERT_FALSE(report.clean());
  bool found = false;
  for (const Finding &finding : report.findings)
    found |= finding.kind == change.kind;
  EXPECT_TRUE(found) << describe(report);
}

INSTANTIATE_TEST_SUITE_P(Product, HopperChangeTest, testing::ValuesIn(changes),
                         [](const auto &info) { return info.param.name; });
