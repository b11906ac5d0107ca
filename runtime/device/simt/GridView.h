//===- GridView.h - what is known of other blocks ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A release hands on what its thread has seen, by block; an acquire takes over
// what all releases handed on that came before it at the same place. As many
// blocks may meet at one place, what is taken over is only put together where
// it is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_GRIDVIEW_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_GRIDVIEW_H

#include "llvm/ADT/SmallVector.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace raytention::simt {

struct View;

/// What is known to have happened, by block. Never changed once made.
class GridView {
public:
  struct Known {
    uint32_t block = 0;
    uint32_t epoch = 0; ///< of the grid, when the block handed it on
    std::shared_ptr<const View> view;
  };
  GridView() = default;
  /// Sorted by block.
  explicit GridView(std::vector<Known> known) : known(std::move(known)) {}

  /// Null where nothing is known of the block.
  const View *find(uint32_t block) const;
  /// Whether the other blocks of a mask handed something on after the epoch; of
  /// a grid with more blocks than the mask has bits, whether all did at all.
  bool knowsAll(uint32_t mask, uint32_t epoch, uint32_t block,
                uint64_t count) const;
  const std::vector<Known> &all() const { return known; }

private:
  const Known *findKnown(uint32_t block) const;

  std::vector<Known> known;
};

/// Null: nothing is known.
using GridPointer = std::shared_ptr<const GridView>;
GridPointer join(const GridPointer &a, const GridPointer &b);

/// What was released at one place, in order.
class GridLog {
public:
  void append(GridPointer released);
  size_t size() const;
  /// The first `count` together.
  GridPointer join(size_t count);

private:
  mutable std::mutex mutex;
  std::vector<GridPointer> entries;
  size_t joinedCount = 0; ///< of entries in `joined`
  GridPointer joined;
};

/// What a warp knows, or has read and not yet acquired.
class GridKnowledge {
public:
  void add(std::shared_ptr<GridLog> log, size_t count);
  void join(const GridKnowledge &other);
  bool isEmpty() const { return !known && unread.empty(); }
  const GridPointer &get() const;

private:
  struct Unread {
    std::shared_ptr<GridLog> log;
    size_t count;
  };
  mutable GridPointer known;
  mutable llvm::SmallVector<Unread, 1> unread;
};

/// The places of global memory where something was released during a launch.
class GridReleases {
public:
  void release(const uint8_t *place, const GridPointer &released);
  void acquire(const uint8_t *place, GridKnowledge &into);
  /// Of what a release hands on from now on; later than all so far.
  uint32_t nextEpoch() { return ++lastEpoch; }
  uint32_t epoch() const { return lastEpoch.load(std::memory_order_relaxed); }

private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<const uint8_t *, std::shared_ptr<GridLog>> logs;
  };
  Shard &shardOf(const uint8_t *place) {
    return shards[reinterpret_cast<uintptr_t>(place) / 4 % 64];
  }

  Shard shards[64];
  std::atomic<uint32_t> lastEpoch{0};
  std::atomic<bool> any{false};
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_GRIDVIEW_H
