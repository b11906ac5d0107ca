//===- DefaultInputsTest.cpp - inputs where none are given ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/DefaultInputs.h"

#include "gtest/gtest.h"

#include <cmath>
#include <vector>

using namespace raytention;

/// Values published with the generator's definition.
TEST(DefaultInputs, IsPhilox) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// Against the same formula through the mathematical library.
TEST(DefaultInputs, IsBoxMuller) {
  for (uint64_t index = 0; index < 20000; index += 2) {
    auto block = philox4x32({uint32_t(index / 2), 0, 1, 0}, {7, 0});
    uint64_t a = block[0] | uint64_t(block[1]) << 32;
    uint64_t b = block[2] | uint64_t(block[3]) << 32;
    double u = double((a >> 11) + 1) * 0x1p-53, v = double(b >> 11) * 0x1p-53;
    double radius = std::sqrt(-2 * std::log(u)), angle = 2 * M_PI * v;
    EXPECT_NEAR(normalAt(7, InputStream::Table, index),
                radius * std::cos(angle), 1e-14);
    EXPECT_NEAR(normalAt(7, InputStream::Table, index + 1),
                radius * std::sin(angle), 1e-14);
  }
}

TEST(DefaultInputs, HasNormalMoments) {
  constexpr uint64_t count = 1000000;
  for (InputStream stream :
       {InputStream::Queries, InputStream::Table, InputStream::Grad}) {
    std::vector<double> values(count);
    fillNormal(3, stream, 1, 0, count, values.data());
    double sum[5] = {}, neighbours = 0;
    for (uint64_t i = 0; i < count; ++i) {
      double power = 1;
      for (double &moment : sum)
        moment += (power *= values[i]) / count;
      if (i)
        neighbours += values[i] * values[i - 1] / count;
    }
    EXPECT_NEAR(sum[0], 0, 0.005);
    EXPECT_NEAR(sum[1], 1, 0.01);
    EXPECT_NEAR(sum[2], 0, 0.02);
    EXPECT_NEAR(sum[3], 3, 0.05);
    EXPECT_NEAR(neighbours, 0, 0.005);
  }
}

TEST(DefaultInputs, IsAFunctionOfTheIndex) {
  std::vector<double> whole(101), part(101);
  std::vector<float> floats(101);
  fillNormal(5, InputStream::Queries, 0.5, 0, 101, whole.data());
  fillNormal(5, InputStream::Queries, 0.5, 0, 101, floats.data());
  for (uint64_t begin : {0, 1, 2, 37, 100}) {
    fillNormal(5, InputStream::Queries, 0.5, begin, 101 - begin, part.data());
    for (uint64_t i = begin; i < 101; ++i) {
      EXPECT_EQ(part[i - begin], whole[i]);
      EXPECT_EQ(0.5 * normalAt(5, InputStream::Queries, i), whole[i]);
      EXPECT_EQ(float(whole[i]), floats[i]);
    }
  }
}

TEST(DefaultInputs, StreamsAndSeedsDiffer) {
  EXPECT_NE(normalAt(0, InputStream::Queries, 0),
            normalAt(0, InputStream::Table, 0));
  EXPECT_NE(normalAt(0, InputStream::Queries, 0),
            normalAt(1, InputStream::Queries, 0));
  EXPECT_NE(normalAt(0, InputStream::Queries, 0),
            normalAt(uint64_t(1) << 32, InputStream::Queries, 0));
  EXPECT_NE(normalAt(0, InputStream::Queries, 0),
            normalAt(0, InputStream::Queries, uint64_t(1) << 33));
}

/// Bits that no machine and no later version may change.
TEST(DefaultInputs, NeverChanges) {
  EXPECT_EQ(normalAt(0u, InputStream::Queries, 0u), -0x1.973628c131c04p-2);
  EXPECT_EQ(normalAt(0u, InputStream::Queries, 1u), -0x1.3dd84ff91e709p-2);
  EXPECT_EQ(normalAt(0u, InputStream::Table, 0u), -0x1.67918141f2851p-2);
  EXPECT_EQ(normalAt(0u, InputStream::Grad, 12345u), 0x1.f1d3e454edf13p+0);
  EXPECT_EQ(normalAt(42u, InputStream::Table, 1000000007u),
            0x1.d2d9f61148835p-1);
  EXPECT_EQ(
      normalAt(18446744073709551615u, InputStream::Queries, 1099511627776u),
      0x1.e70390943341p+0);
}

TEST(DefaultInputs, SpreadsScoresByFiveNats) {
  EXPECT_NEAR(defaultDeviation(768), 0.271398, 1e-6);
  EXPECT_NEAR(defaultDeviation(768, 30) / defaultDeviation(768, 0.3), 10,
              1e-12);
}
