//===- WarpgroupSupport.h - CUDA text that wgmma tests share ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_WARPGROUPSUPPORT_H
#define RAYTENTION_TESTS_SIMT_WARPGROUPSUPPORT_H

#include <string>

namespace raytention::simt::test {

/// Thin functions over the instructions, and a tile of rows of 64 16-bit
/// elements with the 128-byte swizzle.
inline const char *const warpgroupPrelude = R"(
typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned short u16;
#define DEVICE static __device__ __forceinline__
DEVICE u32 addressOf(const void *p) {
  return (u32)__cvta_generic_to_shared(p);
}
DEVICE u64 describe(const void *p, u32 leading = 16, u32 stride = 1024) {
  return (u64)(addressOf(p) >> 4 & 0x3FFF) | (u64)(leading >> 4) << 16 |
         (u64)(stride >> 4) << 32 | (u64)1 << 62;
}
DEVICE void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DEVICE void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int N> DEVICE void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
DEVICE void proxyFence() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
DEVICE u16 toBf16(float value) {
  return (u16)(__float_as_uint(value) >> 16);
}
DEVICE u32 pack(float low, float high) {
  u32 both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}
// Element (row, column) of a tile of 64 columns.
DEVICE u16 *elementOf(void *tile, int row, int column) {
  return (u16 *)((char *)tile + row * 128 + ((column / 8 ^ row % 8) * 16)) +
         column % 8;
}
DEVICE void load(void *tile, const u16 *from, int rows, int rowLength) {
  for (int i = threadIdx.x; i < rows * 64; i += blockDim.x)
    *elementOf(tile, i / 64, i % 64) = from[i / 64 * rowLength + i % 64];
}
)";

/// A function over m64nNk16.f32.bf16.bf16 on float d[N/8][4], or on float
/// d[N/2] where `flat`.
inline std::string wgmmaFunction(const std::string &name, unsigned n,
                                 bool registersOfA, bool flat = false,
                                 bool transposedB = false) {
  unsigned sums = n / 2;
  auto at = [](unsigned i) { return "%" + std::to_string(i); };
  std::string regs, outs;
  for (unsigned i = 0; i < sums; ++i) {
    std::string comma = i ? ", " : "";
    regs += comma + at(i);
    outs += comma + "\"+f\"(d[" +
            (flat ? std::to_string(i)
                  : std::to_string(i / 4) + "][" + std::to_string(i % 4)) +
            "])";
  }
  unsigned next = sums;
  std::string a = at(next++);
  std::string ins = "\"l\"(a)";
  if (registersOfA) {
    a = "{" + a;
    for (unsigned i = 1; i < 4; ++i)
      a += ", " + at(next++);
    a += "}";
    ins = "\"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3])";
  }
  std::string b = at(next++), scale = at(next);
  std::string shape = flat ? "float (&d)[" + std::to_string(sums) + "]"
                           : "float (&d)[" + std::to_string(n / 8) + "][4]";
  return "DEVICE void " + name + "(" + shape + ", " +
         (registersOfA ? "const u32 (&a)[4]" : "u64 a") +
         ", u64 b, int scale = 1) {\n  asm volatile(\"{\\n.reg .pred p;\\n"
         "setp.ne.b32 p, " +
         scale + ", 0;\\nwgmma.mma_async.sync.aligned.m64n" +
         std::to_string(n) + "k16.f32.bf16.bf16 {" + regs + "}, " + a + ", " +
         b + ", p, 1, 1" + (registersOfA ? "" : ", 0") +
         (transposedB ? ", 1" : ", 0") + ";\\n}\\n\"\n    : " + outs +
         "\n    : " + ins + ", \"l\"(b), \"r\"(scale));\n}\n";
}

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_WARPGROUPSUPPORT_H
