//===- TestGradient.cpp - gradients for the oracle's tests ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestGradient.h"

#include "gtest/gtest.h"

#include <random>

using namespace raytention;
using namespace raytention::oracle;

std::vector<double> test::drawGradient(const Problem &problem, unsigned seed) {
  std::mt19937 engine(seed + 1000);
  std::normal_distribution<double> normal;
  std::vector<double> dy(problem.batch * problem.numQueries *
                         problem.signalWidth());
  for (double &value : dy)
    value = normal(engine);
  return dy;
}

Gradients test::backward(const Problem &problem, const std::vector<RowId> &rows,
                         const std::vector<double> &dy, int threads,
                         ScoreShift shift, Arithmetic arithmetic) {
  int64_t width = problem.signalWidth();
  BackwardOptions options;
  options.threads = threads;
  options.arithmetic = arithmetic;
  options.scoreShift = std::move(shift);
  Gradients gradients;
  Error error = oracle::backward(
      problem, rows,
      [&](RowId id, double *row) {
        const double *from =
            dy.data() + (id.batch * problem.numQueries + id.row) * width;
        std::copy(from, from + width, row);
      },
      options, gradients);
  EXPECT_FALSE(error) << *error;
  return gradients;
}

Gradients test::backward(const Problem &problem, const std::vector<double> &dy,
                         int threads, ScoreShift shift) {
  return backward(problem, allRows(problem), dy, threads, std::move(shift));
}

static std::vector<double>
concatenate(const Gradients &gradients,
            std::vector<double> GradientPart::*member) {
  std::vector<double> all;
  for (const GradientPart *part : {&gradients.queries, &gradients.table,
                                   &gradients.tau, &gradients.gammas})
    all.insert(all.end(), (part->*member).begin(), (part->*member).end());
  return all;
}

std::vector<double> test::allValues(const Gradients &gradients) {
  return concatenate(gradients, &GradientPart::values);
}

std::vector<double> test::allSensitivities(const Gradients &gradients) {
  return concatenate(gradients, &GradientPart::sensitivity);
}
