//===- Shards.h - work cut alike for any number of threads ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_SHARDS_H
#define RAYTENTION_EXAMPLES_CHARLM_SHARDS_H

#include "runtime/support/Crew.h"

#include <cstdint>

namespace raytention::charlm {

/// Runs independent shards of a range on some threads. Where the range is cut
/// does not depend on the threads, so neither do sums taken per shard.
class Shards {
public:
  /// `threads` as for Attention::run: 0 stands for all cores.
  explicit Shards(int threads);

  static constexpr int64_t count = 8;

  struct Range {
    int64_t shard, begin, size;
  };

  /// Calls `body` for each shard of [0, size), empty ones too.
  void forEach(int64_t size, llvm::function_ref<void(Range)> body);

  int threads() const { return crew.wanted(); }

private:
  Crew crew;
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_SHARDS_H
