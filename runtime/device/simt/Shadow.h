//===- Shadow.h - who touched a word last, and in what order ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_SHADOW_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_SHADOW_H

#include "runtime/device/simt/Readers.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace raytention::simt {

/// The last write of, and the last reads since, four bytes of memory (or one
/// byte where accesses of its neighbours differ). Times are the block's; 0 is
/// never.
struct Cell {
  uint32_t writeTime = 0, readTime = 0;
  uint32_t writeBlock = 0, readBlock = 0;
  /// Of readWarp, in readBlock; where many blocks read, a mask of them.
  uint32_t readLanes = 0;
  uint32_t readEpoch = 0; ///< of the grid, at the first of the reads
  uint32_t readers = 0;   ///< in the pool, where several warps read
  uint32_t asyncBlock = 0;
  uint16_t writeThread = 0;
  uint8_t readWarp = 0;
  /// Of the mbarrier that told of the write, from 1; 0: it is in its thread's
  /// order.
  uint16_t writeSlot = 0;
  uint16_t asyncReads = 0;  ///< of asyncBlock: those that have not ended
  uint16_t asyncReader = 0; ///< thread that began the last of them
  bool writeStrong = false; ///< atomic or volatile
  bool writeAsync = false;  ///< by the async proxy
  bool pending = false;     ///< an async copy will land here
  bool isObject = false;    ///< part of an mbarrier
  bool manyBlocks = false;  ///< read it

  uint32_t readThread() const {
    return readWarp * 32 + (readLanes ? __builtin_ctz(readLanes) : 0);
  }
};

enum class Touch : uint8_t { Read, Write, Land, EndRead };

/// One lane's access as the shadow sees it.
struct Toucher {
  Touch kind = Touch::Read;
  bool strong = false;
  bool beginsAsync = false; ///< its data move later: a Read until its EndRead
  bool async = false;       ///< by the async proxy
  /// A Write that is the begin or the end of an mbarrier.
  enum : uint8_t { NoObject, Init, Invalidate } object = NoObject;
  uint16_t slot = 0; ///< of a Land: see Cell
  uint32_t block = 0, thread = 0, now = 0;
  /// What happened before this access.
  const Clock *clock = nullptr;
  const GridKnowledge *others = nullptr; ///< of the clock; null: nothing
  uint32_t epoch = 0;                    ///< of the grid, now
  uint64_t blocks = 1;                   ///< in the grid
};

struct Conflict {
  enum Kind : uint8_t {
    None,
    Pending,   ///< an async copy has not landed
    BeingRead, ///< an async read has not ended
    Object,    ///< an mbarrier lies here
    NoProxyFence,
    NoInitFence, ///< the write is an mbarrier.init
    InitRace,    ///< here too
    Race,
    BlockRace
  } kind = None;
  bool otherWrote = false;
  uint32_t otherThread = 0, otherBlock = 0;
};

/// Notes the access in the cell and says what it collides with.
Conflict touch(Cell &cell, ReaderPool &pool, const Toucher &by);

/// Cells of a range of memory, one per word, four where bytes differ.
class CellRange {
public:
  explicit CellRange(uint32_t words) : cells(words), split(words) {}

  uint32_t bytes() const { return 4 * static_cast<uint32_t>(cells.size()); }

  ReaderPool pool; ///< of the cells

  /// Calls f(cell) for the cells of [offset, offset + size).
  template <class F> void forEach(uint32_t offset, uint32_t size, F f) {
    uint32_t end = offset + size;
    while (offset < end) {
      uint32_t word = offset / 4;
      if (offset % 4 == 0 && end - offset >= 4 && !split[word]) {
        f(cells[word]);
        offset += 4;
        continue;
      }
      f(bytesOf(word)[offset % 4]);
      ++offset;
    }
  }

private:
  std::array<Cell, 4> &bytesOf(uint32_t word) {
    auto [entry, isNew] = bytewise.try_emplace(word);
    if (isNew) {
      entry->second.fill(cells[word]);
      if (cells[word].readers)
        for (unsigned i = 1; i < 4; ++i)
          entry->second[i].readers = pool.clone(cells[word].readers);
      split[word] = 1;
    }
    return entry->second;
  }

  std::vector<Cell> cells;
  std::vector<uint8_t> split;
  std::unordered_map<uint32_t, std::array<Cell, 4>> bytewise;
};

/// The shadow of global memory during one launch, shared by its workers.
class GlobalShadow {
public:
  static constexpr unsigned kPageBits = 12;
  struct Page {
    Page() : range((1u << kPageBits) / 4) {}
    std::mutex mutex;
    CellRange range;
  };

  Page &page(uint64_t number) {
    Shard &shard = shards[number % shards.size()];
    std::lock_guard<std::mutex> lock(shard.mutex);
    std::unique_ptr<Page> &page = shard.pages[number];
    if (!page)
      page = std::make_unique<Page>();
    return *page;
  }

private:
  struct Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  std::array<Shard, 64> shards;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_SHADOW_H
