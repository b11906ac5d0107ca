//===- WarpgroupCase.h - one wgmma against plain loops ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_WARPGROUPCASE_H
#define RAYTENTION_TESTS_SIMT_WARPGROUPCASE_H

#include "tests/simt/Support.h"

namespace raytention::simt::test::wgmma {

enum Pattern { Interleaved, Swizzle128, Swizzle64, Swizzle32 };

/// One operand in shared memory. `far` turns the order of the two offsets.
struct Layout {
  Pattern swizzle = Swizzle128;
  bool kMajor = true, far = false;
};

enum Type { BF16, F16, TF32 };

struct Case {
  unsigned n = 64;
  Type type = BF16;
  bool halfSums = false, registersOfA = false;
  Layout a, b;
  bool accumulates = true, negativeA = false, negativeB = false;
  bool negatedScale = false; ///< !%p

  unsigned depth() const { return type == TF32 ? 8 : 16; }
  unsigned size() const { return type == TF32 ? 4 : 2; }
  unsigned sums() const { return n / (halfSums ? 4 : 2); } ///< registers
};

/// {%d0,%d1,...}
std::string list(const char *prefix, unsigned count);

/// Runs the product on operands in these layouts and compares all sums.
Profile check(const Case &test);

} // namespace raytention::simt::test::wgmma

#endif // RAYTENTION_TESTS_SIMT_WARPGROUPCASE_H
