//===- WarpgroupSupport.h - functions over wgmma for CUDA text --*- C++ -*-===//
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
