//===- Evaluate.h - what a plan does for given sizes ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_PLAN_EVALUATE_H
#define RAYTENTION_RUNTIME_PLAN_EVALUATE_H

#include "runtime/plan/Plan.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

namespace raytention::plan {

/// What the program needs to know of an argument.
struct ArgumentSize {
  int64_t index = 0;          ///< of a scalar
  std::vector<int64_t> sizes; ///< of a buffer, all dimensions
};

/// Memory that kernels work on: first the buffer arguments in their order, then
/// what the program allocates.
using MemoryId = uint32_t;

/// One parameter of a kernel: the address of a memory, or a value.
struct LaunchArgument {
  bool isMemory = false;
  MemoryId memory = 0;
  int64_t bits = 0;
  int64_t bytes = 8; ///< of the value: 4 or 8
};

struct Command {
  enum class Kind : uint8_t { Allocate, Free, Launch };
  Kind kind = Kind::Allocate;
  MemoryId memory = 0; ///< Allocate, Free
  // Launch:
  uint32_t kernel = 0;
  std::array<int64_t, 3> grid{0, 0, 0}; ///< no 0 among them
  int64_t sharedBytes = 0;              ///< dynamic
  std::vector<LaunchArgument> arguments;
};

/// What is to be done, in this order.
struct Commands {
  std::vector<Command> list;
  std::vector<int64_t> memoryBytes; ///< of every memory, by number
  int64_t workspaceBytes = 0;       ///< the most allocated at any time
};

/// As many instructions as a program may execute.
constexpr int64_t kMostSteps = int64_t(1) << 22;

/// Runs the host program. Errors, each one line: arguments that do not fit the
/// plan; undefined arithmetic; a negative size, or bytes beyond 63 bits; a
/// buffer used after it was freed; a launch with a negative grid, with another
/// block than the kernel's, with negative shared memory; a loop that does not
/// step forward; more than kMostSteps instructions.
llvm::Expected<Commands> evaluate(const Plan &plan,
                                  llvm::ArrayRef<ArgumentSize> arguments);

} // namespace raytention::plan

#endif // RAYTENTION_RUNTIME_PLAN_EVALUATE_H
