//===- TensorCopy.cpp - the pieces of a box of a tensor ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/AsyncCopy.h"

#include <algorithm>

using namespace raytention::simt;

namespace {
/// Walks over the rows of a box, dimension 0 being the row.
class BoxWalker {
public:
  BoxWalker(const TensorMap &map, const int32_t *start)
      : map(map), start(start), elementBytes(bytesOf(map.element)) {}

  std::vector<Piece> run() {
    std::array<uint32_t, kMaxTensorRank> index{};
    do {
      row(rowAddress(index));
    } while (next(index));
    return std::move(pieces);
  }

private:
  bool next(std::array<uint32_t, kMaxTensorRank> &index) const {
    for (unsigned d = 1; d < map.rank; ++d) {
      if (++index[d] < map.moved(d))
        return true;
      index[d] = 0;
    }
    return false;
  }

  /// Of the element with coordinate 0 in dimension 0; 0 outside the tensor.
  uint64_t rowAddress(const std::array<uint32_t, kMaxTensorRank> &index) const {
    uint64_t address = map.base;
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t at = int64_t(start[d]) + int64_t(index[d]) * map.step[d];
      if (at < 0 || uint64_t(at) >= map.size[d])
        return 0;
      address += uint64_t(at) * map.stride[d];
    }
    return address;
  }

  void row(uint64_t address) {
    int64_t count = map.moved(0), size = map.size[0];
    if (!address)
      return add(count, 0);
    int64_t first = std::clamp<int64_t>(-int64_t(start[0]), 0, count);
    int64_t end = std::clamp<int64_t>(size - start[0], first, count);
    add(first, 0);
    add(end - first, address + (start[0] + first) * int64_t(elementBytes));
    add(count - end, 0);
  }

  void add(int64_t elements, uint64_t global) {
    if (!elements)
      return;
    uint32_t bytes = uint32_t(elements) * elementBytes;
    pieces.push_back({offset, bytes, global});
    offset += bytes;
  }

  const TensorMap &map;
  const int32_t *start;
  uint32_t elementBytes, offset = 0;
  std::vector<Piece> pieces;
};
} // namespace

std::vector<Piece> raytention::simt::makePieces(const TensorMap &map,
                                                const int32_t *start) {
  return BoxWalker(map, start).run();
}
