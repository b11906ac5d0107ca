//===- CheckInputsTest.cpp - each wrong input has its message ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CheckInputs.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

using namespace raytention;

namespace {

/// A small valid problem; a case changes one thing.
struct Problem {
  Problem() {
    spec.dModel = 2;
    spec.channels = {"centroid"};
    spec.numGammas = 1;
    inputs.batch = 2;
    inputs.numQueries = 3;
    inputs.numKeys = 3;
    inputs.vocab = 4;
    inputs.queries = queries;
    inputs.table = table;
    inputs.ids = ids;
    inputs.gammas = {0.5};
    inputs.lengths = lengths;
    outputs.signals = signals;
  }
  float queries[12] = {}, table[8] = {}, signals[12] = {};
  int32_t ids[6] = {0, 1, 2, 3, 0, 1};
  /// The same ids in 64 bits.
  int64_t *widen() {
    std::copy(ids, ids + 6, wide);
    inputs.ids = wide;
    spec.idBits = 64;
    return wide;
  }
  int64_t wide[6], lengths[2] = {3, 0};
  AttentionSpec spec;
  Inputs inputs;
  Outputs outputs;
  int threads = 0;
};

struct Case {
  const char *name;
  std::function<void(Problem &)> change;
  const char *message;
};

const Case kCases[] = {
    {"Batch", [](Problem &p) { p.inputs.batch = -1; },
     "expected a batch in [0, 2147483647], got -1"},
    {"NumQueries", [](Problem &p) { p.inputs.numQueries = -2; },
     "expected a number of queries Tq in [0, 2147483647], got -2"},
    {"NumKeys", [](Problem &p) { p.inputs.numKeys = int64_t(1) << 31; },
     "expected a number of keys T in [0, 2147483647], got 2147483648"},
    {"Vocab", [](Problem &p) { p.inputs.vocab = -1; },
     "expected a vocabulary V in [0, 9223372036854775807], got -1"},
    {"QueryOffset", [](Problem &p) { p.inputs.queryOffset = -1; },
     "expected a query offset in [0, 2147483644], got -1"},
    {"LastPosition", [](Problem &p) { p.inputs.queryOffset = 2147483645; },
     "expected a query offset in [0, 2147483644], got 2147483645"},
    {"Threads", [](Problem &p) { p.threads = -1; },
     "expected threads in [0, 1024] (0: all cores), got -1"},
    {"TooManyThreads",
     [](Problem &p) { p.threads = std::numeric_limits<int>::max(); },
     "expected threads in [0, 1024] (0: all cores), got 2147483647"},
    {"QueryBytes",
     [](Problem &p) { p.inputs.batch = p.inputs.numQueries = 2147483647; },
     "expected arrays of less than 2^63 bytes, got B = 2147483647, Tq = "
     "2147483647, T = 3, V = 4, D = 2"},
    {"KeyBytes",
     [](Problem &p) { p.inputs.batch = p.inputs.numKeys = 2147483647; },
     "expected arrays of less than 2^63 bytes, got B = 2147483647, Tq = 3, T = "
     "2147483647, V = 4, D = 2"},
    {"TableBytes", [](Problem &p) { p.inputs.vocab = int64_t(1) << 60; },
     "expected arrays of less than 2^63 bytes, got B = 2, Tq = 3, T = 3, V = "
     "1152921504606846976, D = 2"},
    {"Queries", [](Problem &p) { p.inputs.queries = nullptr; },
     "expected a pointer to the queries, got null"},
    {"Table", [](Problem &p) { p.inputs.table = nullptr; },
     "expected a pointer to the table, got null"},
    {"Ids", [](Problem &p) { p.inputs.ids = nullptr; },
     "expected a pointer to the ids, got null"},
    {"Signals", [](Problem &p) { p.outputs.signals = nullptr; },
     "expected a pointer to the signals, got null"},
    {"IdTooLarge", [](Problem &p) { p.ids[4] = 4; },
     "expected ids in [0, 4), got 4 at batch 1, position 1"},
    {"IdNegative", [](Problem &p) { p.ids[2] = -7; },
     "expected ids in [0, 4), got -7 at batch 0, position 2"},
    {"IdLargest", [](Problem &p) { p.ids[5] = 2147483647; },
     "expected ids in [0, 4), got 2147483647 at batch 1, position 2"},
    {"IdSmallest", [](Problem &p) { p.ids[0] = -2147483647 - 1; },
     "expected ids in [0, 4), got -2147483648 at batch 0, position 0"},
    {"WideIdBeyond32Bits", [](Problem &p) { p.widen()[3] = 1 + (1ll << 32); },
     "expected ids in [0, 4), got 4294967297 at batch 1, position 0"},
    {"WideIdNegative", [](Problem &p) { p.widen()[1] = -1; },
     "expected ids in [0, 4), got -1 at batch 0, position 1"},
    {"WideIdSmallest", [](Problem &p) { p.widen()[2] = INT64_MIN; },
     "expected ids in [0, 4), got -9223372036854775808 at batch 0, position "
     "2"},
    {"WideIdLargest", [](Problem &p) { p.widen()[5] = INT64_MAX; },
     "expected ids in [0, 4), got 9223372036854775807 at batch 1, position 2"},
    {"LengthTooLarge", [](Problem &p) { p.lengths[1] = 4; },
     "expected lengths in [0, 3], got 4 at batch 1"},
    {"LengthNegative", [](Problem &p) { p.lengths[0] = -1; },
     "expected lengths in [0, 3], got -1 at batch 0"},
    {"TauNan", [](Problem &p) { p.inputs.tau = std::nan(""); },
     "expected a finite tau, got nan"},
    {"TauInfinite",
     [](Problem &p) { p.inputs.tau = std::numeric_limits<double>::infinity(); },
     "expected a finite tau, got inf"},
    {"GammaCount",
     [](Problem &p) {
       p.inputs.gammas = {0.5, 0.9};
     },
     "expected 1 gammas, got 2"},
    {"GammaZero", [](Problem &p) { p.inputs.gammas = {0.0}; },
     "expected gammas in [2^-100, 1], got 0 at index 0"},
    {"GammaAboveOne", [](Problem &p) { p.inputs.gammas = {1.5}; },
     "expected gammas in [2^-100, 1], got 1.5 at index 0"},
    {"GammaNan", [](Problem &p) { p.inputs.gammas = {std::nan("")}; },
     "expected gammas in [2^-100, 1], got nan at index 0"},
};

class CheckInputs : public testing::TestWithParam<Case> {};

TEST_P(CheckInputs, SaysExpectedAndGot) {
  Problem problem;
  GetParam().change(problem);
  llvm::Error error = checkInputs(problem.spec, problem.inputs, problem.outputs,
                                  problem.threads);
  EXPECT_EQ(llvm::toString(std::move(error)), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Cases, CheckInputs, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

TEST(CheckInputsValid, AcceptsBordersOfTheRanges) {
  Problem problem;
  problem.inputs.gammas = {std::ldexp(1.0, -100)};
  problem.inputs.queryOffset = 2147483644;
  EXPECT_EQ(llvm::toString(
                checkInputs(problem.spec, problem.inputs, problem.outputs, 0)),
            "");
}

TEST(CheckInputsValid, NeedsNoArraysWhereThereIsNothingToDo) {
  Problem problem;
  problem.inputs.batch = 0;
  problem.inputs.queries = problem.inputs.table = problem.inputs.ids = nullptr;
  problem.outputs.signals = nullptr;
  EXPECT_EQ(llvm::toString(
                checkInputs(problem.spec, problem.inputs, problem.outputs, 0)),
            "");
}

TEST(CheckInputsValid, ReadsWideIds) {
  Problem problem;
  int64_t wide[6] = {0, 1, 2, 3, 0, int64_t(1) << 32};
  problem.spec.idBits = 64;
  problem.inputs.ids = wide;
  EXPECT_EQ(llvm::toString(
                checkInputs(problem.spec, problem.inputs, problem.outputs, 0)),
            "expected ids in [0, 4), got 4294967296 at batch 1, position 2");
}

} // namespace
