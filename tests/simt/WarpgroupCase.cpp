//===- WarpgroupCase.cpp - one wgmma against plain loops --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/simt/WarpgroupCase.h"

#include <cmath>

using namespace raytention::simt;
using namespace raytention::simt::test;
using namespace raytention::simt::test::wgmma;

namespace {

//===----------------------------------------------------------------------===//
// Layouts, as CuTe writes them: coordinates times strides, then a swizzle
//===----------------------------------------------------------------------===//

/// Pieces of 16 bytes that are swizzled together.
unsigned width(Pattern swizzle) {
  static constexpr unsigned widths[] = {1, 8, 4, 2};
  return widths[swizzle];
}

struct Offsets {
  unsigned leading, stride; ///< bytes
};

Offsets offsetsOf(const Layout &layout, unsigned rows) {
  unsigned pattern = 128 * width(layout.swizzle);
  if (layout.swizzle == Interleaved)
    return layout.far ? Offsets{rows / 8 * 144, 144} : Offsets{160, 320};
  if (layout.kMajor)
    return {layout.far ? 4096u : 16u, 2 * pattern};
  return layout.far ? Offsets{pattern, 32 * pattern}
                    : Offsets{2 * pattern, pattern};
}

/// A coordinate split by the sizes of its modes, times their strides; the last
/// mode takes the rest.
unsigned place(unsigned coordinate, std::initializer_list<unsigned> sizes,
               std::initializer_list<unsigned> strides) {
  unsigned sum = 0;
  auto stride = strides.begin();
  for (unsigned size : sizes) {
    sum += coordinate % size * *stride++;
    coordinate /= size;
  }
  return sum + coordinate * *stride;
}

/// Byte of element (row, k), of T elements in 16 bytes, in a matrix at `base`:
/// swizzle o ((8,m),(T,2)):((W*T,SBO),(1,T or LBO)), or
/// ((T,W,m),(8,k)):((1,T,LBO),(W*T,SBO)) with the two offsets the other way
/// round where W is 1.
unsigned byteOf(const Layout &layout, const Offsets &o, unsigned base,
                unsigned row, unsigned k, unsigned size) {
  unsigned w = width(layout.swizzle), t = 16 / size;
  bool plain = layout.swizzle == Interleaved;
  unsigned at = base;
  if (layout.kMajor)
    at += place(row, {8}, {16 * w, o.stride}) +
          place(k, {t}, {size, plain ? o.leading : 16});
  else if (plain)
    at += place(row, {t}, {size, o.stride}) + place(k, {8}, {16, o.leading});
  else
    at += place(row, {t, w}, {size, 16, o.leading}) +
          place(k, {8}, {16 * w, o.stride});
  unsigned mask = w - 1;
  return at ^ (at >> 7 & mask) << 4;
}

uint64_t descriptorOf(const Layout &layout, const Offsets &o, unsigned base) {
  return uint64_t(base) >> 4 | uint64_t(o.leading >> 4) << 16 |
         uint64_t(o.stride >> 4) << 32 | uint64_t(layout.swizzle) << 62;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

uint32_t bitsOf(Type type, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if (type == TF32)
    return bits | 0x1FFF; // bits below ten are not read
  if (type == BF16)
    return bits >> 16;
  if (value == 0)
    return 0;
  int exponent;
  float fraction = std::frexp(std::fabs(value), &exponent);
  uint32_t half =
      uint32_t(exponent + 14) << 10 | (uint32_t(fraction * 2048) & 0x3FF);
  return value < 0 ? half | 0x8000 : half;
}

/// Small whole numbers: every type here holds them and their sums exactly.
float element(unsigned i) { return float(int(i * 7 + i / 5) % 13 - 6); }
float elementA(unsigned row, unsigned k) { return element(row * 16 + k); }
float elementB(unsigned k, unsigned column) {
  return element(3000 + column * 16 + k);
}
float elementC(unsigned row, unsigned column) {
  return element(9000 + row * 256 + column);
}

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

} // namespace

std::string wgmma::list(const char *prefix, unsigned count) {
  std::string names = "{";
  for (unsigned i = 0; i < count; ++i)
    names += (i ? "," : "") + (prefix + std::to_string(i));
  return names + "}";
}

namespace {

std::string mnemonic(const Case &test) {
  static const char *const names[] = {"bf16", "f16", "tf32"};
  std::string type = names[test.type];
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(test.n) + "k" +
         std::to_string(test.depth()) + (test.halfSums ? ".f16." : ".f32.") +
         type + "." + type;
}

std::string product(const Case &test) {
  std::string text = mnemonic(test) + " " + list("%d", test.sums()) + ", ";
  text += test.registersOfA ? list("%a", 4) : "%rd8";
  text += test.negatedScale ? ", %rd9, !%p1, " : ", %rd9, %p1, ";
  text += test.negativeA ? "-1, " : "1, ";
  text += test.negativeB ? "-1" : "1";
  if (test.type == TF32)
    return text + ";\n";
  if (!test.registersOfA)
    text += test.a.kMajor ? ", 0" : ", 1";
  return text + (test.b.kMajor ? ", 0;\n" : ", 1;\n");
}

/// `count` registers per thread, one after another, from or to an address that
/// parameter `name` starts.
std::string transfer(const char *op, const char *name, const char *prefix,
                     unsigned count) {
  std::string text = std::string("ld.param.u64 %rd1, [") + name +
                     "];\nmul.wide.u32 %rd2, %r1, " +
                     std::to_string(4 * count) +
                     ";\nadd.s64 %rd1, %rd1, %rd2;\n";
  for (unsigned i = 0; i < count; ++i) {
    std::string reg = prefix + std::to_string(i);
    std::string at = "[%rd1+" + std::to_string(4 * i) + "]";
    text += std::string(op) + ".global.b32 " +
            (op[0] == 'l' ? reg + ", " + at : at + ", " + reg) + ";\n";
  }
  return text;
}

/// Copies the image of shared memory, loads what lies in registers, runs the
/// product and stores the sums.
std::string textOf(const Case &test) {
  std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".extern .shared .align 1024 .b8 sm[];\n"
      ".visible .entry k(.param .u64 image, .param .u32 words, .param .u64 pa, "
      ".param .u64 pc, .param .u64 pd, .param .u64 da, .param .u64 db, "
      ".param .u32 scale) {\n.reg .pred %p<4>;\n.reg .b32 %r<16>;\n"
      ".reg .b32 %a<4>;\n.reg .b32 %d<128>;\n.reg .b64 %rd<16>;\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %r1;\nld.param.u32 %r3, [words];\n"
      "ld.param.u64 %rd4, [image];\nmov.u32 %r5, sm;\n"
      "loop:\nmul.wide.u32 %rd5, %r2, 4;\nadd.s64 %rd5, %rd5, %rd4;\n"
      "ld.global.u32 %r4, [%rd5];\nshl.b32 %r6, %r2, 2;\n"
      "add.u32 %r6, %r6, %r5;\nst.shared.u32 [%r6], %r4;\n"
      "add.u32 %r2, %r2, 128;\nsetp.lt.u32 %p2, %r2, %r3;\n@%p2 bra loop;\n"
      "fence.proxy.async;\nbar.sync 0;\n";
  text += transfer("ld", "pc", "%d", test.sums());
  if (test.registersOfA)
    text += transfer("ld", "pa", "%a", 4);
  text += "ld.param.u64 %rd8, [da];\nld.param.u64 %rd9, [db];\n"
          "ld.param.u32 %r7, [scale];\nsetp.ne.u32 %p1, %r7, 0;\n"
          "wgmma.fence.sync.aligned;\n";
  text += product(test);
  text += "wgmma.commit_group.sync.aligned;\n"
          "wgmma.wait_group.sync.aligned 0;\n";
  return text + transfer("st", "pd", "%d", test.sums()) + "ret;\n}\n";
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void put(std::vector<uint8_t> &image, unsigned at, uint32_t bits,
         unsigned size) {
  if (image.size() < at + size)
    image.resize(at + size, 0xFF);
  std::memcpy(&image[at], &bits, size);
}

/// A at 0, B at the next multiple of 1024; what no element takes is NaNs.
std::vector<uint8_t> makeImage(const Case &test, uint64_t &a, uint64_t &b) {
  std::vector<uint8_t> image;
  Offsets offsetsA = offsetsOf(test.a, 64),
          offsetsB = offsetsOf(test.b, test.n);
  for (unsigned k = 0; k < test.depth(); ++k)
    for (unsigned row = 0; row < 64; ++row)
      put(image, byteOf(test.a, offsetsA, 0, row, k, test.size()),
          bitsOf(test.type, elementA(row, k)), test.size());
  unsigned base = (image.size() + 1023) / 1024 * 1024;
  for (unsigned k = 0; k < test.depth(); ++k)
    for (unsigned column = 0; column < test.n; ++column)
      put(image, byteOf(test.b, offsetsB, base, column, k, test.size()),
          bitsOf(test.type, elementB(k, column)), test.size());
  image.resize((image.size() + 511) / 512 * 512, 0xFF);
  a = descriptorOf(test.a, offsetsA, 0);
  b = descriptorOf(test.b, offsetsB, base);
  return image;
}

/// Registers of A: two neighbours of 16 bits, or one number of 32.
std::vector<uint32_t> makeRegistersOfA(const Case &test) {
  std::vector<uint32_t> values(128 * 4);
  unsigned perRegister = 4 / test.size();
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned e = 0; e < perRegister; ++e) {
        unsigned row = 16 * (thread / 32) + thread % 32 / 4 + r % 2 * 8;
        unsigned k = thread % 4 * perRegister + e + r / 2 * test.depth() / 2;
        values[thread * 4 + r] |= bitsOf(test.type, elementA(row, k))
                                  << (16 * e);
      }
  return values;
}

/// Sum i of a thread: its row and column.
void findSum(unsigned thread, unsigned i, unsigned &row, unsigned &column) {
  row = 16 * (thread / 32) + thread % 32 / 4 + i / 2 % 2 * 8;
  column = 8 * (i / 4) + thread % 4 * 2 + i % 2;
}

std::vector<uint32_t> makeSums(const Case &test, bool results) {
  unsigned count = test.sums();
  std::vector<uint32_t> values(128 * count);
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < test.n / 2; ++i) {
      unsigned row, column;
      findSum(thread, i, row, column);
      float sum = elementC(row, column);
      if (results && !test.accumulates)
        sum = 0;
      for (unsigned k = 0; results && k < test.depth(); ++k)
        sum += elementA(row, k) * elementB(k, column) *
               (test.negativeA == test.negativeB ? 1 : -1);
      uint32_t bits;
      std::memcpy(&bits, &sum, 4);
      if (test.halfSums)
        values[thread * count + i / 2] |= bitsOf(F16, sum) << (16 * (i % 2));
      else
        values[thread * count + i] = bits;
    }
  return values;
}

std::string describeCase(const Case &test) {
  static const char *const names[] = {"none", "128", "64", "32"};
  auto of = [&](const Layout &layout) {
    return std::string(names[layout.swizzle]) + (layout.kMajor ? " K" : " MN") +
           (layout.far ? " far" : "");
  };
  return mnemonic(test) + ", A " +
         (test.registersOfA ? "in registers" : of(test.a)) + ", B " +
         of(test.b);
}

} // namespace

