//===- Lexer.cpp - PTX text to tokens ---------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Syntax.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace raytention::simt;

Error raytention::simt::errorAt(unsigned line, const Twine &message) {
  return createStringError("ptx line " + Twine(line) + ": " + message);
}

static bool startsName(char c) {
  return isAlpha(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool continuesName(char c) {
  return isAlnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

namespace {
class Lexer {
public:
  explicit Lexer(StringRef text) : rest(text) {}

  Expected<std::vector<Token>> run() {
    while (skipBlanks()) {
      if (Error error = next())
        return error;
    }
    if (openComment)
      return errorAt(openComment, "expected */, got the end of the text");
    tokens.push_back({Token::End, "end of the text", line});
    return std::move(tokens);
  }

private:
  /// False at the end of the text.
  bool skipBlanks() {
    while (!rest.empty()) {
      if (rest.starts_with("//"))
        rest = rest.drop_until([](char c) { return c == '\n'; });
      else if (rest.starts_with("/*"))
        skipComment();
      else if (isSpace(rest.front())) {
        line += rest.front() == '\n';
        rest = rest.drop_front();
      } else
        return true;
    }
    return false;
  }

  void skipComment() {
    size_t end = rest.find("*/", 2);
    if (end == StringRef::npos) {
      openComment = line;
      rest = "";
      return;
    }
    line += rest.take_front(end).count('\n');
    rest = rest.drop_front(end + 2);
  }

  Error next() {
    char c = rest.front();
    if (c == '"')
      return string();
    if (isDigit(c))
      return take(Token::Number,
                  length([](char d) { return isAlnum(d) || d == '.'; }));
    if (startsName(c) && rest.size() > 1 && continuesName(rest[1]))
      return take(Token::Name, nameLength());
    if (isAlpha(c) || c == '_')
      return take(Token::Name, 1);
    if (StringRef("{}[]()<>,;:+-*/|!@=~&^%?").contains(c))
      return take(Token::Mark, 1);
    return errorAt(line, "expected a name, a number or a mark, got '" +
                             Twine(isPrint(c) ? c : '?') + "'");
  }

  template <class F> size_t length(F accepts) {
    size_t n = 1;
    while (n < rest.size() && accepts(rest[n]))
      ++n;
    return n;
  }

  /// A pair of colons belongs to the name: shared::cta.
  size_t nameLength() {
    size_t n = 1;
    while (n < rest.size()) {
      if (continuesName(rest[n]))
        ++n;
      else if (n + 2 < rest.size() && rest[n] == ':' && rest[n + 1] == ':' &&
               continuesName(rest[n + 2]))
        n += 2;
      else
        break;
    }
    return n;
  }

  Error take(Token::Kind kind, size_t size) {
    tokens.push_back({kind, rest.take_front(size), line});
    rest = rest.drop_front(size);
    return Error::success();
  }

  Error string() {
    size_t end = rest.find_first_of("\"\n", 1);
    if (end == StringRef::npos || rest[end] == '\n')
      return errorAt(line, "expected a closing quote, got the end of the line");
    tokens.push_back({Token::String, rest.slice(1, end), line});
    rest = rest.drop_front(end + 1);
    return Error::success();
  }

  StringRef rest;
  unsigned line = 1, openComment = 0;
  std::vector<Token> tokens;
};
} // namespace

Expected<std::vector<Token>> raytention::simt::tokenize(StringRef text) {
  return Lexer(text).run();
}
