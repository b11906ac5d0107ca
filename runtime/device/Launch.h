//===- Launch.h - shapes and arguments of a launch ------------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_LAUNCH_H
#define RAYTENTION_RUNTIME_DEVICE_LAUNCH_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

namespace raytention::device {

class Buffer;

struct Dim3 {
  int64_t x = 1, y = 1, z = 1;
};

/// How much is launched: blocks, threads of a block, and the bytes of dynamic
/// shared memory of a block.
struct LaunchShape {
  Dim3 grid, block;
  int64_t sharedBytes = 0;
};

/// The most that a value may ask for, in bytes: as a tensor map does.
constexpr size_t kArgumentAlignment = 64;

/// The arguments of a launch, in the kernel's order. Values are copied; a
/// buffer stands for its address and has to outlive the launch.
class Arguments {
public:
  Arguments &add(const Buffer &buffer);

  /// A number or a plain struct, of exactly the parameter's type: a literal 1
  /// is an int, not an int64_t.
  template <typename T> Arguments &add(const T &value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                  "expected a plain value or a device::Buffer");
    static_assert(alignof(T) <= kArgumentAlignment);
    return addBytes(&value, sizeof(T));
  }
  Arguments &addBytes(const void *value, size_t bytes);

  size_t size() const { return values.size(); }
  llvm::ArrayRef<char> bytes(size_t index) const {
    return {values[index].bytes.get(), values[index].size};
  }
  /// The buffer that was added at `index`, or null.
  const Buffer *buffer(size_t index) const { return values[index].buffer; }

  /// The address of each value, as drivers take them.
  std::vector<void *> pointers() const;

private:
  struct Free {
    void operator()(char *bytes) const;
  };
  struct Value {
    std::unique_ptr<char, Free> bytes; ///< aligned to kArgumentAlignment
    size_t size;
    const Buffer *buffer;
  };
  std::vector<Value> values;
};

/// Arguments(a, b, c) of any mixture of buffers and values.
template <typename... Values> Arguments makeArguments(const Values &...values) {
  Arguments arguments;
  (void)(arguments.add(values), ..., 0);
  return arguments;
}

} // namespace raytention::device

#endif // RAYTENTION_RUNTIME_DEVICE_LAUNCH_H
