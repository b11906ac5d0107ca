//===- PublishedTest.cpp - the oracle against published values ------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/numerics/Npy.h"
#include "tests/numerics/TestGradient.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

using namespace raytention;
using namespace raytention::oracle;

namespace {

class Published : public testing::TestWithParam<const char *> {
protected:
  std::string folder() const {
    return std::string(RAYTENTION_TEST_DATA) + "/reference/" + GetParam() + "/";
  }

  test::NpyArray read(const char *name) const {
    auto array = test::readNpy(folder() + name);
    EXPECT_TRUE(array) << "cannot read " << folder() << name;
    return array.value_or(test::NpyArray());
  }

  double readTau() const {
    std::ifstream file(folder() + "case.json");
    std::string text((std::istreambuf_iterator<char>(file)), {});
    size_t at = text.find("\"tau\": ");
    EXPECT_NE(at, std::string::npos);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + 7));
  }

  Problem readProblem() const {
    test::NpyArray queries = read("queries.npy"), table = read("table.npy"),
                   ids = read("ids.npy");
    Problem problem;
    problem.batch = ids.shape.at(0);
    problem.numKeys = problem.numQueries = ids.shape.at(1);
    problem.vocab = table.shape.at(0);
    problem.dModel = table.shape.at(1);
    problem.queries = queries.values;
    problem.table = table.values;
    problem.ids.assign(ids.values.begin(), ids.values.end());
    problem.tau = readTau();
    problem.channels = test::channels("default");
    return problem;
  }
};

/// The published code is float64 with float32 positions and powers, so it ends
/// near 1e-7; its top-2 at token 0 is a future key, so rows start at 1.
TEST_P(Published, SignalsAgreePerChannel) {
  Problem problem = readProblem();
  test::NpyArray signals = read("signals.npy");
  std::vector<Row> rows = test::run(problem, 2);
  int64_t width = problem.signalWidth();
  ASSERT_EQ(signals.values.size(), rows.size() * width);
  int64_t compared = 0;
  for (size_t c = 0; c < problem.channels.size(); ++c) {
    double worst = 0, magnitude = 0;
    int64_t begin = test::offsetOf(problem, c);
    int64_t end = begin + problem.channels[c].width(problem.dModel);
    for (size_t n = 0; n < rows.size(); ++n) {
      for (int64_t col = begin; col < end && rows[n].id.row >= 1; ++col) {
        double expected = signals.values[n * width + col];
        worst = std::max(worst, std::fabs(rows[n].y[col] - expected));
        magnitude = std::max(magnitude, std::fabs(expected));
        ++compared;
      }
    }
    std::printf("  %-18s err %.2e of %.2e\n",
                problem.channels[c].name().c_str(), worst, magnitude);
    EXPECT_LE(worst, 1e-6 * magnitude) << problem.channels[c].name();
    EXPECT_GT(magnitude, 0) << problem.channels[c].name();
  }
  EXPECT_EQ(compared, problem.batch * (problem.numQueries - 1) * width);
}

/// Of two arrays: their largest difference, and the largest expected value.
struct Difference {
  double error = 0, magnitude = 0;
};

Difference difference(const std::vector<double> &got,
                      const std::vector<double> &expected) {
  EXPECT_EQ(got.size(), expected.size());
  Difference d;
  for (size_t n = 0; n < expected.size(); ++n) {
    d.error = std::max(d.error, std::fabs(got[n] - expected[n]));
    d.magnitude = std::max(d.magnitude, std::fabs(expected[n]));
  }
  return d;
}

/// `grad` is zero in row 0, so the future key there does not matter. As for
/// the signals, agreement ends where the published powers do; in dgammas they
/// are multiplied by positions.
TEST_P(Published, GradientsAgree) {
  Problem problem = readProblem();
  Gradients gradients = test::backward(problem, read("grad.npy").values, 2);
  struct {
    const char *file;
    const GradientPart &part;
    double tolerance;
  } parts[] = {{"dq.npy", gradients.queries, 1e-6},
               {"dtable.npy", gradients.table, 1e-6},
               {"dgammas.npy", gradients.gammas, 1e-5}};
  for (auto [file, part, tolerance] : parts) {
    Difference d = difference(part.values, read(file).values);
    std::printf("  %-12s err %.1e of %.1e\n", file, d.error, d.magnitude);
    EXPECT_LE(d.error, tolerance * d.magnitude) << file;
    EXPECT_GT(d.magnitude, 0) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Published,
                         testing::Values("tiny", "words", "quickstart"),
                         [](const auto &info) { return info.param; });

} // namespace
