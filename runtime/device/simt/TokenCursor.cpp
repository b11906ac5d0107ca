//===- TokenCursor.cpp - a place in the tokens of PTX text ---------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/TokenCursor.h"

#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace raytention::simt;

Token TokenCursor::take() {
  Token token = peek();
  at = std::min(at + 1, tokens.size() - 1);
  return token;
}

bool TokenCursor::accept(StringRef mark) {
  if (failed() || !peek().is(mark))
    return false;
  take();
  return true;
}

void TokenCursor::expect(StringRef mark) {
  if (!accept(mark))
    fail("expected '" + Twine(mark) + "'");
}

void TokenCursor::fail(const Twine &expected) {
  if (failed())
    return;
  errorLine = peek().line;
  message = (expected + ", got '" + peek().text + "'").str();
}

void TokenCursor::failAt(const Token &token, const Twine &whole) {
  if (failed())
    return;
  errorLine = token.line;
  message = (whole + " in '" + token.text + "'").str();
}

StringRef TokenCursor::name(StringRef what) {
  if (peek().kind == Token::Name)
    return take().text;
  fail("expected " + Twine(what));
  return "";
}

void TokenCursor::skipLine(unsigned line) {
  while (peek().kind != Token::End && peek().line == line)
    take();
}

uint64_t TokenCursor::integer(StringRef what) {
  bool negative = accept("-");
  StringRef text = peek().is("WARP_SZ")           ? "32"
                   : peek().kind == Token::Number ? peek().text
                                                  : "";
  uint64_t value = 0;
  StringRef digits = text;
  digits.consume_back("U");
  if (digits.empty() || digits.getAsInteger(0, value)) {
    fail("expected " + Twine(what));
    return 0;
  }
  take();
  return negative ? 0 - value : value;
}

uint32_t TokenCursor::bounded(StringRef what, uint64_t least, uint64_t most) {
  size_t start = at;
  uint64_t value = integer(what);
  if (failed() || (value >= least && value <= most))
    return value;
  at = start;
  fail("expected " + Twine(what) + " from " + Twine(least) + " to " +
       Twine(most));
  return least;
}

uint32_t TokenCursor::powerOfTwo(StringRef what, uint64_t most) {
  size_t start = at;
  uint32_t value = bounded(what, 1, most);
  if (failed() || isPowerOf2_32(value))
    return value;
  at = start;
  fail("expected a power of two");
  return 1;
}

Error TokenCursor::getError() const { return errorAt(errorLine, message); }
