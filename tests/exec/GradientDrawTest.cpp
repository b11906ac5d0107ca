//===- GradientDrawTest.cpp - gradients of drawn attentions -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The streaming gradient on drawn configurations around tile and chunk edges:
// against the reference's, which comes from the decomposed forward op by op,
// and against central differences of the streaming forward.
//
//===----------------------------------------------------------------------===//

#include "tests/exec/GradientProblem.h"
#include "tools/oracle/Oracle.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <map>
#include <random>

using namespace raytention;
using namespace raytention::test;

namespace {

constexpr int kConfigurations = 100;
constexpr int kCoordinates = 20; ///< of queries and of the table, each

class Drawer {
public:
  explicit Drawer(unsigned seed) : random(seed) {}

  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  double real(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  }
  template <typename T> T pick(std::vector<T> choices) {
    return choices[integer(0, choices.size() - 1)];
  }

  /// What is compiled.
  GradientProblem drawAttention() {
    GradientProblem model;
    model.target = TargetKind::Cpu;
    model.schedule.queryTile = pick<int64_t>({8, 16});
    model.schedule.keyChunk = pick<int64_t>({16, 30});
    model.spec.dModel = pick<int64_t>({1, 3, 8, 16, 17});
    model.spec.channels = channels();
    model.spec.numGammas = 5;
    model.spec.metric = pick<std::string>({"sq_l2", "l2"});
    model.spec.decayOrigin = pick<std::string>({"sequence_end", "query"});
    model.spec.exactDistances = integer(0, 4) == 0;
    return model;
  }

  /// What it is run on.
  GradientProblem drawProblem(const GradientProblem &model) {
    int64_t tile = model.schedule.queryTile, chunk = model.schedule.keyChunk;
    GradientShape shape;
    shape.batch = integer(1, 2);
    shape.numKeys =
        pick<int64_t>({1, 2, tile - 1, tile, tile + 1, chunk - 1, chunk,
                       chunk + 1, 2 * chunk + 1, integer(3, 70)});
    shape.offset = integer(0, 3) ? 0 : integer(0, shape.numKeys - 1);
    shape.dModel = model.spec.dModel;
    shape.vocab = integer(0, 3) ? integer(2, 40) : 1;
    GradientProblem problem(integer(0, 1 << 30), model.spec.channels, shape);
    problem.spec = model.spec;
    problem.target = model.target;
    problem.schedule = model.schedule;
    problem.tau[0] = integer(0, 9) ? real(0.4, 2) : 0.005;
    for (double &gamma : problem.gammas)
      gamma = integer(0, 5) ? real(0.3, 0.99) : 1;
    if (integer(0, 2) == 0)
      for (int64_t b = 0; b < problem.batch; ++b)
        problem.lengths.push_back(integer(0, shape.numKeys));
    return problem;
  }

private:
  std::vector<std::string> channels() {
    std::vector<std::string> list;
    switch (integer(0, 3)) {
    case 0:
      return defaultChannels();
    case 1:
      return sevenChannels();
    case 2:
      list = defaultChannels();
      list.insert(list.begin() + integer(0, list.size()), "max_score");
      return list;
    default:
      for (int64_t i = 0, n = integer(1, 6); i < n; ++i)
        list.push_back(pick<std::string>(
            {"centroid", "decay:forward:0", "decay:backward:1",
             "decay:backward:4", "predecessor", "top:1", "top:3", "antitop",
             "spread", "entropy", "max_score", "moment:1", "moment:2"}));
      return list; // equal channels are welcome
    }
  }

  std::mt19937 random;
};

std::string describe(const GradientProblem &p) {
  return llvm::formatv(
      "D={0} {1} {2}{3} tile={4} chunk={5} B={6} Tq={7} T={8} V={9} offset={10}"
      " lengths=[{11:$[,]}] tau={12} gammas=[{13:$[,]}] channels={14:$[ ]}",
      p.spec.dModel, p.spec.metric, p.spec.decayOrigin,
      p.spec.exactDistances ? " exact" : "", p.schedule.queryTile,
      p.schedule.keyChunk, p.batch, p.numQueries, p.numKeys, p.vocab, p.offset,
      llvm::make_range(p.lengths.begin(), p.lengths.end()), p.tau[0],
      llvm::make_range(p.gammas.begin(), p.gammas.end()),
      llvm::make_range(p.spec.channels.begin(), p.spec.channels.end()));
}

void expectClose(const std::vector<double> &got,
                 const std::vector<double> &expected, double tol,
                 const char *name) {
  ASSERT_EQ(got.size(), expected.size()) << name;
  double largest = norm(expected);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::fabs(got[i] - expected[i]), tol * (1 + largest))
        << name << " " << i << ": " << got[i] << " and " << expected[i];
}

