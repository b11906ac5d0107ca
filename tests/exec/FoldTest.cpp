//===- FoldTest.cpp - attention over distinct tokens ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/KeyStatistics.h"
#include "tests/exec/GradientProblem.h"
#include "tests/support/Results.h"
#include "tools/oracle/Gradient.h"

#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace raytention;
using namespace raytention::test;

namespace {

Schedule getFolded(int64_t rows) {
  Schedule schedule;
  schedule.space = Schedule::Space::Folded;
  schedule.foldChunk = rows;
  return schedule;
}

/// One sequence of f32 rows of one number, queries 0.
class Line {
public:
  Line(std::vector<int32_t> ids, std::vector<float> table,
       std::vector<std::string> channels)
      : ids(std::move(ids)), table(std::move(table)) {
    spec.dModel = 1;
    spec.channels = std::move(channels);
    spec.numGammas = 0;
  }

  /// The positions that copies chose, row by row.
  std::vector<int32_t> run(const Schedule &schedule, int threads = 2) {
    CompileOptions options;
    options.schedule = schedule;
    auto attention = cantFail(Attention::compile(spec, options));
    std::vector<float> queries(ids.size(), 0);
    Inputs inputs;
    inputs.numQueries = inputs.numKeys = ids.size();
    inputs.vocab = table.size();
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = ids.data();
    signals.assign(ids.size() * attention->signalWidth(), 0);
    std::vector<int32_t> indices(ids.size() * attention->numIndices());
    Outputs outputs;
    outputs.signals = signals.data();
    outputs.indices = indices.data();
    cantFail(attention->run(inputs, outputs, threads));
    text = attention->scheduleText();
    return indices;
  }

  AttentionSpec spec;
  std::vector<int32_t> ids;
  std::vector<float> table, signals;
  std::string text; ///< the schedule of the last run
};

/// Token 0 at 0, 5 and 8, token 1 at 3 and 9, as near as each other; all else
/// is farther away.
TEST(Fold, TiesGoToTheLowestPositionWhereverItStands) {
  Line line({0, 2, 2, 1, 2, 0, 2, 2, 0, 1, 2, 2}, {1, -1, 5},
            {"top:1", "top:2", "top:3", "top:4", "antitop"});
  std::vector<int32_t> direct = line.run({});
  for (int64_t rows : {1, 2, 3, 4, 5, 6, 9, 20})
    EXPECT_EQ(line.run(getFolded(rows)), direct) << rows;
  // The last row, of history and chunk alike.
  EXPECT_EQ(std::vector<int32_t>(direct.end() - 5, direct.end() - 1),
            (std::vector<int32_t>{0, 3, 5, 8}));
}

TEST(Fold, GradientsFollowAFoldedForwardPass) {
  for (int64_t rows : {5, 16}) {
    GradientProblem problem(3, defaultChannels(), {2, 40, 3, 5, 6});
    problem.target = TargetKind::Cpu;
    problem.schedule = getFolded(rows);
    problem.lengths = {40, 23};
    auto attention = problem.compile(DType::F64);
    GradientValues got = problem.computeGradients(*attention, DType::F64, 2);
    problem.schedule = {};
    auto direct = problem.compile(DType::F64);
    GradientValues expected = problem.computeGradients(*direct, DType::F64, 2);
    EXPECT_LT(distance(got.queries, expected.queries), 1e-10);
    EXPECT_LT(distance(got.table, expected.table), 1e-10);
    EXPECT_LT(distance(got.tau, expected.tau), 1e-10);
    EXPECT_LT(distance(got.gammas, expected.gammas), 1e-10);
  }
}

std::vector<int32_t> draw(int64_t count, int64_t tokens) {
  std::mt19937 random(7);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(tokens < count ? random() % tokens : i);
  return ids;
}

TEST(Fold, AnyNumberOfThreadsGivesTheSameBits) {
  Line line(draw(300, 20), std::vector<float>(20, 0), {"centroid", "entropy"});
  for (size_t i = 0; i < line.table.size(); ++i)
    line.table[i] = float(i) / 7 - 1;
  line.run(getFolded(64), 1);
  std::vector<float> one = line.signals;
  line.run(getFolded(64), 3);
  EXPECT_EQ(line.signals, one);
}

/// By itself where few tokens fill a sequence; never where all are distinct.
TEST(Fold, IsChosenWhereItPays) {
  auto isFolded = [](int64_t count, int64_t tokens) {
    Line line(draw(count, tokens), std::vector<float>(tokens, 1), {"centroid"});
    line.run({});
    return line.text.find("fold_chunk") != std::string::npos;
  };
  EXPECT_TRUE(isFolded(1500, 30));
  EXPECT_FALSE(isFolded(1500, 1500));
  EXPECT_FALSE(isFolded(200, 3));
}

/// Keys and pairs one by one, and 16 pairs for each listed position.
double countShare(const Inputs &inputs, const std::vector<int32_t> &ids,
                  int64_t chunk) {
  double folded = 0, direct = 0, listed = 0;
  for (int64_t row = 0; row < inputs.numQueries; ++row) {
    int64_t start = inputs.queryOffset + row / chunk * chunk, most = 0;
    for (int64_t b = 0; b < inputs.batch; ++b) {
      auto begin = ids.begin() + b * inputs.numKeys;
      most = std::max<int64_t>(most, std::set(begin, begin + start).size());
    }
    direct += inputs.queryOffset + row + 1;
    folded += most + inputs.queryOffset + row - start + 1;
    listed = start;
  }
  return (folded + 16 * listed) / direct;
}

TEST(KeyStatistics, CountsWhatAFoldedAttentionSees) {
  AttentionSpec spec;
  std::vector<int32_t> ids = draw(240, 31);
  for (auto [batch, offset, chunk] :
       {std::tuple(1, 0, 16), std::tuple(2, 0, 7), std::tuple(3, 33, 10),
        std::tuple(1, 0, 500), std::tuple(2, 119, 1)}) {
    Inputs inputs;
    inputs.batch = batch;
    inputs.numKeys = int64_t(ids.size()) / batch;
    inputs.queryOffset = offset;
    inputs.numQueries = inputs.numKeys - offset;
    inputs.vocab = 31;
    inputs.ids = ids.data();
    KeyStatistics keys = countKeys(spec, inputs, chunk);
    EXPECT_EQ(keys.numKeys, inputs.numKeys);
    EXPECT_NEAR(keys.foldedShare, countShare(inputs, ids, chunk), 1e-12);
  }
}

} // namespace
