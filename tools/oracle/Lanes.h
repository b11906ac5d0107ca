//===- Lanes.h - the vectors of the inner loops -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without -ffast-math a compiler may not reorder a sum, so the lanes are
// written out as vectors. Each function marked ORACLE_VERSIONS is compiled
// twice and the better version is taken at load time.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_LANES_H
#define RAYTENTION_TOOLS_ORACLE_LANES_H

#include <cstdint>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) &&         \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define ORACLE_VERSIONS                                                        \
  __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define ORACLE_VERSIONS
#endif

/// Of what such functions share: inlined, it is compiled as they are.
#define ORACLE_INLINE static inline __attribute__((always_inline))

namespace raytention {
namespace oracle {

constexpr int64_t lanes = 4;
/// Four doubles at any address that is good for one.
typedef double Vec __attribute__((vector_size(lanes * sizeof(double)),
                                  aligned(sizeof(double)), may_alias));

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_LANES_H
