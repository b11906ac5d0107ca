//===- TensorMapTest.cpp - rules and bytes of tensor maps -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/TensorMap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

using namespace raytention::simt;

namespace {

using Bytes = std::array<uint8_t, kTensorMapBytes>;

std::string messageOf(const TensorMap &map) {
  Bytes bytes;
  return llvm::toString(encode(map, bytes.data()));
}

/// 64 x 10 x 3 halves in rows of 144 bytes; boxes of 32 x 8 x 2.
TensorMap halves() {
  TensorMap map;
  map.base = 4096;
  map.element = TensorElement::F16;
  map.rank = 3;
  map.size = {64, 10, 3};
  map.stride = {0, 144, 1440};
  map.box = {32, 8, 2};
  map.swizzle = Swizzle::Bytes64;
  return map;
}

using Draw = std::mt19937_64;
uint64_t drawn(Draw &draw, uint64_t least, uint64_t most) {
  return std::uniform_int_distribution<uint64_t>(least, most)(draw);
}

/// A map that keeps every rule, often just.
TensorMap drawnMap(Draw &draw) {
  TensorMap map;
  map.base = drawn(draw, 0, UINT64_MAX / 16) * 16;
  map.element = TensorElement(drawn(draw, 0, 12));
  map.rank = uint8_t(drawn(draw, 1, kMaxTensorRank));
  map.fillNaN = map.element >= TensorElement::F16 && drawn(draw, 0, 1);
  uint64_t bytes = bytesOf(map.element), below = bytes;
  for (unsigned i = 0; i < map.rank; ++i) {
    map.size[i] = drawn(draw, 1, i + 1 == map.rank ? uint64_t(1) << 32 : 70);
    map.stride[i] = i ? (below + 15) / 16 * 16 + 16 * drawn(draw, 0, 1) : 0;
    below = (i ? map.stride[i] : bytes) * map.size[i];
    map.box[i] = uint32_t(drawn(draw, 1, 256));
    map.step[i] = i ? uint32_t(drawn(draw, 1, 8)) : 1;
  }
  uint64_t pieces = drawn(draw, 1, 16 * bytes);
  map.box[0] = uint32_t(pieces * 16 / bytes);
  for (unsigned swizzle = 3; swizzle; --swizzle)
    if (pieces <= 1u << swizzle && drawn(draw, 0, 1))
      map.swizzle = Swizzle(swizzle);
  return map;
}

void expectSame(const TensorMap &got, const TensorMap &map) {
  EXPECT_EQ(got.base, map.base);
  EXPECT_EQ(got.element, map.element);
  EXPECT_EQ(got.rank, map.rank);
  EXPECT_EQ(got.swizzle, map.swizzle);
  EXPECT_EQ(got.fillNaN, map.fillNaN);
  EXPECT_EQ(got.size, map.size);
  EXPECT_EQ(got.stride, map.stride);
  for (unsigned i = 0; i < map.rank; ++i) {
    EXPECT_EQ(got.box[i], map.box[i]);
    EXPECT_EQ(got.step[i], map.step[i]);
  }
}

TEST(TensorMap, ComesBackAsItWas) {
  Draw draw(1);
  for (int round = 0; round < 2000; ++round) {
    TensorMap map = drawnMap(draw);
    Bytes bytes;
    ASSERT_EQ(llvm::toString(encode(map, bytes.data())), "");
    std::optional<TensorMap> back = decode(bytes.data());
    ASSERT_TRUE(back);
    expectSame(*back, map);
  }
}

/// The same tensor has the same bytes, whatever lies behind its rank.
TEST(TensorMap, DimensionsBeyondTheRankDoNotMatter) {
  TensorMap map = halves(), other = map;
  map.size[3] = map.stride[4] = map.box[3] = 12345;
  other.stride[0] = 99;
  Bytes bytes, others;
  ASSERT_EQ(llvm::toString(encode(map, bytes.data())), "");
  ASSERT_EQ(llvm::toString(encode(other, others.data())), "");
  EXPECT_EQ(bytes, others);
}

TEST(TensorMap, BytesOfNobodyAreNoMap) {
  Bytes bytes;
  for (uint8_t fill : {0, 255}) {
    bytes.fill(fill);
    EXPECT_FALSE(decode(bytes.data()));
  }
  ASSERT_EQ(llvm::toString(encode(halves(), bytes.data())), "");
  for (uint8_t &byte : bytes) {
    for (uint8_t change : {0x01, 0x80, 0xFF}) {
      byte ^= change;
      EXPECT_FALSE(decode(bytes.data())) << &byte - bytes.data();
      byte ^= change;
    }
  }
  EXPECT_TRUE(decode(bytes.data()));
}

/// Makes the checksum right again: FNV-1a, in the last 8 bytes.
void seal(Bytes &bytes) {
  uint64_t hash = 0xCBF29CE484222325;
  for (unsigned i = 0; i < kTensorMapBytes - 8; ++i)
    hash = (hash ^ bytes[i]) * 0x100000001B3;
  std::memcpy(bytes.data() + kTensorMapBytes - 8, &hash, 8);
}

TEST(TensorMap, OtherNamesAndVersionsAreRefused) {
  Bytes bytes;
  ASSERT_EQ(llvm::toString(encode(halves(), bytes.data())), "");
  seal(bytes);
  EXPECT_TRUE(decode(bytes.data()));
  for (unsigned place : {0, 4}) {
    Bytes other = bytes;
    ++other[place];
    seal(other);
    EXPECT_FALSE(decode(other.data())) << place;
  }
}

struct Break {
  std::function<void(TensorMap &)> change;
  const char *message; ///< behind "tensor map: "; "": still a map
};

const Break breaks[] = {
    {[](TensorMap &) {}, ""},
    {[](TensorMap &map) { map.element = TensorElement(13); },
     "expected an element type of 0..12, got 13"},
    {[](TensorMap &map) { map.swizzle = Swizzle(4); },
     "expected a swizzle of 0..3, got 4"},
    {[](TensorMap &map) { map.rank = 0; }, "expected a rank of 1..5, got 0"},
    {[](TensorMap &map) { map.rank = 6; }, "expected a rank of 1..5, got 6"},
    {[](TensorMap &map) { map.base += 8; },
     "expected a base aligned to 16 bytes, got 0x1008"},
    {[](TensorMap &map) { map.fillNaN = true; }, ""},
    {[](TensorMap &map) {
       map.element = TensorElement::U16;
       map.fillNaN = true;
     },
     "expected elements of a float type to fill with NaN, got u16"},
    {[](TensorMap &map) { map.size[2] = uint64_t(1) << 32; }, ""},
    {[](TensorMap &map) { map.size[2] = (uint64_t(1) << 32) + 1; },
     "dimension 2: expected a size of 1..4294967296 elements, got 4294967297"},
    {[](TensorMap &map) { map.size[1] = 0; },
     "dimension 1: expected a size of 1..4294967296 elements, got 0"},
    {[](TensorMap &map) { map.stride[1] = 136; },
     "dimension 1: expected a stride that is a multiple of 16 bytes, got 136"},
    {[](TensorMap &map) { map.stride[2] = (uint64_t(1) << 40) - 16; }, ""},
    {[](TensorMap &map) { map.stride[2] = uint64_t(1) << 40; },
     "dimension 2: expected a stride of less than 1099511627776 bytes, got "
     "1099511627776"},
    // Rows of heads within positions.
    {[](TensorMap &map) { map.stride[1] = 1440, map.stride[2] = 128; }, ""},
    {[](TensorMap &map) { map.box[1] = 256; }, ""},
    {[](TensorMap &map) { map.box[1] = 257; },
     "dimension 1: expected a box of 1..256 elements, got 257"},
    {[](TensorMap &map) { map.box[2] = 0; },
     "dimension 2: expected a box of 1..256 elements, got 0"},
    {[](TensorMap &map) { map.box[0] = 12; },
     "dimension 0: expected a box of a multiple of 16 bytes, got 24"},
    {[](TensorMap &map) { map.step[2] = 8; }, ""},
    {[](TensorMap &map) { map.step[2] = 9; },
     "dimension 2: expected a step of 1..8, got 9"},
    {[](TensorMap &map) { map.step[1] = 0; },
     "dimension 1: expected a step of 1..8, got 0"},
    {[](TensorMap &map) { map.step[0] = 2; },
     "dimension 0: expected a step of 1, as copies have no other there, got 2"},
    {[](TensorMap &map) { map.swizzle = Swizzle::Bytes32; },
     "dimension 0: expected a box of at most the 32 bytes of the swizzle, got "
     "64"},
    {[](TensorMap &map) { map.box[0] = 40; },
     "dimension 0: expected a box of at most the 64 bytes of the swizzle, got "
     "80"},
    {[](TensorMap &map) {
       map.swizzle = Swizzle::Bytes128;
       map.box[0] = 72;
     },
     "dimension 0: expected a box of at most the 128 bytes of the swizzle, got "
     "144"},
    {[](TensorMap &map) {
       map.swizzle = Swizzle::None;
       map.box[0] = 256;
     },
     ""},
};

TEST(TensorMap, NamesTheRuleThatIsBroken) {
  for (const Break &broken : breaks) {
    TensorMap map = halves();
    broken.change(map);
    std::string expected = broken.message;
    EXPECT_EQ(messageOf(map),
              expected.empty() ? "" : "tensor map: " + expected);
  }
}

TEST(TensorMap, SizesThatOverflowAreNotInTheWay) {
  TensorMap map = halves();
  map.size = {uint64_t(1) << 32, uint64_t(1) << 32, 1};
  map.stride = {0, uint64_t(1) << 33, (uint64_t(1) << 40) - 16};
  EXPECT_EQ(messageOf(map), "");
  EXPECT_EQ(map.bytesSpanned(), UINT64_MAX);
}

TEST(TensorMap, CountsBytes) {
  TensorMap map = halves();
  EXPECT_EQ(map.bytesSpanned(), 2u * 1440 + 9 * 144 + 128);
  EXPECT_EQ(map.bytesMoved(), 2u * 32 * 8 * 2);
  map.step = {1, 3, 2};
  EXPECT_EQ(map.bytesMoved(), 2u * 32 * 3 * 1);
  const unsigned bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  for (unsigned i = 0; i < std::size(bytes); ++i)
    EXPECT_EQ(bytesOf(TensorElement(i)), bytes[i]) << i;
}

} // namespace
