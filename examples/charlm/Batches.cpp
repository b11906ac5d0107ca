//===- Batches.cpp - windows of a text ------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Batches.h"

#include <algorithm>

namespace raytention::charlm {

/// Adds the window whose last `queries` rows predict text[end - queries + 1 ..
/// end]; it reads up to text[end - 1].
static void addWindow(Batch &batch, llvm::ArrayRef<int32_t> text, int64_t end) {
  auto first = text.begin() + (end - batch.keys);
  batch.ids.insert(batch.ids.end(), first, first + batch.keys);
  auto target = text.begin() + (end - batch.queries + 1);
  batch.targets.insert(batch.targets.end(), target, target + batch.queries);
  ++batch.sequences;
}

Batch randomBatch(llvm::ArrayRef<int32_t> text, int64_t sequences, int64_t keys,
                  Random &random) {
  Batch batch;
  batch.keys = batch.queries = keys;
  for (int64_t i = 0; i < sequences; ++i)
    addWindow(batch, text, keys + random.below(int64_t(text.size()) - keys));
  return batch;
}

std::vector<Batch> scoringBatches(llvm::ArrayRef<int32_t> text, int64_t begin,
                                  int64_t keys, int64_t sequences,
                                  int64_t stride) {
  std::vector<Batch> batches;
  int64_t size = int64_t(text.size()), half = std::max<int64_t>(keys / 2, 1);
  for (int64_t at = begin; at < size; at += half * stride) {
    int64_t queries = std::min(half, size - at);
    if (batches.empty() || batches.back().sequences == sequences ||
        batches.back().queries != queries) {
      batches.emplace_back();
      batches.back().keys = keys;
      batches.back().queries = queries;
    }
    addWindow(batches.back(), text, at + queries - 1);
  }
  return batches;
}

} // namespace raytention::charlm
