//===- MemRefArgument.h - a memref descriptor as compiled code reads it -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_MEMREFARGUMENT_H
#define RAYTENTION_RUNTIME_API_MEMREFARGUMENT_H

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace raytention {

/// The struct {allocated, aligned, offset, sizes[rank], strides[rank]} of a
/// C-order array of any rank up to 4.
class MemRefArgument {
public:
  MemRefArgument(const void *data, llvm::ArrayRef<int64_t> sizes) {
    size_t rank = sizes.size();
    words[0] = words[1] = reinterpret_cast<intptr_t>(data);
    words[2] = 0;
    size_t word = 3;
    for (int64_t size : sizes)
      words[word++] = size;
    int64_t stride = 1;
    for (size_t dim = rank; dim-- > 0;) {
      words[3 + rank + dim] = stride;
      stride *= words[3 + dim];
    }
  }

  void *address() { return words.data(); }

private:
  static_assert(sizeof(void *) == sizeof(int64_t), "64-bit targets only");
  std::array<int64_t, 3 + 2 * 4> words{};
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_MEMREFARGUMENT_H
