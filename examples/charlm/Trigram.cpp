//===- Trigram.cpp - the baseline: an interpolated trigram model ----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Trigram.h"

#include <cmath>

namespace raytention::charlm {

NgramCounts::NgramCounts(llvm::ArrayRef<int32_t> text, int64_t vocab)
    : vocab(vocab), total(int64_t(text.size())), one(size_t(vocab)),
      two(size_t(vocab * vocab)), three(size_t(vocab * vocab * vocab)),
      before(size_t(vocab)), beforeTwo(size_t(vocab * vocab)) {
  for (size_t i = 0; i < text.size(); ++i) {
    ++one[size_t(text[i])];
    if (i < 1)
      continue;
    ++two[pair(text[i - 1], text[i])];
    ++before[size_t(text[i - 1])];
    if (i < 2)
      continue;
    size_t context = pair(text[i - 2], text[i - 1]);
    ++three[context * size_t(vocab) + size_t(text[i])];
    ++beforeTwo[context];
  }
}

std::array<double, 4> NgramCounts::estimates(int32_t a, int32_t b,
                                             int32_t c) const {
  auto ratio = [](uint32_t part, int64_t whole, double otherwise) {
    return whole ? double(part) / double(whole) : otherwise;
  };
  size_t context = pair(a, b);
  double p0 = 1.0 / double(vocab);
  double p1 = ratio(one[size_t(c)], total, p0);
  double p2 = ratio(two[pair(b, c)], before[size_t(b)], p1);
  double p3 =
      ratio(three[context * size_t(vocab) + size_t(c)], beforeTwo[context], p2);
  return {p0, p1, p2, p3};
}

static double mean(const std::array<double, 4> &weights,
                   const std::array<double, 4> &values) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i)
    sum += weights[i] * values[i];
  return sum;
}

std::array<double, 4> fitWeights(const NgramCounts &counts,
                                 llvm::ArrayRef<int32_t> text, int rounds) {
  std::array<double, 4> weights = {0.25, 0.25, 0.25, 0.25};
  for (int round = 0; round < rounds && text.size() > 2; ++round) {
    // How much of each id's probability came from each estimate.
    std::array<double, 4> share = {};
    for (size_t i = 2; i < text.size(); ++i) {
      auto values = counts.estimates(text[i - 2], text[i - 1], text[i]);
      double whole = mean(weights, values);
      for (size_t k = 0; k < share.size(); ++k)
        share[k] += weights[k] * values[k] / whole;
    }
    for (size_t k = 0; k < share.size(); ++k)
      weights[k] = share[k] / double(text.size() - 2);
  }
  return weights;
}

Trigram Trigram::fit(llvm::ArrayRef<int32_t> training, int64_t vocab) {
  constexpr int rounds = 100; // the weights stand still long before
  size_t held = training.size() / 10;
  NgramCounts most(training.drop_back(held), vocab);
  auto weights = fitWeights(most, training.take_back(held), rounds);
  return Trigram(NgramCounts(training, vocab), weights);
}

double Trigram::probability(int32_t a, int32_t b, int32_t c) const {
  return mean(mix, counts.estimates(a, b, c));
}

double Trigram::natsPerChar(llvm::ArrayRef<int32_t> text) const {
  double sum = 0;
  for (size_t i = 2; i < text.size(); ++i)
    sum -= std::log(probability(text[i - 2], text[i - 1], text[i]));
  return text.size() > 2 ? sum / double(text.size() - 2) : 0;
}

} // namespace raytention::charlm
