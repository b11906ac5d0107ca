//===- GradientEditTest.cpp - an edited gradient is what it says ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As EditTest.cpp, of @attend_backward in both families on the CPU. Expected
// values come from the reference on changed inputs, or from sums over pairs
// that are written out here.
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/exec/CentroidGradient.h"
#include "tests/exec/GradientEdits.h"
#include "tests/exec/StageEditor.h"
#include "tests/support/Results.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace raytention;
using namespace raytention::test;

namespace {

CompileOptions getOptions(bool isStored) {
  CompileOptions options;
  options.backward = true;
  options.expectedKeys = GradientSizes::kKeys;
  options.schedule.queryTile = GradientSizes::kTile;
  options.schedule.keyChunk = GradientSizes::kChunk;
  options.schedule.family =
      isStored ? Schedule::Family::Stored : Schedule::Family::Fused;
  if (isStored)
    options.schedule.queryChunk = 2 * GradientSizes::kTile;
  return options;
}

/// The first difference beyond what float rounds, of the largest value.
std::string compare(const char *what, const std::vector<double> &got,
                    const std::vector<double> &expected) {
  if (got.size() != expected.size())
    return std::string(what) + ": another size";
  double scale = 1e-3;
  for (double value : expected)
    scale = std::isnan(value) ? scale : std::max(scale, std::fabs(value));
  for (size_t i = 0; i < expected.size(); ++i)
    if (!std::isnan(expected[i]) &&
        !(std::fabs(got[i] - expected[i]) <= 5e-5 * scale))
      return std::string(what) + " " + std::to_string(i) + ": expected " +
             std::to_string(expected[i]) + ", got " + std::to_string(got[i]);
  return "";
}

std::string compare(const GradientValues &got, const GradientValues &expected) {
  std::string text = compare("dq", got.queries, expected.queries);
  if (text.empty())
    text = compare("dtable", got.table, expected.table);
  if (text.empty())
    text = compare("dtau", got.tau, expected.tau);
  return text.empty() ? compare("dgammas", got.gammas, expected.gammas) : text;
}

TEST(CentroidGradient, IsThatOfTheReference) {
  GradientProblem problem = makeGradientProblem({"centroid"});
  EXPECT_EQ(compare(CentroidGradient(problem).sum(),
                    gradientIsTheSame(problem, false)),
            "");
}

struct Case {
  GradientEdit edit;
  bool isStored;
};

std::string getName(const Case &one) {
  return (one.edit.stage == std::string("tiled") ? "" : "Products") +
         std::string(one.edit.name) + (one.isStored ? "Stored" : "Fused");
}

void PrintTo(const Case &one, std::ostream *os) { *os << getName(one); }

class EditedGradient : public testing::TestWithParam<Case> {};

TEST_P(EditedGradient, MeansWhatItSays) {
  auto [edit, isStored] = GetParam();
  const Outcome &outcome = isStored ? edit.stored : edit.fused;
  GradientProblem problem = makeGradientProblem(edit.channels);
  CompileOptions options = getOptions(isStored);
  std::string text =
      makeEditedText(problem.spec, options, edit.stage, edit.change);
  auto attention = Attention::compileModule(text, problem.spec, options);
  if (outcome.kind == Outcome::Refused) {
    std::string message = messageOf(std::move(attention));
    EXPECT_NE(message.find(outcome.text), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return;
  }
  ASSERT_TRUE(bool(attention)) << attention.status().message();
  GradientValues got = problem.computeGradients(**attention, DType::F32, 2);
  EXPECT_EQ(compare(got, edit.meaning(problem, isStored)), "");
}

std::string nameParameter(const testing::TestParamInfo<Case> &info) {
  return getName(info.param);
}

/// The plain run has what is refused, and of each kind one that is computed.
std::vector<Case> getCases(bool isLong) {
  std::vector<Case> cases;
  for (const GradientEdit &edit : getGradientEdits())
    for (bool isStored : {false, true}) {
      Outcome::Kind kind = (isStored ? edit.stored : edit.fused).kind;
      bool isPlain = edit.isTypical || kind == Outcome::Refused;
      if (kind != Outcome::Absent && isPlain != isLong)
        cases.push_back({edit, isStored});
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Edits, EditedGradient,
                         testing::ValuesIn(getCases(/*isLong=*/false)),
                         nameParameter);
INSTANTIATE_TEST_SUITE_P(Long, EditedGradient,
                         testing::ValuesIn(getCases(/*isLong=*/true)),
                         nameParameter);

} // namespace
