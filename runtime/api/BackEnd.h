//===- BackEnd.h - compiled code and how it is called -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_BACKEND_H
#define RAYTENTION_RUNTIME_API_BACKEND_H

#include "raytention/Attention.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace raytention {

/// What a compiled function takes: an index, or a C-order array.
struct CallArgument {
  enum class Role { Index, In, Out };
  Role role = Role::Index;
  int64_t index = 0;
  /// Null: an output that is not wanted, or no elements.
  void *data = nullptr;
  int64_t elementBytes = 0;
  std::vector<int64_t> sizes;

  int64_t bytes() const {
    int64_t count = elementBytes;
    for (int64_t size : sizes)
      count *= size;
    return count;
  }
};

/// An array that compiled code reads.
inline CallArgument readArray(const void *data, int64_t elementBytes,
                              std::vector<int64_t> sizes) {
  return {CallArgument::Role::In, 0, const_cast<void *>(data), elementBytes,
          std::move(sizes)};
}

/// An array that it writes.
inline CallArgument writeArray(void *data, int64_t elementBytes,
                               std::vector<int64_t> sizes) {
  return {CallArgument::Role::Out, 0, data, elementBytes, std::move(sizes)};
}

/// Compiled code of one kind: machine code of this process, a plan on a device.
class BackEnd {
public:
  enum class Function { Forward, Backward };

  virtual ~BackEnd() = default;
  virtual bool has(Function function) const = 0;
  /// Sets the number of workers of later calls (0: all cores) and says how many
  /// it is known to be; a call's report has the last word.
  virtual int chooseThreads(int threads) = 0;
  /// Takes over the workers of code of the same kind that runs no longer.
  virtual void takeWorkers(BackEnd &other) {}
  /// Runs and waits. Errors, one line each: more workspace is needed than the
  /// cap of the options allows; memory is missing; what the code found wrong.
  /// `numKeys` is for their messages.
  virtual llvm::Expected<RunReport> call(Function function,
                                         llvm::ArrayRef<CallArgument> arguments,
                                         int64_t numKeys) = 0;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_BACKEND_H
