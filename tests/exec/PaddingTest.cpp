//===- PaddingTest.cpp - what padding may hold -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Padded rows of queries and of dy, table rows that only padding or nobody
// names, and outputs before a run may hold anything: no bit of a result changes
// with them.
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace raytention;

namespace {

/// Four sequences: one padded, one of padding alone, one full, and one that may
/// end before its first row. Tokens from 40 on stand where no row sees them.
class PaddedRun {
public:
  PaddedRun(const AttentionSpec &spec, TargetKind target, int64_t offset)
      : spec(spec), offset(offset) {
    CompileOptions options;
    options.target = target;
    options.backward = true;
    attention = test::cantFail(Attention::compile(spec, options));
  }

  /// All outputs of both passes, with `filler` wherever nothing may read.
  std::vector<float> run(float filler, int threads) {
    fill(filler);
    Inputs inputs;
    inputs.batch = kBatch;
    inputs.numQueries = kRows;
    inputs.numKeys = kKeys;
    inputs.vocab = kVocab;
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = ids.data();
    inputs.gammas.assign(spec.numGammas, 0.9);
    inputs.queryOffset = offset;
    inputs.lengths = kLengths;
    int64_t width = attention->signalWidth(), rows = kBatch * kRows;
    std::vector<float> y(rows * width, filler), norm(rows, filler),
        logSums(rows * attention->numLogSums() + 1, filler);
    std::vector<int32_t> indices(rows * attention->numIndices() + 1, 123456);
    test::cantFail(attention->run(
        inputs, {y.data(), norm.data(), indices.data(), logSums.data()},
        threads));
    std::vector<float> dQueries(queries.size(), filler),
        dTable(table.size(), filler), dGammas(spec.numGammas + 1, filler);
    float dTau = filler;
    test::cantFail(attention->runBackward(
        inputs, {y.data(), norm.data(), indices.data(), logSums.data()},
        dSignals.data(),
        {dQueries.data(), dTable.data(), &dTau, dGammas.data()}, threads));
    dGammas.back() = dTau;
    expectZeros(y, width);
    expectZeros(dQueries, kWidth);
    std::vector<float> all;
    for (auto *part : {&y, &norm, &dQueries, &dTable, &dGammas})
      all.insert(all.end(), part->begin(), part->end());
    return all;
  }

private:
  static constexpr int64_t kBatch = 4, kRows = 37, kKeys = 40, kWidth = 8,
                           kVocab = 50;
  static constexpr int64_t kLengths[kBatch] = {33, 0, 40, 2};

  bool isPadding(int64_t b, int64_t row) const {
    return row + offset >= kLengths[b];
  }

  /// Whether a row sees the key.
  bool isSeen(int64_t b, int64_t key) const {
    return offset < kLengths[b] && key < std::min(kLengths[b], offset + kRows);
  }

  void fill(float filler) {
    auto draw = [](int64_t i, int64_t step) {
      return float(i * step % 101) / 50 - 1;
    };
    int64_t width = attention->signalWidth();
    queries.resize(kBatch * kRows * kWidth);
    dSignals.resize(kBatch * kRows * width);
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t i = 0; i < kRows; ++i) {
        int64_t row = b * kRows + i;
        for (int64_t d = row * kWidth; d < (row + 1) * kWidth; ++d)
          queries[d] = isPadding(b, i) ? filler : draw(d, 37);
        for (int64_t s = row * width; s < (row + 1) * width; ++s)
          dSignals[s] = isPadding(b, i) ? filler : draw(s, 29);
      }
    ids.resize(kBatch * kKeys);
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t j = 0; j < kKeys; ++j)
        ids[b * kKeys + j] = isSeen(b, j) ? (j * 7 + b) % 40 : 49;
    table.resize(kVocab * kWidth);
    for (int64_t i = 0; i < kVocab * kWidth; ++i)
      table[i] = i < 40 * kWidth ? draw(i, 53) : filler;
  }

  void expectZeros(const std::vector<float> &rows, int64_t width) {
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t i = 0; i < kRows; ++i)
        for (int64_t d = 0; isPadding(b, i) && d < width; ++d)
          ASSERT_EQ(rows[(b * kRows + i) * width + d], 0.0f)
              << "row [" << b << ", " << i << "], element " << d;
  }

  AttentionSpec spec;
  int64_t offset;
  std::unique_ptr<Attention> attention;
  std::vector<float> queries, table, dSignals;
  std::vector<int32_t> ids;
};

constexpr int64_t PaddedRun::kLengths[];

void expectSame(const std::vector<float> &clean,
                const std::vector<float> &dirty) {
  ASSERT_EQ(clean.size(), dirty.size());
  size_t different = 0, first = 0;
  for (size_t i = 0; i < clean.size(); ++i)
    if (std::memcmp(&clean[i], &dirty[i], sizeof(float)) && !different++)
      first = i;
  EXPECT_EQ(different, 0u) << "the first at " << first << ": " << clean[first]
                           << " and " << dirty[first];
}

class Padding : public testing::TestWithParam<
                    std::tuple<TargetKind, const char *, bool>> {};

TEST_P(Padding, ChangesNothing) {
  auto [target, metric, isExact] = GetParam();
  AttentionSpec spec;
  spec.dModel = 8;
  spec.channels = defaultChannels();
  spec.channels.insert(spec.channels.end(), {"max_score", "moment:4"});
  spec.numGammas = 5;
  spec.metric = metric;
  spec.exactDistances = isExact;
  for (int64_t offset : {0, 3}) {
    PaddedRun run(spec, target, offset);
    std::vector<float> clean = run.run(0.5f, 1);
    expectSame(clean, run.run(std::numeric_limits<float>::quiet_NaN(), 2));
    expectSame(clean, run.run(std::numeric_limits<float>::infinity(), 1));
    expectSame(clean, run.run(3e38f, 2));
  }
}

std::string nameForm(const testing::TestParamInfo<Padding::ParamType> &info) {
  auto [target, metric, isExact] = info.param;
  return std::string(target == TargetKind::Cpu ? "Cpu" : "Reference") +
         (metric == std::string("l2") ? "Root" : "Square") +
         (isExact ? "Exact" : "Fast");
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Padding,
    testing::Combine(testing::Values(TargetKind::Cpu, TargetKind::Reference),
                     testing::Values("sq_l2", "l2"), testing::Bool()),
    nameForm);

} // namespace
