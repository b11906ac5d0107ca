//===- FloatEnvironment.h - how a thread rounds -----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_SUPPORT_FLOATENVIRONMENT_H
#define RAYTENTION_RUNTIME_SUPPORT_FLOATENVIRONMENT_H

#include <cfenv>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace raytention {

/// While it lives, its thread computes as the code was compiled for: to
/// nearest even, no exception traps, denormals are numbers. Then the modes,
/// the flags and the masks are again what they were: those of the caller,
/// which a thread also inherits from the one that starts it.
class FloatEnvironment {
public:
  FloatEnvironment() {
    std::fegetenv(&saved);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved); }
  FloatEnvironment(const FloatEnvironment &) = delete;
  FloatEnvironment &operator=(const FloatEnvironment &) = delete;

  /// Until the one that lives on this thread ends, denormals are zero, in and
  /// out, where the machine can: one of them costs as much as a hundred
  /// multiply-adds.
  static void flushDenormals() {
#if defined(__x86_64__)
    constexpr unsigned flushToZero = 0x8000, denormalsAreZero = 0x0040;
    _mm_setcsr(_mm_getcsr() | flushToZero | denormalsAreZero);
#endif
  }

private:
  std::fenv_t saved;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_SUPPORT_FLOATENVIRONMENT_H
