//===- Text.h - text to tokens and back -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_TEXT_H
#define RAYTENTION_TOOLS_RT_TEXT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace raytention::tool {

enum class Vocabulary { Byte, Word };

/// A tokenised text. Word ids are given by first occurrence.
struct Tokens {
  std::vector<int32_t> ids;
  std::vector<std::string> texts; ///< of each id; its size is V

  int64_t vocab() const { return int64_t(texts.size()); }
};

/// Byte: one token per byte, V = 256. Word: maximal runs of [A-Za-z0-9_] or
/// bytes from 0x80 on, maximal runs of white space, single other bytes.
/// The text has at most 2^31 - 1 bytes.
Tokens tokenize(llvm::StringRef text, Vocabulary vocabulary);

/// The texts of ids[begin .. end) joined: the piece of the text they came from.
std::string detokenize(const Tokens &tokens, size_t begin, size_t end);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_TEXT_H
