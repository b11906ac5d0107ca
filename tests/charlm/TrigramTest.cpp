//===- TrigramTest.cpp - the baseline by hand -----------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Trigram.h"
#include "examples/charlm/Corpus.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace raytention::charlm;

// "abaab": a 3 times, b twice; pairs ab 2, ba 1, aa 1; aba, baa, aab once each.
static const std::vector<int32_t> abaab = {0, 1, 0, 0, 1};

TEST(Trigram, EstimatesAreRelativeFrequencies) {
  NgramCounts counts(abaab, 2);
  // b after "a a": 1/2; 2 of 5; of three ids after an a, two are b; 1 of 1.
  auto seen = counts.estimates(0, 0, 1);
  EXPECT_DOUBLE_EQ(seen[0], 0.5);
  EXPECT_DOUBLE_EQ(seen[1], 0.4);
  EXPECT_DOUBLE_EQ(seen[2], 2.0 / 3);
  EXPECT_DOUBLE_EQ(seen[3], 1.0);
}

TEST(Trigram, UnseenContextTakesTheShorterOne) {
  NgramCounts counts(abaab, 2);
  auto unseen = counts.estimates(1, 1, 0); // "b b" never occurs
  EXPECT_DOUBLE_EQ(unseen[2], 1.0);        // after b only a
  EXPECT_DOUBLE_EQ(unseen[3], 1.0);
}

TEST(Trigram, IsTheWeightedMean) {
  Trigram model(NgramCounts(abaab, 2), {0.1, 0.2, 0.3, 0.4});
  double b = 0.1 * 0.5 + 0.2 * 0.4 + 0.3 * 2 / 3 + 0.4;
  EXPECT_DOUBLE_EQ(model.probability(0, 0, 1), b);
  EXPECT_NEAR(model.probability(0, 0, 0), 1 - b, 1e-15);
  EXPECT_DOUBLE_EQ(model.natsPerChar({0, 0, 1}), -std::log(b));
}

TEST(Trigram, EachContextGivesADistribution) {
  Corpus corpus = makeCorpus("the theatre there, then the other one");
  Trigram model = Trigram::fit(corpus.training(), corpus.vocab());
  for (int32_t a = 0; a < corpus.vocab(); ++a)
    for (int32_t b = 0; b < corpus.vocab(); ++b) {
      double sum = 0;
      for (int32_t c = 0; c < corpus.vocab(); ++c)
        sum += model.probability(a, b, c);
      EXPECT_NEAR(sum, 1, 1e-12);
    }
}

TEST(Trigram, OneRoundOfWeightsIsTheMeanShare) {
  NgramCounts counts(abaab, 2);
  // One id, b after "a a", with estimates 0.5, 0.4, 2/3 and 1.
  auto weights = fitWeights(counts, {0, 0, 1}, 1);
  double sum = 0.5 + 0.4 + 2.0 / 3 + 1;
  EXPECT_NEAR(weights[0], 0.5 / sum, 1e-15);
  EXPECT_NEAR(weights[3], 1 / sum, 1e-15);
}

TEST(Trigram, WeightsGoToTheBestEstimate) {
  NgramCounts counts(abaab, 2);
  auto weights = fitWeights(counts, {0, 0, 1}, 200);
  EXPECT_GT(weights[3], 0.999);
}
