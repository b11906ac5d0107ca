//===- PlanTest.cpp - the kernels of a plan as CUDA C++ -------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels_gen/prelude/Prelude.h"
#include "tests/cuda/Support.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cmath>
#include <random>

using namespace raytention::device;
using namespace raytention::test;

namespace {

constexpr int64_t kWidth = 64;

struct Problem {
  int64_t batch = 2, rows = 21, offset = 3, keys = 40, words = 9;
  float tau = 2.0f;
  std::vector<float> queries, table;
  std::vector<int32_t> ids;
  std::vector<int64_t> lengths = {40, 11};
};

Problem makeProblem() {
  Problem problem;
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0f, 0.3f);
  problem.queries.resize(problem.batch * problem.rows * kWidth);
  problem.table.resize(problem.words * kWidth);
  problem.ids.resize(problem.batch * problem.keys);
  for (float &x : problem.queries)
    x = normal(random);
  for (float &x : problem.table)
    x = normal(random);
  for (int32_t &id : problem.ids)
    id = random() % problem.words;
  return problem;
}

/// The centroid of a row, of length 1.
std::vector<double> rowOf(const Problem &problem, int64_t b, int64_t row) {
  std::vector<double> sum(kWidth);
  double squares = 0;
  int64_t end = std::min(row + problem.offset + 1, problem.lengths[b]);
  for (int64_t j = 0; j < end; ++j) {
    const float *key =
        &problem.table[problem.ids[b * problem.keys + j] * kWidth];
    double distance = 0;
    for (int64_t d = 0; d < kWidth; ++d)
      distance += std::pow(
          double(problem.queries[(b * problem.rows + row) * kWidth + d]) -
              key[d],
          2);
    for (int64_t d = 0; d < kWidth; ++d)
      sum[d] += std::exp(-distance / problem.tau) * key[d];
  }
  for (double x : sum)
    squares += x * x;
  for (double &x : sum)
    x /= std::sqrt(squares);
  return sum;
}

std::vector<float> runKernels(Kernels &kernels, const Problem &problem) {
  int64_t batch = problem.batch, rows = problem.rows;
  auto queries = kernels.upload(problem.queries);
  auto table = kernels.upload(problem.table);
  auto ids = kernels.upload(problem.ids);
  auto tau = kernels.upload(std::vector<float>{problem.tau});
  auto lengths = kernels.upload(problem.lengths);
  auto sums = kernels.upload(std::vector<float>(batch * rows * kWidth));
  auto signals = kernels.upload(std::vector<float>(batch * rows * kWidth));
  auto norm = kernels.upload(std::vector<float>(batch * rows));
  int64_t tiles = (rows + 7) / 8;

  Arguments sumKeys;
  addMemRef(sumKeys, *queries, {batch, rows});
  addMemRef(sumKeys, *table, {problem.words});
  addMemRef(sumKeys, *ids, {batch, problem.keys});
  addMemRef(sumKeys, *tau, {});
  sumKeys.add(problem.offset);
  addMemRef(sumKeys, *lengths, {batch});
  addMemRef(sumKeys, *sums, {batch, rows});
  kernels.launch("sum_keys", {tiles, batch, 1}, {64, 1, 1}, sumKeys, 4672);

  Arguments normalize;
  addMemRef(normalize, *sums, {batch, rows});
  addMemRef(normalize, *signals, {batch, rows});
  addMemRef(normalize, *norm, {batch, rows});
  kernels.launch("normalize", {tiles, batch, 1}, {64, 1, 1}, normalize);
  return kernels.download<float>(*signals);
}

std::string centroidText() {
  auto file = llvm::MemoryBuffer::getFile(RAYTENTION_CENTROID);
  return file ? (*file)->getBuffer().str() : "";
}

/// Tiles that are not full, a sequence that ends early, rows at an offset.
TEST(CudaPlan, Centroid) {
  RT_NVRTC_OR_SKIP(compiler);
  Kernels kernels = Kernels::ofModule(centroidText());
  ASSERT_TRUE(kernels.loaded());
  Problem problem = makeProblem();
  std::vector<float> got = runKernels(kernels, problem);
  for (int64_t b = 0; b < problem.batch; ++b)
    for (int64_t row = 0; row < problem.rows; ++row) {
      std::vector<double> expected = rowOf(problem, b, row);
      for (int64_t d = 0; d < kWidth; ++d)
        ASSERT_NEAR(got[(b * problem.rows + row) * kWidth + d], expected[d],
                    2e-6)
            << "batch " << b << " row " << row << " at " << d;
    }
}

/// The assembler takes what NVRTC makes of the text and of the prelude's PTX.
TEST(CudaPlan, AssemblesForHopper) {
  RT_NVRTC_OR_SKIP(compiler);
  auto compiled = compiler->compile(
      raytention::makeKernelSource(printModule(centroidText())), "sm_90a");
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  ASSERT_EQ(compiled->kernels.size(), 2u);
  for (const auto &kernel : compiled->kernels)
    EXPECT_FALSE(kernel.spills()) << kernel.name;
  EXPECT_TRUE(compiled->hazards.empty());
}

} // namespace
