//===- CpuTarget.h - what a CPU offers to the lowering ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_TARGET_CPUTARGET_H
#define RAYTENTION_CODEGEN_TARGET_CPUTARGET_H

#include <cstdint>

namespace raytention {

/// Capabilities of a CPU: the register tile of a matrix product is `tileRows`
/// broadcast scalars by `tileVectors` vectors.
struct CpuTarget {
  int64_t vectorBits = 256;
  int64_t tileRows = 6;
  int64_t tileVectors = 2;

  /// The tile that uses the registers without spilling: 32 vector registers
  /// hold 12 x 2 accumulators, 16 hold 6 x 2.
  static CpuTarget get(int64_t vectorBits);
  /// This machine.
  static CpuTarget host();
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_TARGET_CPUTARGET_H
