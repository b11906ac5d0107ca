//===- GradientTest.cpp - the gradient against central differences --------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Many small drawn problems. A coordinate is skipped where its step changes a
// chosen index or crosses a kink: S = 1e-8, w = 1e-10, tau = 0.01, and for the
// metric l2 a distance of 0.
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/TestGradient.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace raytention;
using namespace raytention::oracle;
using test::channels;
using Values = std::vector<double>;

namespace {

/// Which branch of the function every row is on.
std::vector<int64_t> branches(const Problem &p, const std::vector<Row> &rows) {
  std::vector<int64_t> taken = {p.tau > 0.01};
  for (const Row &row : rows) {
    taken.insert(taken.end(), row.indices.begin(), row.indices.end());
    if (row.scores.empty())
      continue;
    auto largest = std::max_element(row.scores.begin(), row.scores.end());
    taken.push_back(largest - row.scores.begin());
    for (double z : row.scores) {
      taken.push_back(z - row.lse > std::log(1e-10));
      taken.push_back(p.metric == Metric::L2 && z > -1e-3);
    }
    int64_t position = row.scores.size() - 1;
    int64_t origin = p.decayOrigin == DecayOrigin::Query
                         ? position
                         : p.length(row.id.batch) - 1;
    for (const Channel &channel : p.channels) {
      double sum = 0;
      for (int64_t j = 0; channel.isDecay() && j <= position; ++j)
        sum += std::exp(row.scores[j] - row.lse) *
               std::pow(p.gammas[channel.arg],
                        channel.kind == ChannelKind::DecayForward ? j
                                                                  : origin - j);
      taken.push_back(sum >= 1e-8);
    }
  }
  return taken;
}

struct Evaluation {
  double loss = 0;
  std::vector<int64_t> branch;
};

/// sum dy y, and the branch it was computed on.
Evaluation evaluate(const Problem &p, const Values &dy) {
  std::vector<Row> rows;
  Error error = forEachRow(p, allRows(p), 1,
                           [&](const Row &row, int) { rows.push_back(row); });
  EXPECT_FALSE(error) << *error;
  Evaluation result;
  int64_t width = p.signalWidth();
  for (size_t n = 0; n < rows.size(); ++n)
    for (int64_t s = 0; s < width; ++s)
      result.loss += dy[n * width + s] * rows[n].y[s];
  result.branch = branches(p, rows);
  return result;
}

/// Counts over many problems.
struct Tally {
  int64_t compared = 0, skipped = 0;
  double worst = 0; ///< |a - b| / max(1, |b|)
};

/// Compares gradients with differences, one coordinate after the other.
class Comparison {
public:
  Comparison(Problem problem, unsigned seed, Tally &tally)
      : p(std::move(problem)), dy(test::drawGradient(p, seed)), tally(tally),
        gradients(test::backward(p, dy)), here(evaluate(p, dy)) {}

  void compareAll() {
    compareArray("dq", p.queries, gradients.queries);
    compareArray("dtable", p.table, gradients.table);
    compare("dtau", p.tau, 0, gradients.tau.values[0]);
    for (size_t n = 0; n < p.gammas.size(); ++n)
      compare("dgamma", p.gammas[n], 0, gradients.gammas.values[n]);
  }

private:
  void compareArray(const char *what, Values &values,
                    const GradientPart &gradient) {
    ASSERT_EQ(values.size(), gradient.values.size());
    double square = 0;
    for (double value : values)
      square += value * value;
    double scale = std::sqrt(square / std::max<size_t>(values.size(), 1));
    for (size_t n = 0; n < values.size(); ++n)
      compare(what, values[n], scale, gradient.values[n]);
  }

  Evaluation shifted(double &coordinate, double step) {
    double kept = coordinate;
    coordinate += step;
    Evaluation result = evaluate(p, dy);
    coordinate = kept;
    return result;
  }

  void compare(const char *what, double &coordinate, double scale,
               double gradient) {
    double step = 1e-5 * std::max(std::fabs(coordinate), scale), difference;
    bool oneSided = coordinate == 1 && what[1] == 'g';
    Evaluation below = shifted(coordinate, -step);
    Evaluation other = shifted(coordinate, oneSided ? -2 * step : step);
    if (below.branch != here.branch || other.branch != here.branch) {
      ++tally.skipped;
      return;
    }
    if (oneSided) // a decay base above 1 is refused
      difference = (3 * here.loss - 4 * below.loss + other.loss) / (2 * step);
    else
      difference = (other.loss - below.loss) / (2 * step);
    double error =
        std::fabs(gradient - difference) / std::max(1.0, std::fabs(difference));
    EXPECT_LE(error, 1e-6) << what << ": " << gradient << " and " << difference;
    tally.worst = std::max(tally.worst, error);
    ++tally.compared;
  }

