//===- TestGradient.h - gradients for the oracle's tests --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_NUMERICS_TESTGRADIENT_H
#define RAYTENTION_TESTS_NUMERICS_TESTGRADIENT_H

#include "tests/numerics/TestProblem.h"
#include "tools/oracle/Gradient.h"

namespace raytention {
namespace test {

/// Standard normal dy [B, Tq, S].
std::vector<double> drawGradient(const oracle::Problem &problem, unsigned seed);

/// The gradient of all rows; fails the running test on an error.
oracle::Gradients backward(const oracle::Problem &problem,
                           const std::vector<double> &dy, int threads = 1,
                           oracle::ScoreShift shift = {});

/// The gradient of some rows.
oracle::Gradients
backward(const oracle::Problem &problem, const std::vector<oracle::RowId> &rows,
         const std::vector<double> &dy, int threads = 1,
         oracle::ScoreShift shift = {},
         oracle::Arithmetic arithmetic = oracle::Arithmetic::Double);

/// All elements of all parts, one after the other.
std::vector<double> allValues(const oracle::Gradients &gradients);
std::vector<double> allSensitivities(const oracle::Gradients &gradients);

} // namespace test
} // namespace raytention

#endif // RAYTENTION_TESTS_NUMERICS_TESTGRADIENT_H
