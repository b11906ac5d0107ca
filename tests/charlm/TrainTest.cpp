//===- TrainTest.cpp - short trainings ------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Program.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

using namespace raytention;
using namespace raytention::charlm;

namespace {

Options shortRun(int threads) {
  Options options;
  options.threads = threads;
  options.dModel = 16;
  options.train.steps = 30;
  options.train.sequences = 4;
  options.train.context = 24;
  options.train.rate = 1e-2;
  options.train.seed = 5;
  return options;
}

struct Trained {
  std::vector<CurvePoint> curve;
  Vector<float> parameters;
};

Trained train(const Options &options) {
  static const Corpus corpus =
      test::cantFail(loadCorpus(RAYTENTION_TEST_DATA "/plays.txt"));
  Corpus part = corpus;
  part.ids.resize(20000);
  part.split = 18000;
  Shards shards(options.threads);
  auto model = test::cantFail(makeModel(options, part, shards));
  Trainer trainer(*model, part, options.train);
  auto curve = trainer.run([](const CurvePoint &) {});
  if (!curve) {
    ADD_FAILURE() << curve.status().message();
    return {};
  }
  return {*curve, model->parameters};
}

} // namespace

TEST(CharLmTrain, LossFalls) {
  Trained run = train(shortRun(1));
  ASSERT_FALSE(run.curve.empty());
  EXPECT_EQ(run.curve.back().step, 30);
  // Near log 65 = 4.17 at the start.
  EXPECT_GT(run.curve.front().training, 3.5);
  EXPECT_LT(run.curve.back().training, run.curve.front().training - 0.5);
  EXPECT_LT(run.curve.back().validation, run.curve.front().validation - 0.3);
}

TEST(CharLmTrain, SameSeedGivesTheSameBitsForAnyThreads) {
  Vector<float> one = train(shortRun(1)).parameters;
  EXPECT_EQ(one, train(shortRun(1)).parameters);
  EXPECT_EQ(one, train(shortRun(2)).parameters);
}

TEST(CharLmTrain, AnotherSeedGivesAnotherModel) {
  Options other = shortRun(1);
  other.train.seed = 6;
  EXPECT_NE(train(shortRun(1)).parameters, train(other).parameters);
}

TEST(CharLmTrain, RateRisesThenFallsToATenth) {
  TrainOptions options;
  EXPECT_LT(rateAt(options, 0, 0), options.rate / 10);
  EXPECT_DOUBLE_EQ(rateAt(options, 1000, 0), options.rate);
  EXPECT_NEAR(rateAt(options, 1000, 1), options.rate / 10, 1e-12);
}
