//===- TensorCopyTest.cpp - boxes of tensors against plain loops ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/Support.h"

#include <random>

using namespace raytention::simt;
using namespace raytention::simt::test;

namespace {
constexpr uint32_t kShared = 32768;

/// k(words, count, bytes, x0..x4, map): one warp moves a box between the tensor
/// and shared memory, and `count` words between shared memory and `words`.
enum class Way { Load, Store, Add };
std::string makeText(unsigned rank, Way way) {
  bool isStore = way != Way::Load;
  std::string coordinates = "{";
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k("
      ".param .u64 words, .param .u32 count, .param .u32 bytes, ";
  for (unsigned i = 0; i < 5; ++i)
    text += ".param .u32 x" + std::to_string(i) + ", ";
  text += ".param .align 64 .b8 map[128]) {\n.reg .pred %p<4>;\n"
          ".reg .b32 %r<16>;\n.reg .b64 %rd<8>;\n"
          ".shared .align 1024 .b8 box[32768];\n.shared .align 8 .b64 bar;\n"
          "ld.param.u64 %rd1, [words];\nld.param.u32 %r1, [count];\n"
          "ld.param.u32 %r2, [bytes];\nmov.u32 %r3, %tid.x;\n"
          "mov.u32 %r4, box;\nmov.u32 %r5, bar;\n"
          "mov.b64 %rd2, map;\ncvta.param.u64 %rd2, %rd2;\n"
          "setp.ne.u32 %p1, %r3, 0;\n";
  for (unsigned i = 0; i < rank; ++i) {
    std::string reg = "%r" + std::to_string(8 + i);
    text += "ld.param.u32 " + reg + ", [x" + std::to_string(i) + "];\n";
    coordinates += (i ? ", " : "") + reg;
  }
  coordinates += "}";
  std::string form = "cp.async.bulk.tensor." + std::to_string(rank) + "d.";
  std::string load =
      "@%p1 bra WAIT;\nmbarrier.init.shared::cta.b64 [%r5], 1;\n"
      "fence.proxy.async.shared::cta;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], %r2;\n" +
      form +
      "shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2, " +
      coordinates +
      "], [%r5];\nWAIT:\nbar.sync 0;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r5], 0;\n"
      "@!%p2 bra AGAIN;\n";
  std::string loop = "MORE:\nsetp.ge.u32 %p3, %r3, %r1;\n@%p3 bra DONE;\n"
                     "mul.wide.u32 %rd3, %r3, 4;\nadd.s64 %rd3, %rd1, %rd3;\n"
                     "shl.b32 %r6, %r3, 2;\nadd.u32 %r6, %r4, %r6;\n" +
                     std::string(isStore ? "ld.global.u32 %r7, [%rd3];\n"
                                           "st.shared.u32 [%r6], %r7;\n"
                                         : "ld.shared.u32 %r7, [%r6];\n"
                                           "st.global.u32 [%rd3], %r7;\n") +
                     "add.u32 %r3, %r3, 32;\nbra MORE;\nDONE:\n";
  std::string out = form + "global.shared::cta.bulk_group";
  if (way == Way::Add)
    out = "cp.reduce.async.bulk.tensor." + std::to_string(rank) +
          "d.global.shared::cta.add.tile.bulk_group";
  std::string store =
      "fence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 ret;\n" + out +
      " [%rd2, " + coordinates +
      "], [%r4];\ncp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group 0;\n";
  return text + (isStore ? loop + store : load + loop) + "ret;\n}\n";
}

/// A drawn tensor, a box and where it lies.
struct Draw {
  TensorMap map;
  int32_t start[kMaxTensorRank] = {};
  std::vector<uint8_t> tensor;

  explicit Draw(unsigned seed) : draw(seed) {
    static constexpr TensorElement elements[] = {
        TensorElement::U8, TensorElement::F16, TensorElement::F32,
        TensorElement::F64, TensorElement::BF16};
    map.element = elements[number(0, 4)];
    map.rank = number(1, 5);
    map.swizzle = static_cast<Swizzle>(number(0, 3));
    bool isFloat = map.element != TensorElement::U8;
    map.fillNaN = isFloat && number(0, 3) == 0;
    drawBox();
    drawTensor();
  }

  uint32_t number(uint32_t least, uint32_t most) {
    return least + draw() % (most - least + 1);
  }
  unsigned elementBytes() const { return bytesOf(map.element); }

  /// Calls f(index in the box, its coordinates, address or null).
  template <class F> void forEachElement(F f) {
    uint32_t count = map.bytesMoved() / elementBytes();
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t rest = i;
      uint64_t offset = 0;
      bool inside = true;
      for (unsigned d = 0; d < map.rank; ++d) {
        int64_t at = start[d] + int64_t(rest % map.moved(d)) * map.step[d];
        rest /= map.moved(d);
        inside &= at >= 0 && at < int64_t(map.size[d]);
        offset += uint64_t(at) * (d ? map.stride[d] : elementBytes());
      }
      f(i, inside ? &tensor[offset] : nullptr);
    }
  }

  /// Where element i of the box lies in shared memory aligned to 1024 bytes.
  uint32_t placeOf(uint32_t i) const {
    uint32_t address = i * elementBytes();
    uint32_t piece = address / 16 % 8, line = address / 128 % 8;
    if (map.swizzle == Swizzle::Bytes128)
      piece ^= line;
    else if (map.swizzle == Swizzle::Bytes64)
      piece ^= line % 4;
    else if (map.swizzle == Swizzle::Bytes32)
      piece ^= line % 2;
    return address / 128 * 128 + piece * 16 + address % 16;
  }

private:
  void drawBox() {
    unsigned bytes = elementBytes();
    uint32_t row = map.swizzle == Swizzle::None ? 16 * number(1, 8)
                                                : 16u << unsigned(map.swizzle);
    map.box[0] = std::min(256u, row / bytes);
    if (map.swizzle != Swizzle::None && map.box[0] * bytes != row)
      map.swizzle = Swizzle::None;
    uint32_t rows = 1;
    for (unsigned d = 1; d < map.rank; ++d) {
      map.step[d] = number(0, 2) ? 1 : number(1, 4);
      map.box[d] = number(1, 6);
      rows *= map.moved(d);
    }
    for (unsigned d = map.rank; --d > 0 && rows * row > kShared;) {
      rows /= map.moved(d);
      map.box[d] = 1;
    }
  }

  void drawTensor() {
    uint64_t below = 0;
    for (unsigned d = 0; d < map.rank; ++d) {
      map.size[d] = number(1, d ? 9 : 70);
      map.stride[d] = d == 0 ? elementBytes() : below + 16 * number(0, 2);
      below = (map.stride[d] * map.size[d] + 15) / 16 * 16;
      start[d] = int32_t(number(0, map.size[d] + 8)) - 4;
    }
    tensor.resize(below);
    for (uint8_t &byte : tensor)
      byte = draw();
  }

  std::mt19937 draw;
};

/// Runs the kernel; `words` and the tensor are read back.
void move(Draw &test, std::vector<uint32_t> &words, Way way, bool checks) {
  Machine machine(makeText(test.map.rank, way));
  uint32_t *buffer = machine.buffer(words, "words");
  uint8_t *tensor = machine.buffer(test.tensor, "tensor");
  test.map.base = reinterpret_cast<uint64_t>(tensor);
  const int32_t *x = test.start;
  LaunchOptions options;
  options.checks = checks;
  Report report = machine.run("k", {}, {32, 1, 1}, 0,
                              pack(buffer, uint32_t(words.size()),
                                   uint32_t(test.map.bytesMoved()), x[0], x[1],
                                   x[2], x[3], x[4], encoded(test.map)),
                              options);
  EXPECT_TRUE(report.clean()) << describe(report);
  std::copy_n(buffer, words.size(), words.begin());
  std::copy_n(tensor, test.tensor.size(), test.tensor.begin());
  const GlobalTraffic &traffic =
      way == Way::Load ? report.profile.bulkLoads : report.profile.bulkStores;
  uint64_t bytes = 0;
  test.forEachElement(
      [&](uint32_t, uint8_t *at) { bytes += at ? test.elementBytes() : 0; });
  EXPECT_EQ(traffic.bytes, bytes);
  EXPECT_EQ(traffic.requests, 1u);
}
} // namespace

