//===- Print.h - what kernels print -----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_PRINT_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_PRINT_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace raytention::simt {

/// A text under the rules of printf. `next` gives the bits of the next argument
/// of 4 or 8 bytes, `textAt` what a %s points at. What is no conversion of C is
/// left as it stands, and so are %n and wide characters.
std::string formatText(llvm::StringRef format,
                       llvm::function_ref<uint64_t(unsigned bytes)> next,
                       llvm::function_ref<std::string(uint64_t)> textAt);

/// Messages of blocks in the order they were printed, up to a number of bytes.
class PrintBuffer {
public:
  explicit PrintBuffer(uint64_t most) : most(most) {}

  void add(uint64_t block, std::string text);
  void append(const PrintBuffer &other);
  /// By block; gives the number of messages that did not fit.
  uint64_t collect(std::string &text);

private:
  struct Message {
    uint64_t block = 0;
    std::string text;
  };
  uint64_t most, bytes = 0, leftOut = 0;
  std::vector<Message> messages;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_PRINT_H