void expectClose(const GradientValues &got, const GradientValues &expected,
                 double tol) {
  expectClose(got.queries, expected.queries, tol, "dq");
  expectClose(got.table, expected.table, tol, "dtable");
  expectClose(got.tau, expected.tau, tol, "dtau");
  expectClose(got.gammas, expected.gammas, tol, "dgammas");
}

class GradientDraw : public testing::TestWithParam<Schedule::Family> {};

INSTANTIATE_TEST_SUITE_P(Families, GradientDraw,
                         testing::Values(Schedule::Family::Fused,
                                         Schedule::Family::Stored),
                         [](const auto &test) {
                           bool isFused = test.param == Schedule::Family::Fused;
                           return isFused ? "fused" : "stored";
                         });

/// Some of family `stored` in chunks of rows.
void setFamily(Schedule &schedule, Schedule::Family family, bool isChunked) {
  schedule.family = family;
  if (family == Schedule::Family::Stored && isChunked)
    schedule.queryChunk = 2 * schedule.queryTile;
}

TEST_P(GradientDraw, StreamingEqualsReference) {
  constexpr int kProblems = 10; // per attention: the reference compiles long
  Drawer drawer(31);
  std::unique_ptr<Attention> streaming, reference;
  GradientProblem model;
  for (int i = 0; i < kConfigurations; ++i) {
    if (i % kProblems == 0) {
      model = drawer.drawAttention();
      setFamily(model.schedule, GetParam(), i / kProblems % 2);
      streaming = model.compile(DType::F64);
      GradientProblem other = model;
      other.target = TargetKind::Reference;
      other.schedule = {};
      reference = other.compile(DType::F64);
      ASSERT_TRUE(streaming && reference);
    }
    GradientProblem problem = drawer.drawProblem(model);
    SCOPED_TRACE(describe(problem));
    // At distances near 0 the root's derivative magnifies what an expansion
    // rounds off.
    bool isRoot = problem.spec.metric == "l2" || problem.tau[0] < 0.01;
    expectClose(problem.computeGradients(*streaming, DType::F64, 2),
                problem.computeGradients(*reference, DType::F64, 1),
                isRoot ? 1e-8 : 1e-10);
    if (HasFatalFailure())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Central differences
//===----------------------------------------------------------------------===//

/// On which side of every kink a point stands, and the keys it chose.
struct Region {
  std::vector<int32_t> indices;
  std::vector<bool> sides;
  bool operator==(const Region &other) const {
    return indices == other.indices && sides == other.sides;
  }
};

/// For every weight whether it is under 1e-10, for every decayed sum whether it
/// is under 1e-8, for the temperature whether it is under 0.01; and the key of
/// the largest score, which the maximum follows.
void findSides(const GradientProblem &p, Region &region) {
  oracle::Problem problem = p.toOracle();
  std::vector<oracle::Row> rows;
  region.sides.push_back(p.tau[0] < 0.01);
  auto error = oracle::forEachRow(
      problem, oracle::allRows(problem), 1, [&](const oracle::Row &row, int) {
        size_t largest = 0;
        for (size_t j = 0; j < row.scores.size(); ++j) {
          region.sides.push_back(row.scores[j] - row.lse <
                                 oracle::logSmallestWeight());
          if (row.scores[j] > row.scores[largest])
            largest = j;
        }
        region.indices.push_back(largest);
        int64_t position = row.id.row + p.offset;
        int64_t last = problem.length(row.id.batch) - 1;
        for (const oracle::Channel &channel : problem.channels) {
          if (!channel.isDecay())
            continue;
          double sum = 0, base = problem.gammas[channel.arg];
          bool isForward = channel.kind == oracle::ChannelKind::DecayForward;
          int64_t origin = p.spec.decayOrigin == "query" ? position : last;
          for (size_t j = 0; j < row.scores.size(); ++j)
            sum += std::exp(row.scores[j] - row.lse) *
                   std::pow(base, isForward ? j : origin - j);
          region.sides.push_back(sum < 1e-8);
        }
      });
  ASSERT_FALSE(error) << *error;
}

class Differences {
public:
  Differences(GradientProblem &problem, Attention &attention)
      : problem(problem), attention(attention) {
    evaluate(here);
  }

  int checked = 0, skipped = 0;

  /// `value`, a parameter of the problem, against its gradient. Values at or
  /// under `ceiling` are approached from below where a step would pass it.
  void check(double &value, double gradient, const std::string &name,
             double ceiling = INFINITY) {
    double kept = value, step = 1e-5 * std::max(1.0, std::fabs(kept));
    double expected;
    bool inside = true;
    if (kept + step > ceiling) {
      double center = at(value, kept, inside);
      double once = at(value, kept - step, inside);
      double twice = at(value, kept - 2 * step, inside);
      expected = (3 * center - 4 * once + twice) / (2 * step);
    } else {
      double above = at(value, kept + step, inside);
      double below = at(value, kept - step, inside);
      expected = (above - below) / (2 * step);
    }
    value = kept;
    if (!inside) {
      ++skipped;
      return;
    }
    ++checked;
    EXPECT_NEAR(gradient, expected, 1e-6 * std::max(1.0, std::fabs(expected)))
        << name;
  }

private:
  double evaluate(Region &region) {
    findSides(problem, region);
    std::vector<int32_t> indices;
    double loss = problem.computeLoss(attention, &indices);
    region.indices.insert(region.indices.end(), indices.begin(), indices.end());
    return loss;
  }
  double at(double &value, double moved, bool &inside) {
    value = moved;
    Region region;
    double loss = evaluate(region);
    inside &= region == here;
    return loss;
  }

  GradientProblem &problem;
  Attention &attention;
  Region here;
};

TEST_P(GradientDraw, StreamingEqualsCentralDifferences) {
  constexpr int kProblems = 5; // per attention
  Drawer drawer(32);
  int checked = 0, skipped = 0;
  std::map<std::string, int> covered;
  std::unique_ptr<Attention> attention;
  GradientProblem model;
  for (int i = 0; i < kConfigurations; ++i) {
    if (i % kProblems == 0) {
      model = drawer.drawAttention();
      setFamily(model.schedule, GetParam(), i / kProblems % 2);
      attention = model.compile(DType::F64);
      ASSERT_TRUE(attention);
    }
    GradientProblem problem = drawer.drawProblem(model);
    SCOPED_TRACE(describe(problem));
    GradientValues g = problem.computeGradients(*attention, DType::F64, 2);
    Differences differences(problem, *attention);
    auto sample = [&](std::vector<double> &values,
                      const std::vector<double> &gradient, const char *name) {
      for (int n = 0; n < kCoordinates && !values.empty(); ++n) {
        int64_t at = drawer.integer(0, values.size() - 1);
        differences.check(values[at], gradient[at],
                          name + (" " + std::to_string(at)));
      }
    };
    sample(problem.queries, g.queries, "dq");
    sample(problem.table, g.table, "dtable");
    differences.check(problem.tau[0], g.tau[0], "dtau");
    for (size_t n = 0; n < problem.gammas.size(); ++n)
      differences.check(problem.gammas[n], g.gammas[n],
                        "dgammas " + std::to_string(n), 1.0);
    checked += differences.checked;
    skipped += differences.skipped;
    ++covered[problem.spec.metric];
    ++covered[problem.spec.decayOrigin];
    covered["lengths"] += !problem.lengths.empty();
    covered["default"] += problem.spec.channels == defaultChannels();
    covered["seven"] += problem.spec.channels == sevenChannels();
    covered["max_score"] +=
        llvm::is_contained(problem.spec.channels, "max_score");
    if (HasFailure())
      return;
  }
  llvm::outs() << checked << " coordinates checked, " << skipped
               << " skipped\n";
  EXPECT_LE(skipped, 0.02 * (checked + skipped));
  for (auto &[what, count] : covered) {
    llvm::outs() << what << ": in " << count << " configurations\n";
    EXPECT_GE(count, 10) << what;
  }
}

} // namespace
