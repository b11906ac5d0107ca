//===- Shards.cpp - work cut alike for any number of threads --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Shards.h"

namespace raytention::charlm {

Shards::Shards(int threads)
    : numThreads(
          threads ? threads
                  : int(llvm::hardware_concurrency().compute_thread_count())) {
  if (numThreads > 1)
    pool = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(unsigned(numThreads)));
}

void Shards::forEach(int64_t size, llvm::function_ref<void(Range)> body) {
  for (int64_t shard = 0; shard < count; ++shard) {
    int64_t begin = size * shard / count;
    Range range{shard, begin, size * (shard + 1) / count - begin};
    if (pool)
      pool->async([=] { body(range); });
    else
      body(range);
  }
  if (pool)
    pool->wait();
}

} // namespace raytention::charlm
