//===- SyntaxParser.cpp - tokens to statements ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/OperandParser.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace raytention::simt;

namespace {
/// Recursive descent over functions, variables and bodies.
class SyntaxParser : private OperandParser {
public:
  explicit SyntaxParser(ArrayRef<Token> tokens) : OperandParser(tokens) {}

  Expected<SyntaxTree> run() {
    while (!failed() && peek().kind != Token::End)
      topLevel();
    if (failed())
      return getError();
    return std::move(tree);
  }

private:
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
    function.isExplicitCluster |= token.is(".explicitcluster");
    uint64_t product = 1;
    while (!failed() && peek().kind == Token::Number) {
      product *= bounded("a number of threads", 0, 1u << 20);
      if (!accept(","))
        break;
    }
    if (token.is(".reqnctapercluster") && product > 1)
      failAt(token, "expected clusters of one block, got " + Twine(product) +
                        " blocks");
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
        s.alignment = powerOfTwo("an alignment", 4096);
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
    s.place = sourcePlace();
    while (!failed() && peek().line == line && peek().kind != Token::End)
      if (take().is("inlined_at"))
        s.caller = sourcePlace();
  }

  SourcePlace sourcePlace() {
    SourcePlace place;
    place.file = bounded("a file number", 0, UINT32_MAX);
    place.line = bounded("a line", 0, UINT32_MAX);
    place.column = bounded("a column", 0, UINT32_MAX);
    return place;
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

  SyntaxTree tree;
};
} // namespace

Expected<SyntaxTree> raytention::simt::parseSyntax(StringRef text) {
  Expected<std::vector<Token>> tokens = tokenize(text);
  if (!tokens)
    return tokens.takeError();
  return SyntaxParser(*tokens).run();
}
