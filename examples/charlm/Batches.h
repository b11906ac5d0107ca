//===- Batches.h - windows of a text ----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_BATCHES_H
#define RAYTENTION_EXAMPLES_CHARLM_BATCHES_H

#include "examples/charlm/AttentionBlock.h"
#include "examples/charlm/Corpus.h"
#include "examples/charlm/Random.h"

namespace raytention::charlm {

/// `sequences` windows of `keys` ids at random places, every position of which
/// predicts the id after it. The text is longer than a window.
Batch randomBatch(llvm::ArrayRef<int32_t> text, int64_t sequences, int64_t keys,
                  Random &random);

/// Windows that predict text[begin..], each id once. A window reads `keys` ids
/// and predicts with the last half of them, so that each prediction sees at
/// least keys / 2 ids; neighbours overlap by the other half. `begin` is at
/// least keys. Only every `stride`-th window is kept.
std::vector<Batch> scoringBatches(llvm::ArrayRef<int32_t> text, int64_t begin,
                                  int64_t keys, int64_t sequences,
                                  int64_t stride);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_BATCHES_H
