//===- PlanTest.cpp - hand-written plans on the simt device ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/exec/PlanProblem.h"

using namespace raytention;
using namespace raytention::test;

namespace {

class CentroidPlan : public testing::TestWithParam<int64_t> {};

TEST_P(CentroidPlan, ComputesWhatTheCpuDoes) {
  RT_NVRTC_OR_SKIP(compiler);
  int64_t t = GetParam();
  std::string text = readCentroidPlan();
  for (const PlanShape &shape :
       {PlanShape{t, 0, {}}, PlanShape{t, t / 3, {}}, PlanShape{t, 0, {t, 0}},
        PlanShape{t, t / 3, {t / 2, t}}})
    expectLikeCpu(text, shape);
}

INSTANTIATE_TEST_SUITE_P(Lengths, CentroidPlan, testing::Values(1, 7, 33, 70));

} // namespace