TEST(TensorCopyTest, LoadsBoxes) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Draw test(seed);
    std::vector<uint32_t> words(test.map.bytesMoved() / 4);
    move(test, words, Way::Load, /*checks=*/seed % 3);
    const uint8_t *box = reinterpret_cast<const uint8_t *>(words.data());
    unsigned wrong = 0;
    test.forEachElement([&](uint32_t i, uint8_t *at) {
      uint8_t fill[8];
      std::memset(fill, test.map.fillNaN ? 0xFF : 0, sizeof(fill));
      wrong += std::memcmp(box + test.placeOf(i), at ? at : fill,
                           test.elementBytes()) != 0;
    });
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(TensorCopyTest, StoresBoxes) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    Draw test(1000 + seed);
    std::vector<uint32_t> words(test.map.bytesMoved() / 4);
    for (uint32_t &word : words)
      word = test.number(0, ~0u - 1);
    // What lies outside the box, or the tensor, stays.
    Draw expected = test;
    const uint8_t *box = reinterpret_cast<const uint8_t *>(words.data());
    expected.forEachElement([&](uint32_t i, uint8_t *at) {
      if (at)
        std::memcpy(at, box + test.placeOf(i), test.elementBytes());
    });
    move(test, words, Way::Store, /*checks=*/seed % 3);
    EXPECT_EQ(test.tensor, expected.tensor);
  }
}