Profile wgmma::check(const Case &test) {
  SCOPED_TRACE(describeCase(test));
  Machine machine(textOf(test));
  if (!machine.isLoaded())
    return {};
  uint64_t a, b;
  std::vector<uint8_t> image = makeImage(test, a, b);
  uint8_t *from = machine.buffer(image, "image");
  uint32_t *registers = machine.buffer(makeRegistersOfA(test), "a");
  uint32_t *c = machine.buffer(makeSums(test, false), "c");
  std::vector<uint32_t> wanted = makeSums(test, true);
  uint32_t *d = machine.buffer(std::vector<uint32_t>(wanted.size()), "d");
  Report report =
      machine.run("k", {}, {128, 1, 1}, image.size(),
                  pack(from, uint32_t(image.size() / 4), registers, c, d, a, b,
                       uint32_t(test.accumulates != test.negatedScale)));
  EXPECT_TRUE(report.clean()) << raytention::simt::test::describe(report);
  unsigned wrong = 0;
  for (unsigned i = 0; i < wanted.size(); ++i)
    // Zero has two signs.
    wrong += d[i] != wanted[i] && ((d[i] | wanted[i]) & 0x7FFFFFFF);
  EXPECT_EQ(wrong, 0u) << "of " << wanted.size() << " registers";
  return report.profile;
}
