//===- Shards.cpp - work cut alike for any number of threads --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Shards.h"

#include "runtime/support/CpuCount.h"

#include <atomic>

namespace raytention::charlm {

Shards::Shards(int threads) : crew(threads ? threads : countCpus().workers()) {}

void Shards::forEach(int64_t size, llvm::function_ref<void(Range)> body) {
  std::atomic<int64_t> next{0};
  crew.run(int(count), [&](int) {
    for (int64_t shard = next++; shard < count; shard = next++) {
      int64_t begin = size * shard / count;
      body({shard, begin, size * (shard + 1) / count - begin});
    }
  });
}

} // namespace raytention::charlm