TEST(TensorCopyTest, AddsBoxes) {
  unsigned added = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    Draw test(2000 + seed);
    if (test.map.element != TensorElement::F32)
      continue;
    SCOPED_TRACE(seed);
    ++added;
    // Whole numbers: their sums are exact.
    auto fill = [&](void *to, size_t bytes) {
      for (size_t i = 0; i < bytes / 4; ++i)
        static_cast<float *>(to)[i] = float(test.number(0, 2000)) - 1000;
    };
    std::vector<uint32_t> words(test.map.bytesMoved() / 4);
    fill(words.data(), words.size() * 4);
    fill(test.tensor.data(), test.tensor.size());
    Draw expected = test;
    const float *box = reinterpret_cast<const float *>(words.data());
    expected.forEachElement([&](uint32_t i, uint8_t *at) {
      if (at)
        *reinterpret_cast<float *>(at) += box[test.placeOf(i) / 4];
    });
    move(test, words, Way::Add, /*checks=*/seed % 3);
    EXPECT_EQ(test.tensor, expected.tensor);
  }
  EXPECT_GT(added, 30u);
}

TEST(TensorCopyTest, FlushesSubnormals) {
  Draw test(0);
  test.map = TensorMap();
  test.map.element = TensorElement::F32Flushed;
  test.map.size[0] = test.map.box[0] = 8;
  test.start[0] = 0;
  uint32_t values[8] = {1, 0x80000001, 0x007FFFFF, 0x00800000,
                        0, 0x80000000, 0x7F800000, 0x3F800000};
  test.tensor.resize(32);
  std::memcpy(test.tensor.data(), values, 32);
  std::vector<uint32_t> words(8);
  move(test, words, Way::Load, true);
  EXPECT_EQ(words, (std::vector<uint32_t>{0, 0x80000000, 0, 0x00800000, 0,
                                          0x80000000, 0x7F800000, 0x3F800000}));
}
