//===- GradientTerms.h - how large a gradient's terms are --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_GRADIENTTERMS_H
#define RAYTENTION_TESTS_FUZZ_GRADIENTTERMS_H

#include "tests/fuzz/Case.h"

namespace raytention {
namespace fuzz {

/// The largest sum of absolute terms of any element of any gradient, by the
/// formulas of docs/semantics.md; 0 without gradients. Where it is below 2^120
/// (f64: 2^1000) every gradient has to be finite.
long double findLargestTerms(const Case &c);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_GRADIENTTERMS_H
