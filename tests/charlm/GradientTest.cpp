//===- GradientTest.cpp - the whole model by central differences ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Model.h"
#include "examples/charlm/Random.h"

#include "tests/charlm/PlainAttention.h"
#include "tests/support/Results.h"

#include "gtest/gtest.h"

using namespace raytention;
using namespace raytention::charlm;

namespace {

/// Six ids, two layers of width 4, in double.
ModelShape tinyShape() {
  ModelShape shape;
  shape.vocab = 6;
  shape.dModel = 4;
  shape.hidden = 5;
  shape.layers = 2;
  shape.channels = defaultChannels();
  shape.signals = 10 * shape.dModel + 2;
  shape.gammas = {0.9, 0.5, 0.7, 0.8, 0.3};
  shape.tau = 1.5;
  shape.tableScale = 0.7;
  return shape;
}

/// Two sequences of five ids; `queries` positions of each predict.
Batch tinyBatch(int64_t queries) {
  Batch batch;
  batch.sequences = 2;
  batch.keys = 5;
  batch.queries = queries;
  batch.ids = {0, 3, 1, 3, 2, 5, 4, 4, 0, 1};
  std::vector<int32_t> targets = {3, 1, 3, 2, 5, 4, 4, 0, 1, 2};
  for (int64_t s = 0; s < 2; ++s)
    for (int64_t i = 5 - queries; i < 5; ++i)
      batch.targets.push_back(targets[size_t(5 * s + i)]);
  return batch;
}

double lossAt(Model<double> &model, const Batch &batch, int64_t at, double by) {
  double kept = model.parameters[at];
  model.parameters[at] = kept + by;
  double loss = test::cantFail(model.loss(batch));
  model.parameters[at] = kept;
  return loss;
}

/// The largest difference, relative to the largest derivative of each slot.
void checkGradient(std::unique_ptr<Attention> attention, int64_t queries) {
  Shards shards(1);
  Model<double> model(tinyShape(),
                      AttentionBlock<double>(std::move(attention), 1), shards,
                      /*seed=*/3);
  // The start has zeros where a gradient should be seen to be right too.
  Random random(7);
  for (double &value : model.parameters)
    value += 0.1 * random.normal();
  Batch batch = tinyBatch(queries);
  Vector<double> gradient;
  auto loss = model.lossAndGradient(batch, gradient);
  ASSERT_TRUE(bool(loss)) << loss.status().message();
  EXPECT_DOUBLE_EQ(*loss, test::cantFail(model.loss(batch)));
  constexpr double h = 1e-5;
  double largest = 0;
  for (double g : gradient)
    largest = std::max(largest, std::abs(g));
  for (int64_t i = 0; i < gradient.size(); ++i) {
    double difference =
        (lossAt(model, batch, i, h) - lossAt(model, batch, i, -h)) / (2 * h);
    EXPECT_NEAR(gradient[i], difference, 1e-7 * largest) << "parameter " << i;
  }
}

} // namespace

TEST(CharLmGradient, PlainAttention) {
  checkGradient(test::plainAttention<double>(4), 5);
}

TEST(CharLmGradient, PlainAttentionOfTheLastRows) {
  checkGradient(test::plainAttention<double>(4), 2);
}

/// The attention that the compiler makes for the tiny model.
static std::unique_ptr<Attention> compiled() {
  return test::cantFail(AttentionBlock<double>::compile(tinyShape(),
                                                        /*backward=*/true));
}

TEST(CharLmGradient, CompiledAttention) { checkGradient(compiled(), 5); }

TEST(CharLmGradient, CompiledAttentionOfTheLastRows) {
  checkGradient(compiled(), 2);
}
