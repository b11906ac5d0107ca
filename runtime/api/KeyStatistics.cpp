//===- KeyStatistics.cpp - what a schedule depends on of the keys -- -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/KeyStatistics.h"

#include <algorithm>

using namespace raytention;

/// What one thread takes to list a position, in pairs: 0.1 us against 20 to 30
/// ns on two AVX-512 cores, but pairs are shared among all threads.
static constexpr double kPairsPerPosition = 16;

/// How many distinct tokens the sequence of the batch that has most has among
/// its first `inputs.queryOffset + k * chunk` positions, k = 0, 1, ...
template <typename Id>
static std::vector<int64_t> countSeen(const Inputs &inputs, int64_t chunk) {
  const Id *ids = static_cast<const Id *>(inputs.ids);
  std::vector<int64_t> most;
  std::vector<int64_t> owner(inputs.vocab, -1); // the last sequence it is in
  for (int64_t b = 0; b < inputs.batch; ++b) {
    int64_t seen = 0;
    size_t at = 0;
    for (int64_t j = 0; j <= inputs.numKeys; ++j) {
      int64_t row = j - inputs.queryOffset;
      if (row >= 0 && row % chunk == 0 && row < inputs.numQueries) {
        if (at == most.size())
          most.push_back(0);
        most[at] = std::max(most[at], seen);
        ++at;
      }
      if (j == inputs.numKeys)
        break;
      int64_t &last = owner[ids[b * inputs.numKeys + j]];
      seen += last != b;
      last = b;
    }
  }
  return most;
}

KeyStatistics raytention::countKeys(const AttentionSpec &spec,
                                    const Inputs &inputs, int64_t foldChunk) {
  KeyStatistics keys{inputs.numKeys};
  std::vector<int64_t> seen = spec.idBits == 32
                                  ? countSeen<int32_t>(inputs, foldChunk)
                                  : countSeen<int64_t>(inputs, foldChunk);
  double folded = 0, direct = 0, listed = 0;
  for (size_t i = 0; i < seen.size(); ++i) {
    int64_t first = static_cast<int64_t>(i) * foldChunk;
    double rows = std::min(foldChunk, inputs.numQueries - first);
    double own = rows * (rows + 1) / 2;
    folded += rows * seen[i] + own;
    direct += rows * (inputs.queryOffset + first) + own;
    listed = inputs.queryOffset + first;
  }
  folded += kPairsPerPosition * listed;
  if (direct > 0)
    keys.foldedShare = folded / direct;
  return keys;
}

KeyStatistics raytention::estimateKeys(int64_t numKeys, int64_t numTokens,
                                       int64_t foldChunk) {
  KeyStatistics keys{numKeys};
  // In texts the number of tokens grows as about the length to the power of
  // 0.7.
  if (numTokens > 0 && numKeys > foldChunk)
    keys.foldedShare =
        std::min(1.0, (numTokens / 1.7 + foldChunk / 2.0) / (numKeys / 2.0));
  return keys;
}
