//===- Readers.h - the last reads of a word by warp -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A word mostly has one warp that read it last; only where several read it with
// nothing between them to order them is a read of each remembered (as FastTrack
// does: Flanagan and Freund, PLDI 2009).
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_READERS_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_READERS_H

#include "runtime/device/simt/Clock.h"

#include <cassert>
#include <vector>

namespace raytention::simt {

/// Reads of one warp that nothing orders: the last one's time, and the lanes.
struct WarpRead {
  uint32_t time = 0, lanes = 0;
};

struct Readers {
  uint64_t warps = 0; ///< a mask of agents: of the others nothing is noted
  std::array<WarpRead, kAgents> reads;

  void note(unsigned warp, const WarpRead &read) {
    warps |= uint64_t(1) << warp;
    reads[warp] = read;
  }
  bool has(unsigned warp) const { return warps >> warp & 1; }
};

/// Readers by index; 0 is none.
class ReaderPool {
public:
  uint32_t allocate() {
    if (unused.empty()) {
      entries.emplace_back();
      return entries.size();
    }
    uint32_t index = unused.back();
    unused.pop_back();
    at(index).warps = 0;
    return index;
  }
  uint32_t clone(uint32_t index) {
    uint32_t copy = allocate();
    at(copy) = at(index);
    return copy;
  }
  void release(uint32_t &index) {
    if (index)
      unused.push_back(index);
    index = 0;
  }
  Readers &at(uint32_t index) {
    assert(index && index <= entries.size() && "expected readers");
    return entries[index - 1];
  }

private:
  std::vector<Readers> entries;
  std::vector<uint32_t> unused;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_READERS_H
