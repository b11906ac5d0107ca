//===- Trigram.h - the baseline: an interpolated trigram model --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_TRIGRAM_H
#define RAYTENTION_EXAMPLES_CHARLM_TRIGRAM_H

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <vector>

namespace raytention::charlm {

/// How often each run of one, two and three ids occurs in a text.
class NgramCounts {
public:
  NgramCounts(llvm::ArrayRef<int32_t> text, int64_t vocab);

  /// The relative frequencies of `c` after `a b`: without context (1 / vocab),
  /// alone, after `b`, after `a b`. One whose context never occurred is that
  /// of the shorter context, so that each is a distribution.
  std::array<double, 4> estimates(int32_t a, int32_t b, int32_t c) const;

private:
  size_t pair(int32_t a, int32_t b) const { return size_t(a * vocab + b); }

  int64_t vocab, total = 0;
  std::vector<uint32_t> one, two, three;
  /// Occurrences as a context: of `b` with, and of `a b` with, an id after it.
  std::vector<uint32_t> before, beforeTwo;
};

/// P(c | a b) as a weighted mean of the four estimates.
class Trigram {
public:
  Trigram(NgramCounts counts, std::array<double, 4> weights)
      : counts(std::move(counts)), mix(weights) {}

  /// Weights by expectation maximisation on the last tenth of `training`, for
  /// counts of the rest; then counts of all of it.
  static Trigram fit(llvm::ArrayRef<int32_t> training, int64_t vocab);

  double probability(int32_t a, int32_t b, int32_t c) const;

  /// Mean -log P of text[2..], each id after the two before it.
  double natsPerChar(llvm::ArrayRef<int32_t> text) const;

  const std::array<double, 4> &weights() const { return mix; }

private:
  NgramCounts counts;
  std::array<double, 4> mix;
};

/// Weights that make text[2..] most likely under `counts`.
std::array<double, 4> fitWeights(const NgramCounts &counts,
                                 llvm::ArrayRef<int32_t> text, int rounds);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_TRIGRAM_H
