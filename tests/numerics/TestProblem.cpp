//===- TestProblem.cpp - small problems for the oracle's tests ------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestProblem.h"

#include "gtest/gtest.h"

#include <numeric>
#include <random>

using namespace raytention;
using namespace raytention::oracle;

std::vector<Channel> test::channels(const std::string &list) {
  std::vector<Channel> parsed;
  Error error = parseChannels(list, parsed);
  EXPECT_FALSE(error) << *error;
  return parsed;
}

Problem test::makeProblem(int64_t dModel, std::vector<double> queries,
                          std::vector<double> keys) {
  Problem problem;
  problem.dModel = dModel;
  problem.numQueries = queries.size() / dModel;
  problem.numKeys = problem.vocab = keys.size() / dModel;
  problem.queries = std::move(queries);
  problem.table = std::move(keys);
  problem.ids.resize(problem.numKeys);
  std::iota(problem.ids.begin(), problem.ids.end(), 0);
  problem.channels = channels("default");
  return problem;
}

Problem test::randomProblem(int64_t batch, int64_t numKeys, int64_t vocab,
                            int64_t dModel, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(0, 0.6);
  std::uniform_int_distribution<int64_t> token(0, vocab - 1);
  Problem problem;
  problem.batch = batch;
  problem.numQueries = problem.numKeys = numKeys;
  problem.vocab = vocab;
  problem.dModel = dModel;
  problem.queries.resize(batch * numKeys * dModel);
  problem.table.resize(vocab * dModel);
  problem.ids.resize(batch * numKeys);
  for (double &value : problem.queries)
    value = normal(engine);
  for (double &value : problem.table)
    value = normal(engine);
  for (int64_t &id : problem.ids)
    id = token(engine);
  problem.channels = channels("default");
  return problem;
}

std::vector<Row> test::run(const Problem &problem, int threads,
                           Arithmetic arithmetic) {
  std::vector<Row> rows;
  Error error = forward(problem, allRows(problem), threads, rows, arithmetic);
  EXPECT_FALSE(error) << *error;
  return rows;
}

int64_t test::offsetOf(const Problem &problem, size_t c) {
  int64_t offset = 0;
  for (size_t n = 0; n < c; ++n)
    offset += problem.channels[n].width(problem.dModel);
  return offset;
}

std::vector<double> test::slice(const Problem &problem,
                                const std::vector<double> &x, size_t c) {
  auto begin = x.begin() + offsetOf(problem, c);
  return {begin, begin + problem.channels[c].width(problem.dModel)};
}

void test::expectNear(const std::vector<double> &got,
                      const std::vector<double> &expected, double tolerance,
                      const std::string &what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t n = 0; n < got.size(); ++n)
    EXPECT_NEAR(got[n], expected[n], tolerance) << what << ", element " << n;
}
