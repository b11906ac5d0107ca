//===- TokenCursor.h - a place in the tokens of PTX text -----------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_DEVICE_SIMT_TOKENCURSOR_H
#define RAYTENTION_RUNTIME_DEVICE_SIMT_TOKENCURSOR_H

#include "runtime/device/simt/Syntax.h"

#include "llvm/ADT/Twine.h"

namespace raytention::simt {

/// Nesting of braces and operands that is read; more is an error, so that no
/// text exhausts the stack.
constexpr unsigned kMaxNesting = 64;

/// Reads tokens one by one. The first error stays: from then on nothing is
/// accepted, which ends every loop.
class TokenCursor {
public:
  explicit TokenCursor(llvm::ArrayRef<Token> tokens) : tokens(tokens) {}

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  Token take();
  bool accept(llvm::StringRef mark);
  void expect(llvm::StringRef mark);
  llvm::StringRef name(llvm::StringRef what);
  uint64_t integer(llvm::StringRef what);
  uint32_t bounded(llvm::StringRef what, uint64_t least, uint64_t most);
  uint32_t powerOfTwo(llvm::StringRef what, uint64_t most);
  void skipLine(unsigned line);

  bool failed() const { return errorLine != 0; }
  /// `expected`, and what was got, at this token.
  void fail(const llvm::Twine &expected);
  /// The whole message, at a token that was taken.
  void failAt(const Token &token, const llvm::Twine &whole);
  /// The first error, after one.
  llvm::Error getError() const;

private:
  llvm::ArrayRef<Token> tokens;
  size_t at = 0;
  unsigned errorLine = 0;
  std::string message;
};

} // namespace raytention::simt

#endif // RAYTENTION_RUNTIME_DEVICE_SIMT_TOKENCURSOR_H
