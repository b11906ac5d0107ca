//===- Planted.h - kernels with one planted fault ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_SIMT_PLANTED_H
#define RAYTENTION_TESTS_SIMT_PLANTED_H

#include "tests/simt/Support.h"

namespace raytention::simt::test {

/// The body of a kernel, compiled with FAULTY 1 and 0. The lines that may be
/// reported end in `here`.
struct Planted {
  const char *name;
  FindingKind kind;
  const char *body;
  uint32_t threads = 64;
  uint32_t blocks = 1;
  /// What the fault brings with it; at the case it says why.
  std::vector<FindingKind> also = {};
};

/// "--define-macro=FAULTY=1".
std::string faultyOption(bool faulty);

/// The fault is reported at a marked line of k.cu, and nothing else is.
void expectPlanted(const Report &report, const Planted &planted,
                   const std::string &source);

} // namespace raytention::simt::test

#endif // RAYTENTION_TESTS_SIMT_PLANTED_H
