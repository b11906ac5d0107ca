//===- KeyStatistics.h - what a schedule depends on of the keys -- -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_KEYSTATISTICS_H
#define RAYTENTION_RUNTIME_API_KEYSTATISTICS_H

#include "raytention/Attention.h"

namespace raytention {

/// What a schedule depends on of a run's keys.
struct KeyStatistics {
  int64_t numKeys = 0; ///< of a sequence; 0: not known
  /// Pairs of rows with tokens and positions where the attention is folded onto
  /// the vocabulary, and what it takes to list the tokens, over its pairs of rows
  /// with positions.
  double foldedShare = 1;
};

/// Of checked inputs; the share for chunks of `foldChunk` rows.
KeyStatistics countKeys(const AttentionSpec &spec, const Inputs &inputs,
                        int64_t foldChunk);
/// Of `numKeys` keys that are `numTokens` distinct tokens, 0: all, as they are
/// spread in texts.
KeyStatistics estimateKeys(int64_t numKeys, int64_t numTokens,
                           int64_t foldChunk);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_KEYSTATISTICS_H
