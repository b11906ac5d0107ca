//===- SyntaxParser.cpp - tokens to statements ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/Syntax.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace llvm;
using namespace raytention::simt;

/// Keeps a wrong text from nesting without end.
static constexpr unsigned kMaxNesting = 64;

namespace {
/// Recursive descent; the first error stays and ends every loop.
class SyntaxParser {
public:
  explicit SyntaxParser(ArrayRef<Token> tokens) : tokens(tokens) {}

  Expected<SyntaxTree> run() {
    while (!failed() && peek().kind != Token::End)
      topLevel();
    if (failed())
      return errorAt(errorLine, message);
    return std::move(tree);
  }

private:
  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  Token take() {
    Token token = peek();
    at = std::min(at + 1, tokens.size() - 1);
    return token;
  }
  bool accept(StringRef mark) {
    if (failed() || !peek().is(mark))
      return false;
    take();
    return true;
  }
  void expect(StringRef mark) {
    if (!accept(mark))
      fail("expected '" + Twine(mark) + "'");
  }
  bool failed() const { return errorLine != 0; }
  void fail(const Twine &expected) {
    if (failed())
      return;
    errorLine = peek().line;
    message = (expected + ", got '" + peek().text + "'").str();
  }
  StringRef name(StringRef what) {
    if (peek().kind == Token::Name)
      return take().text;
    fail("expected " + Twine(what));
    return "";
  }
  void skipLine(unsigned line) {
    while (peek().kind != Token::End && peek().line == line)
      take();
  }

