//===- TestProblem.h - small problems for the oracle's tests ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_NUMERICS_TESTPROBLEM_H
#define RAYTENTION_TESTS_NUMERICS_TESTPROBLEM_H

#include "tools/oracle/Oracle.h"

namespace raytention {
namespace test {

std::vector<oracle::Channel> channels(const std::string &list);

/// One sequence whose token j is row j of the table. `queries` and `keys` are
/// [T, D]. Default channels.
oracle::Problem makeProblem(int64_t dModel, std::vector<double> queries,
                            std::vector<double> keys);

/// Normal queries and table of standard deviation 0.6, uniform ids, Tq = T,
/// default channels.
oracle::Problem randomProblem(int64_t batch, int64_t numKeys, int64_t vocab,
                              int64_t dModel, unsigned seed);

/// All rows; fails the running test on an error.
std::vector<oracle::Row>
run(const oracle::Problem &problem, int threads = 1,
    oracle::Arithmetic arithmetic = oracle::Arithmetic::Double);

/// The elements of channel `c` of a row.
std::vector<double> slice(const oracle::Problem &problem,
                          const std::vector<double> &x, size_t c);
/// Where channel `c` begins in a row.
int64_t offsetOf(const oracle::Problem &problem, size_t c);

void expectNear(const std::vector<double> &got,
                const std::vector<double> &expected, double tolerance,
                const std::string &what);

} // namespace test
} // namespace raytention

#endif // RAYTENTION_TESTS_NUMERICS_TESTPROBLEM_H
