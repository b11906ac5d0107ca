//===- VariantTest.cpp - one attention, any number of keys ----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/device/Support.h"
#include "tests/exec/GradientProblem.h"
#include "tests/support/Results.h"
#include "tools/oracle/Gradient.h"

#include "gtest/gtest.h"

using namespace raytention;
using namespace raytention::test;

namespace {

/// Runs of some numbers of keys on attentions of one spec.
class Lengths {
public:
  CompileOptions options;

  Lengths() {
    options.schedule.space = Schedule::Space::Direct;
    spec.dModel = kWidth;
    spec.channels = {"centroid", "top:1", "entropy"};
    for (int64_t i = 0; i < kMost * kWidth; ++i)
      queries.push_back(float(i * 37 % 101) / 50 - 1);
    for (int64_t i = 0; i < kVocab * kWidth; ++i)
      table.push_back(float(i * 53 % 97) / 48 - 1);
    for (int64_t i = 0; i < kMost; ++i)
      ids.push_back(int32_t(i * 7 % kVocab));
  }

  std::unique_ptr<Attention> compile() const {
    return cantFail(Attention::compile(spec, options));
  }
  std::unique_ptr<Attention> compileReference() const {
    CompileOptions reference;
    reference.target = TargetKind::Reference;
    return cantFail(Attention::compile(spec, reference));
  }
  /// The attention as a module of the stage "attention".
  Result<std::unique_ptr<Attention>> compileText() const {
    return Attention::compileModule(
        cantFail(printStage(spec, options, "attention")), spec, options);
  }

  Result<std::vector<float>> tryRun(Attention &attention, int64_t keys) {
    Inputs inputs;
    inputs.numQueries = inputs.numKeys = keys;
    inputs.vocab = kVocab;
    inputs.queries = queries.data();
    inputs.table = table.data();
    inputs.ids = ids.data();
    std::vector<float> signals(keys * attention.signalWidth());
    Outputs outputs;
    outputs.signals = signals.data();
    auto ran = attention.run(inputs, outputs, 2);
    if (!ran)
      return ran.status();
    report = *ran;
    return signals;
  }
  std::vector<float> run(Attention &attention, int64_t keys) {
    return cantFail(tryRun(attention, keys));
  }

  RunReport report; ///< of the last run
  AttentionSpec spec;

private:
  static constexpr int64_t kMost = 1000, kWidth = 8, kVocab = 11;
  std::vector<float> queries, table;
  std::vector<int32_t> ids;
};

bool keepsScores(const Attention &attention) {
  return attention.scheduleText().find("scores = keep") != std::string::npos;
}

void expectNear(const std::vector<float> &got,
                const std::vector<float> &expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], expected[i], 2e-5) << i;
}

/// Keeps the scores of 300 keys, not of 700.
constexpr int64_t kSmallCap = 200 << 10;

TEST(Variants, ScoresAreKeptWhereTheyFitInAnyOrderOfRuns) {
  Lengths lengths;
  lengths.options.workspaceCap = kSmallCap;
  auto attention = lengths.compile(), reference = lengths.compileReference();
  double compileMs = attention->compileMs();
  auto few = lengths.run(*attention, 300);
  EXPECT_TRUE(keepsScores(*attention));
  EXPECT_EQ(attention->numVariants(), 1);
  EXPECT_EQ(lengths.report.compileMs, 0);
  auto many = lengths.run(*attention, 700);
  EXPECT_FALSE(keepsScores(*attention));
  EXPECT_EQ(attention->numVariants(), 2);
  EXPECT_GT(lengths.report.compileMs, 0);
  EXPECT_EQ(attention->compileMs(), compileMs + lengths.report.compileMs);
  EXPECT_LE(lengths.report.workspaceBytesPerThread, kSmallCap);
  EXPECT_EQ(lengths.run(*attention, 300), few);
  EXPECT_TRUE(keepsScores(*attention));
  EXPECT_EQ(lengths.report.compileMs, 0);
  lengths.run(*attention, 1000);
  EXPECT_EQ(attention->numVariants(), 2);
  expectNear(few, lengths.run(*reference, 300));
  expectNear(many, lengths.run(*reference, 700));
  auto other = lengths.compile();
  EXPECT_EQ(lengths.run(*other, 700), many);
  EXPECT_EQ(lengths.run(*other, 300), few);
}

TEST(Variants, OfTheExpectedKeysIsCompiledFirst) {
  Lengths lengths;
  lengths.options.workspaceCap = kSmallCap;
  lengths.options.expectedKeys = 700;
  auto attention = lengths.compile();
  EXPECT_FALSE(keepsScores(*attention));
  lengths.run(*attention, 700);
  EXPECT_EQ(attention->numVariants(), 1);
  lengths.run(*attention, 300);
  EXPECT_EQ(attention->numVariants(), 2);
}

TEST(Variants, OnlyWhatFitsNoScheduleIsRefused) {
  Lengths lengths;
  lengths.options.workspaceCap = kSmallCap;
  lengths.options.schedule.scores = Schedule::Scores::Keep;
  lengths.options.schedule.queryTile = 32;
  lengths.options.schedule.keyChunk = 192;
  lengths.options.expectedKeys = 700; // a hint, which refuses nothing
  auto attention = lengths.compile();
  auto few = lengths.run(*attention, 300);
  Status refused = lengths.tryRun(*attention, 700).status();
  EXPECT_EQ(refused.code(), StatusCode::ResourceLimit);
  EXPECT_EQ(refused.message().find("expected a workspace cap of at least "), 0u)
      << refused.message();
  EXPECT_EQ(lengths.run(*attention, 300), few);
  EXPECT_EQ(attention->numVariants(), 1);
}

