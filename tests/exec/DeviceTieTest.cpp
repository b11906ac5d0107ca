//===- DeviceTieTest.cpp - keys that kernels choose among equals -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distances of small integers are exact, and most keys have an equal one: what
// the kernels choose has to be what the CPU chooses, to the position.
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "tests/device/Support.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace raytention;

namespace {

constexpr int64_t kBatch = 2, kKeys = 70, kWidth = 3, kVocab = 9;

/// Numbers as the bytes of an array of `dtype`.
std::vector<char> toBytes(DType dtype, const std::vector<int> &values) {
  size_t size = dtype == DType::F64 ? 8 : dtype == DType::F32 ? 4 : 2;
  std::vector<char> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    double wide = values[i];
    float narrow = values[i];
    const char *from = reinterpret_cast<const char *>(&narrow);
    if (dtype == DType::F64)
      from = reinterpret_cast<const char *>(&wide);
    else if (dtype == DType::BF16) // the upper half
      from += 2;
    std::memcpy(&bytes[i * size], from, size);
  }
  return bytes;
}

/// Two sequences of few distinct tokens.
class TieProblem {
public:
  TieProblem(DType dtype, uint32_t seed) : dtype(dtype), generator(seed) {
    offset = draw(0, 1) * draw(1, 50);
    rows = kKeys - offset;
    queries = toBytes(dtype, drawAll(kBatch * rows * kWidth));
    table = toBytes(dtype, drawAll(kVocab * kWidth));
    for (int64_t i = 0; i < kBatch * kKeys; ++i)
      ids.push_back(draw(0, kVocab - 1));
    lengths = {draw(0, kKeys), kKeys};
    tau = draw(0, 1) ? 1 : 0.25;
  }

  std::vector<int32_t> choose(Attention &attention) const {
    Inputs inputs;
    inputs.batch = kBatch;
    inputs.numQueries = rows;
    inputs.numKeys = kKeys;
    inputs.vocab = kVocab;
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = ids.data();
    inputs.tau = tau;
    inputs.queryOffset = offset;
    inputs.lengths = lengths.data();
    std::vector<double> signals(kBatch * rows * attention.signalWidth());
    std::vector<int32_t> indices(kBatch * rows * attention.numIndices(), -2);
    Outputs outputs;
    outputs.signals = signals.data();
    outputs.indices = indices.data();
    test::cantFail(attention.run(inputs, outputs, 2));
    return indices;
  }

private:
  int64_t draw(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(generator);
  }
  std::vector<int> drawAll(size_t count) {
    std::vector<int> values(count);
    for (int &value : values)
      value = draw(-1, 1);
    return values;
  }

  DType dtype;
  std::mt19937 generator;
  int64_t offset, rows;
  double tau;
  std::vector<char> queries, table;
  std::vector<int32_t> ids;
  std::vector<int64_t> lengths;
};

std::unique_ptr<Attention> compile(const AttentionSpec &spec, TargetKind target,
                                   Schedule::Family family) {
  CompileOptions options;
  options.target = target;
  options.schedule.family = family;
  return test::cantFail(Attention::compile(spec, options));
}

void expectSameKeys(DType dtype, const std::string &metric,
                    Schedule::Family family) {
  AttentionSpec spec;
  spec.dModel = kWidth;
  spec.dtype = dtype;
  spec.metric = metric;
  spec.channels = {"predecessor", "top:1", "top:2", "top:5", "antitop"};
  auto cpu = compile(spec, TargetKind::Cpu, Schedule::Family::Auto);
  auto simt = compile(spec, TargetKind::Simt, family);
  for (uint32_t seed = 0; seed < 5; ++seed) {
    TieProblem problem(dtype, seed);
    EXPECT_EQ(problem.choose(*simt), problem.choose(*cpu)) << "seed " << seed;
  }
}

class DeviceTies : public testing::TestWithParam<Schedule::Family> {};

TEST_P(DeviceTies, AreDecidedAsOnTheCpu) {
  RT_NVRTC_OR_SKIP(nvrtc);
  for (DType dtype : {DType::F32, DType::F64, DType::BF16})
    for (const char *metric : {"sq_l2", "l2"}) {
      SCOPED_TRACE(std::string(metric) + ", type " +
                   std::to_string(int(dtype)));
      expectSameKeys(dtype, metric, GetParam());
    }
}

INSTANTIATE_TEST_SUITE_P(Families, DeviceTies,
                         testing::Values(Schedule::Family::Fused,
                                         Schedule::Family::Stored),
                         [](const auto &info) {
                           return info.param == Schedule::Family::Fused
                                      ? "Fused"
                                      : "Stored";
                         });

} // namespace
