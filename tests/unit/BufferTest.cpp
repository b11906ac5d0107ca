//===- BufferTest.cpp - arrays of one element type ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Buffer.h"

#include "gtest/gtest.h"

#include <atomic>
#include <cmath>
#include <limits>

using namespace raytention;
using namespace raytention::tool;

TEST(Buffer, RoundsToBF16Once) {
  EXPECT_EQ(toBF16(1.0), 0x3f80);
  EXPECT_EQ(toBF16(-2.0), 0xc000);
  EXPECT_EQ(toBF16(-0.0), 0x8000);
  // Halfway between 1 and 1 + 2^-7 goes to even, anything above goes up.
  EXPECT_EQ(toBF16(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(toBF16(1 + 3 * 0x1p-8), 0x3f82);
  EXPECT_EQ(toBF16(1 + 0x1p-8 + 0x1p-50), 0x3f81);
  EXPECT_EQ(toBF16(1 + 3 * 0x1p-8 - 0x1p-50), 0x3f81);
}

TEST(Buffer, KeepsWhatIsNotFinite) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(toBF16(infinity), 0x7f80);
  EXPECT_EQ(toBF16(-infinity), 0xff80);
  EXPECT_TRUE(std::isnan(fromBF16(toBF16(std::nan("")))));
  EXPECT_TRUE(std::isinf(fromBF16(toBF16(3.4e38))));
  EXPECT_TRUE(std::isinf(fromBF16(toBF16(1e300))));
}

TEST(Buffer, RoundTripsEveryBF16) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double value = fromBF16(uint16_t(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(toBF16(value), bits);
    }
  }
}

TEST(Buffer, StoresAndReadsEachType) {
  for (DType dtype : {DType::F32, DType::F64, DType::BF16}) {
    Buffer buffer(4 * elementSize(dtype));
    for (int i = 0; i < 4; ++i)
      storeElement(buffer, dtype, i, i - 1.5);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(elementAt(buffer, dtype, i), i - 1.5);
  }
  EXPECT_TRUE(bool(Buffer(0)));
}

TEST(Buffer, CoversRangesOnce) {
  for (int64_t count : {0, 1, 70000, 300000}) {
    std::vector<std::atomic<int>> seen(count);
    parallelRanges(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        ++seen[i];
    });
    for (auto &times : seen)
      ASSERT_EQ(times, 1);
  }
}