  Problem p;
  Values dy;
  Tally &tally;
  Gradients gradients;
  Evaluation here;
};

struct Kind {
  const char *name, *list;
  Metric metric = Metric::SqL2;
  DecayOrigin origin = DecayOrigin::SequenceEnd;
  Values gammas = {0.99, 0.5, 0.88, 0.993, 0.3};
  /// Range of tau. Distances are scaled with its middle.
  double lowTau = 0.4, highTau = 2;
};

const char defaultAndMax[] =
    "max_score,centroid,decay:forward:0,decay:backward:1,predecessor,top:1,"
    "decay:backward:2,top:3,decay:backward:2,antitop,entropy,spread,top:2";

const Kind kinds[] = {
    {"default_end", "default"},
    {"default_query", "default", Metric::SqL2, DecayOrigin::Query},
    {"default_l2_end", "default", Metric::L2},
    {"default_l2_query", "default", Metric::L2, DecayOrigin::Query},
    {"seven", "seven", Metric::L2, DecayOrigin::SequenceEnd, {0.7}},
    {"max_score", defaultAndMax},
    {"max_score_l2", defaultAndMax, Metric::L2, DecayOrigin::Query},
    {"max_score_first", "max_score,predecessor"},
    {"scalars", "max_score,spread,entropy"},
    {"moments", "moment:1,moment:3,centroid"},
    {"moments_l2", "moment:2,moment:4,entropy", Metric::L2},
    {"moment_first", "moment:4,predecessor"},
    {"gamma_one",
     "default",
     Metric::SqL2,
     DecayOrigin::Query,
     {1, 0.5, 1, 0.993, 1}},
    {"small_gammas",
     "default",
     Metric::SqL2,
     DecayOrigin::SequenceEnd,
     {0.02, 0.03, 0.1, 0.05, 0.04}},
    {"tau_near_floor",
     "default",
     Metric::SqL2,
     DecayOrigin::SequenceEnd,
     {0.99, 0.5, 0.88, 0.993, 0.3},
     0.0101,
     0.012},
    {"tau_below_floor",
     "default",
     Metric::SqL2,
     DecayOrigin::Query,
     {0.99, 0.5, 0.88, 0.993, 0.3},
     0.002,
     0.0099},
    {"tau_below_floor_l2",
     "seven",
     Metric::L2,
     DecayOrigin::SequenceEnd,
     {0.7},
     0.002,
     0.0099},
    {"tau_negative",
     "default",
     Metric::SqL2,
     DecayOrigin::SequenceEnd,
     {0.99, 0.5, 0.88, 0.993, 0.3},
     -0.02,
     -0.002},
};

/// Repeated tokens, unused rows of the table, lengths, an offset; with
/// `spread` the distances reach weights under 1e-10.
Problem drawProblem(const Kind &kind, unsigned seed) {
  std::mt19937 engine(seed);
  auto below = [&](int64_t limit) { return int64_t(engine() % limit); };
  int64_t batch = 1 + below(2), numKeys = 1 + below(9), width = 1 + below(5);
  Problem p = test::randomProblem(batch, numKeys, 3 + below(6), width, seed);
  p.channels = channels(kind.list);
  p.metric = kind.metric;
  p.decayOrigin = kind.origin;
  p.gammas = kind.gammas;
  std::uniform_real_distribution<double> tau(kind.lowTau, kind.highTau);
  p.tau = tau(engine);
  if (below(2))
    for (int64_t b = 0; b < batch; ++b)
      p.lengths.push_back(below(numKeys + 1));
  if (below(3) == 0) {
    p.queryOffset = below(numKeys);
    p.numQueries -= p.queryOffset;
    p.queries.resize(batch * p.numQueries * width);
  }
  double scale = (p.temperature() == 0.01 || p.tau < 0.02)
                     ? (kind.metric == Metric::L2 ? 0.02 : 0.1)
                     : 1;
  if (below(3) == 0)
    scale *= kind.metric == Metric::L2 ? 6 : 2.5;
  for (Values *values : {&p.queries, &p.table})
    for (double &value : *values)
      value *= scale;
  return p;
}

class CentralDifferences : public testing::TestWithParam<Kind> {};

TEST_P(CentralDifferences, Agree) {
  Tally tally;
  for (unsigned seed = 0; seed < 40; ++seed)
    Comparison(drawProblem(GetParam(), seed), seed, tally).compareAll();
  std::printf("  %lld coordinates, %lld skipped, worst %.1e\n",
              (long long)tally.compared, (long long)tally.skipped, tally.worst);
  EXPECT_GT(tally.compared, 1000);
  EXPECT_LE(tally.skipped, 0.02 * (tally.compared + tally.skipped));
}

INSTANTIATE_TEST_SUITE_P(Kinds, CentralDifferences, testing::ValuesIn(kinds),
                         [](const auto &info) { return info.param.name; });

} // namespace