TEST(Variants, AModuleHasOneAndItsCapHolds) {
  Lengths lengths;
  lengths.options.workspaceCap = 140 << 10;
  auto attention = cantFail(lengths.compileText());
  expectNear(lengths.run(*attention, 100),
             lengths.run(*lengths.compileReference(), 100));
  Status refused = lengths.tryRun(*attention, 1000).status();
  EXPECT_EQ(refused.code(), StatusCode::ResourceLimit);
  EXPECT_NE(refused.message().find(
                " for T = 1000; give a schedule of recomputed scores or of a "
                "smaller query tile, or raise the cap"),
            std::string::npos)
      << refused.message();
  EXPECT_EQ(attention->numVariants(), 1);
}

TEST(Variants, TheReferenceHasOne) {
  Lengths lengths;
  auto attention = lengths.compileReference();
  for (int64_t keys : {1, 40, 200})
    lengths.run(*attention, keys);
  EXPECT_EQ(attention->numVariants(), 1);
}

TEST(Variants, StoredRowsOnADeviceFollowTheKeys) {
  RT_NVRTC_OR_SKIP(nvrtc);
  Lengths lengths;
  lengths.options.target = TargetKind::Simt;
  lengths.options.schedule.family = Schedule::Family::Stored;
  auto whole = lengths.compile();
  auto few = lengths.run(*whole, 40), many = lengths.run(*whole, 150);
  EXPECT_EQ(whole->numVariants(), 1);
  lengths.options.workspaceCap = lengths.report.workspaceBytes / 2;
  auto attention = lengths.compile();
  EXPECT_EQ(lengths.run(*attention, 40), few);
  EXPECT_EQ(lengths.run(*attention, 150), many);
  EXPECT_LE(lengths.report.workspaceBytes, lengths.options.workspaceCap);
  EXPECT_EQ(lengths.run(*attention, 40), few);
  EXPECT_EQ(attention->numVariants(), 2);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Wide rows, whose gradient is stored, of the last `rows` queries.
GradientProblem makeWide(int64_t keys, int64_t rows) {
  GradientShape shape;
  shape.batch = 1;
  shape.numKeys = keys;
  shape.offset = keys - rows;
  shape.dModel = 640;
  shape.vocab = 40;
  GradientProblem problem(keys, {"centroid", "decay:backward:0", "top:1"},
                          shape);
  problem.tau = {300};
  problem.target = TargetKind::Cpu;
  problem.schedule.space = Schedule::Space::Direct;
  problem.workspaceCap = 8 << 20;
  return problem;
}

void expectSameBits(const GradientValues &got, const GradientValues &expected) {
  EXPECT_EQ(got.queries, expected.queries);
  EXPECT_EQ(got.table, expected.table);
  EXPECT_EQ(got.tau, expected.tau);
  EXPECT_EQ(got.gammas, expected.gammas);
}

void expectNear(const GradientValues &got, const GradientValues &expected) {
  EXPECT_LT(distance(got.queries, expected.queries), 1e-10);
  EXPECT_LT(distance(got.table, expected.table), 1e-10);
  EXPECT_LT(distance(got.tau, expected.tau), 1e-10);
  EXPECT_LT(distance(got.gammas, expected.gammas), 1e-10);
}

GradientValues computeByOracle(const GradientProblem &problem) {
  oracle::Problem same = problem.toOracle();
  int64_t width = problem.dSignals.size() / problem.numQueries;
  auto rowOf = [&](oracle::RowId id, double *row) {
    std::copy_n(&problem.dSignals[id.row * width], width, row);
  };
  oracle::Gradients result;
  auto error = oracle::backward(same, oracle::allRows(same), rowOf,
                                oracle::BackwardOptions(), result);
  EXPECT_FALSE(error) << *error;
  return {result.queries.values, result.table.values, result.tau.values,
          result.gammas.values};
}

/// The query chunk of the gradient; 0 where it is not stored.
int64_t queryChunkOf(const Attention &attention) {
  std::string text = attention.scheduleText();
  size_t at = text.find("query_chunk = ", text.find("backward"));
  return at == std::string::npos ? 0 : std::stoll(text.substr(at + 14));
}

TEST(Variants, GradientsAreStoredWhereTheirRowsFit) {
  GradientProblem few = makeWide(300, 300), many = makeWide(1500, 200);
  auto attention = few.compile(DType::F64);
  auto run = [](Attention &attention, const GradientProblem &problem) {
    return problem.computeGradients(attention, DType::F64, 2);
  };
  GradientValues first = run(*attention, few);
  EXPECT_EQ(queryChunkOf(*attention), 256);
  EXPECT_EQ(attention->numVariants(), 1);
  GradientValues longer = run(*attention, many);
  EXPECT_EQ(queryChunkOf(*attention), 0);
  EXPECT_EQ(attention->numVariants(), 2);
  expectSameBits(run(*attention, few), first);
  EXPECT_EQ(queryChunkOf(*attention), 256);
  EXPECT_EQ(attention->numVariants(), 2);
  auto other = few.compile(DType::F64);
  expectSameBits(run(*other, many), longer);
  expectNear(first, computeByOracle(few));
  expectNear(longer, computeByOracle(many));
}

/// Scores are kept or not, gradients are stored or not.
TEST(Variants, AreFewForAnyLengths) {
  GradientProblem problem = makeWide(1, 1);
  auto attention = problem.compile(DType::F32);
  for (int64_t keys = 1; keys < 12000; keys = keys * 5 / 4 + 1)
    makeWide(keys, 1).computeGradients(*attention, DType::F32, 1);
  EXPECT_LE(attention->numVariants(), 4);
}

} // namespace
