//===- Buffer.h - arrays of one element type --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_BUFFER_H
#define RAYTENTION_TOOLS_RT_BUFFER_H

#include "raytention/Attention.h"
#include "tools/rt/Npy.h"

#include <cstdlib>
#include <cstring>
#include <functional>

namespace raytention::tool {

/// Bytes of one element of queries and table.
int64_t elementSize(DType dtype);
/// Element type of outputs: double under F64, else float.
inline NpyType outputType(DType dtype) {
  return dtype == DType::F64 ? NpyType::F8 : NpyType::F4;
}

/// The same as an element type of inputs.
inline DType outputDType(DType dtype) {
  return dtype == DType::F64 ? DType::F64 : DType::F32;
}

/// `value` rounded once, to nearest even, to bfloat16 storage and back.
uint16_t toBF16(double value);
double fromBF16(uint16_t bits);

/// Uninitialised memory on a cache line, never null, freed with the buffer.
class Buffer {
public:
  Buffer() = default;
  /// Null data() where the system refuses.
  explicit Buffer(int64_t bytes);
  Buffer(Buffer &&other) = default;
  Buffer &operator=(Buffer &&other) = default;

  void *data() const { return memory.get(); }
  template <typename T> T *as() const { return static_cast<T *>(data()); }
  int64_t size() const { return bytes; }
  explicit operator bool() const { return memory != nullptr; }

private:
  struct Free {
    void operator()(void *p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory;
  int64_t bytes = 0;
};

/// Element `index` of an array of `dtype` as a double.
double elementAt(const Buffer &buffer, DType dtype, int64_t index);
/// Stores `value` rounded to `dtype`.
void storeElement(const Buffer &buffer, DType dtype, int64_t index,
                  double value);

/// Calls body(begin, end) on pieces of 0 .. count from a few threads. The
/// pieces are disjoint and cover the range.
void parallelRanges(int64_t count,
                    const std::function<void(int64_t, int64_t)> &body);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_BUFFER_H