  uint64_t integer(StringRef what) {
    bool negative = accept("-");
    StringRef text = peek().kind == Token::Number ? peek().text : "";
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

  uint32_t bounded(StringRef what, uint64_t least, uint64_t most) {
    size_t start = at;
    uint64_t value = integer(what);
    if (failed() || (value >= least && value <= most))
      return value;
    at = start;
    fail("expected " + Twine(what) + " from " + Twine(least) + " to " +
         Twine(most));
    return least;
  }

  //===--------------------------------------------------------------------===//
  // Top level
  //===--------------------------------------------------------------------===//

  void topLevel() {
    Token token = peek();
    if (token.is(".version") || token.is(".target") ||
        token.is(".address_size"))
      return skipLine(token.line);
    if (token.is(".file"))
      return file();
    if (token.is(".loc"))
      return skipLine(token.line);
    if (token.is(".section"))
      return section();
    if (accept(".pragma")) {
      take();
      return expect(";");
    }
    declaration();
  }

  void file() {
    unsigned line = take().line;
    uint32_t index = bounded("a file number", 0, UINT32_MAX);
    if (peek().kind != Token::String)
      return fail("expected a file name");
    tree.files[index] = take().text.str();
    skipLine(line);
  }

  void section() {
    take();
    name("a section name");
    expect("{");
    while (!failed() && !accept("}")) {
      if (peek().kind == Token::End)
        return fail("expected '}'");
      take();
    }
  }

  void declaration() {
    bool isExtern = false;
    for (;;) {
      if (accept(".extern"))
        isExtern = true;
      else if (!accept(".visible") && !accept(".weak") && !accept(".common"))
        break;
    }
    if (peek().is(".entry") || peek().is(".func"))
      return function();
    if (isSpace(peek().text)) {
      Statement variable = this->variable();
      variable.isExtern = isExtern;
      expect(";");
      tree.variables.push_back(std::move(variable));
      return;
    }
    fail("expected a function or a variable");
  }

  static bool isSpace(StringRef text) {
    return StringSwitch<bool>(text)
        .Cases({".global", ".shared", ".const", ".local", ".param"}, true)
        .Default(false);
  }

  void function() {
    Function function;
    function.line = peek().line;
    function.isEntry = take().is(".entry");
    if (!function.isEntry && peek().is("("))
      function.results = parameters();
    function.name = name("a function name");
    if (peek().is("("))
      function.parameters = parameters();
    while (!failed() && !peek().is("{") && !peek().is(";"))
      performanceDirective(function);
    if (!accept(";")) {
      function.hasBody = true;
      expect("{");
      body(function.body, 0);
    }
    tree.functions.push_back(std::move(function));
  }

  void performanceDirective(Function &function) {
    Token token = peek();
    if (!token.text.starts_with(".")) {
      fail("expected '{'");
      return;
    }
    take();
    bool limits = token.is(".maxntid") || token.is(".reqntid");
    uint64_t product = 1;
    while (!failed() && peek().kind == Token::Number) {
      product *= bounded("a number of threads", 0, 1u << 20);
      if (!accept(","))
        break;
    }
    if (limits && !failed())
      function.maxThreads = std::min<uint64_t>(product, 1u << 20);
  }

  std::vector<Statement> parameters() {
    std::vector<Statement> result;
    expect("(");
    while (!failed() && !accept(")")) {
      if (!peek().is(".param") && !peek().is(".reg")) {
        fail("expected '.param'");
        break;
      }
      result.push_back(variable());
      if (!peek().is(")"))
        expect(",");
    }
    return result;
  }

  //===--------------------------------------------------------------------===//
  // Variables
  //===--------------------------------------------------------------------===//

  /// .space .align N .type name[count] = {...}, without the semicolon.
  Statement variable() {
    Statement s;
    s.kind = Statement::Variable;
    s.line = peek().line;
    s.space = take().text;
    for (;;) {
      if (accept(".align"))
        s.alignment = alignment();
      else if (accept(".ptr"))
        continue;
      else if (peek().is(".attribute")) {
        fail("expected no attribute");
        break;
      } else if (s.type.empty() && peek().kind == Token::Name &&
                 peek().text.starts_with(".") && !isSpace(peek().text))
        s.type = take().text;
      else if (!s.type.empty() && isSpace(peek().text))
        take(); // .ptr .global
      else
        break;
    }
    if (s.type.empty())
      fail("expected a type");
    s.name = name("a variable name");
    while (accept("["))
      dimension(s);
    if (accept("="))
      initializer(s.initial, 0);
    return s;
  }

  uint32_t alignment() {
    size_t start = at;
    uint32_t value = bounded("an alignment", 1, 4096);
    if (failed() || isPowerOf2_32(value))
      return value;
    at = start;
    fail("expected a power of two");
    return 1;
  }

  void dimension(Statement &s) {
    s.isArray = true;
    if (accept("]")) {
      s.count = 0;
      return;
    }
    s.count *= bounded("a number of elements", 0, UINT32_MAX);
    s.count = std::min<uint64_t>(s.count, UINT32_MAX);
    expect("]");
  }

  void initializer(std::vector<Operand> &values, unsigned depth) {
    if (depth > kMaxNesting)
      return fail("expected fewer nested braces");
    if (!accept("{")) {
      values.push_back(operand(0));
      return;
    }
    while (!failed() && !accept("}")) {
      initializer(values, depth + 1);
      if (!peek().is("}"))
        expect(",");
    }
  }

  //===--------------------------------------------------------------------===//
  // Bodies
  //===--------------------------------------------------------------------===//

  static bool isPowerOf2_32(uint32_t v) { return v && !(v & (v - 1)); }

  Statement &add(std::vector<Statement> &out, Statement::Kind kind) {
    out.emplace_back();
    out.back().kind = kind;
    out.back().line = peek().line;
    return out.back();
  }

  void body(std::vector<Statement> &out, unsigned depth) {
    if (depth > kMaxNesting)
      return fail("expected fewer nested blocks");
    while (!failed() && !peek().is("}")) {
      if (peek().kind == Token::End)
        return fail("expected '}'");
      statement(out, depth);
    }
    expect("}");
  }

  void statement(std::vector<Statement> &out, unsigned depth) {
    if (accept(";"))
      return;
    if (peek().is("{")) {
      add(out, Statement::Open);
      take();
      body(out, depth + 1);
      add(out, Statement::Close);
      return;
    }
    if (peek().is(".loc"))
      return location(out);
    if (peek().is(".reg") || peek().text.starts_with(".reg."))
      return registers(out);
    if (peek().is(".file"))
      return file();
    if (accept(".pragma")) {
      take();
      return expect(";");
    }
    if (isSpace(peek().text)) {
      out.push_back(variable());
      return expect(";");
    }
    if (peek().kind == Token::Name && peek(1).is(":"))
      return label(out);
    instruction(out);
  }

  void label(std::vector<Statement> &out) {
    Statement &s = add(out, Statement::Label);
    s.name = take().text;
    take();
    if (!peek().is(".branchtargets"))
      return;
    s.kind = Statement::Targets;
    take();
    operands(s);
    expect(";");
  }

  void location(std::vector<Statement> &out) {
    Statement &s = add(out, Statement::Location);
    unsigned line = take().line;
    s.file = bounded("a file number", 0, UINT32_MAX);
    s.sourceLine = bounded("a line", 0, UINT32_MAX);
    skipLine(line);
  }

  void registers(std::vector<Statement> &out) {
    // ".reg .b32" or ".reg.b32".
    StringRef type = take().text.drop_front(4);
    if (type.empty())
      type = name("a register type");
    do {
      Statement &s = add(out, Statement::Register);
      s.type = type;
      s.name = name("a register name");
      if (accept("<")) {
        s.numbered = true;
        s.count = bounded("a number of registers", 0, UINT32_MAX);
        expect(">");
      }
    } while (accept(","));
    expect(";");
  }

  void instruction(std::vector<Statement> &out) {
    Statement &s = add(out, Statement::Instruction);
    if (accept("@")) {
      s.guarded = true;
      s.guardNegated = accept("!");
      s.guard = name("a predicate");
    }
    s.line = peek().line;
    s.name = name("an instruction");
    if (!peek().is(";"))
      operands(s);
    expect(";");
  }

  void operands(Statement &s) {
    do
      s.operands.push_back(operand(0));
    while (accept(","));
  }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  Operand operand(unsigned depth) {
    Operand first = single(depth);
    if (!accept("|"))
      return first;
    Operand pair;
    pair.kind = Operand::Pair;
    pair.elements.push_back(std::move(first));
    pair.elements.push_back(single(depth));
    return pair;
  }

  Operand single(unsigned depth) {
    Operand result;
    if (depth > kMaxNesting) {
      fail("expected fewer nested operands");
      return result;
    }
    if (accept("["))
      return address(depth);
    if (accept("{"))
      return list("}", depth);
    if (accept("("))
      return list(")", depth);
    if (peek().kind == Token::Number || peek().is("-"))
      return number();
    result.negated = accept("!");
    result.name = name("an operand");
    // A call may name a function and its prototype; others add a number.
    if (accept("+"))
      result.offset = integer("an offset");
    return result;
  }

  Operand list(StringRef close, unsigned depth) {
    Operand result;
    result.kind = Operand::Vector;
    while (!failed() && !accept(close)) {
      result.elements.push_back(operand(depth + 1));
      if (!peek().is(close))
        expect(",");
    }
    return result;
  }

  Operand address(unsigned depth) {
    Operand result;
    result.kind = Operand::Address;
    if (peek().kind == Token::Name)
      result.name = take().text;
    else
      result.offset = integer("an address");
    if (accept("+"))
      result.offset = integer("an offset");
    else if (peek().is("-"))
      result.offset = integer("an offset");
    while (accept(","))
      result.elements.push_back(operand(depth + 1));
    expect("]");
    return result;
  }

  Operand number() {
    Operand result;
    StringRef text = peek().text;
    result.kind = Operand::Integer;
    if (text.size() == 10 && (text.starts_with("0f") || text.starts_with("0F")))
      return hexFloat(Operand::Float32, text.drop_front(2));
    if (text.size() == 18 && (text.starts_with("0d") || text.starts_with("0D")))
      return hexFloat(Operand::Float64, text.drop_front(2));
    if (peek().is("-") ? peek(1).text.contains('.') : text.contains('.'))
      return decimal();
    result.bits = integer("a number");
    return result;
  }

  Operand hexFloat(Operand::Kind kind, StringRef digits) {
    Operand result;
    result.kind = kind;
    if (digits.getAsInteger(16, result.bits))
      fail("expected a float in hexadecimal digits");
    take();
    return result;
  }

  Operand decimal() {
    Operand result;
    result.kind = Operand::Float64;
    double sign = accept("-") ? -1 : 1, value = 0;
    if (peek().text.getAsDouble(value))
      fail("expected a decimal number");
    take();
    value *= sign;
    std::memcpy(&result.bits, &value, sizeof(value));
    return result;
  }

  ArrayRef<Token> tokens;
  size_t at = 0;
  unsigned errorLine = 0;
  std::string message;
  SyntaxTree tree;
};
} // namespace

Expected<SyntaxTree> raytention::simt::parseSyntax(StringRef text) {
  Expected<std::vector<Token>> tokens = tokenize(text);
  if (!tokens)
    return tokens.takeError();
  return SyntaxParser(*tokens).run();
}
