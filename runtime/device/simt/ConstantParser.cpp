//===- ConstantParser.cpp - constant expressions of PTX ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/ConstantParser.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace raytention::simt;

/// As in C; 0: no operator of two operands.
static unsigned precedenceOf(StringRef op) {
  return StringSwitch<unsigned>(op)
      .Cases({"*", "/", "%"}, 10)
      .Cases({"+", "-"}, 9)
      .Cases({"<<", ">>"}, 8)
      .Cases({"<", "<=", ">", ">="}, 7)
      .Cases({"==", "!="}, 6)
      .Case("&", 5)
      .Case("^", 4)
      .Case("|", 3)
      .Case("&&", 2)
      .Case("||", 1)
      .Default(0);
}

/// Marks are tokens of one character: two that touch are one operator.
StringRef ConstantParser::peekOperator() const {
  const Token &first = peek(), &second = peek(1);
  if (first.kind != Token::Mark)
    return "";
  bool touches =
      second.kind == Token::Mark && second.text.data() == first.text.data() + 1;
  StringRef both(first.text.data(), touches ? 2 : 1);
  return precedenceOf(both) ? both : first.text;
}

bool ConstantParser::startsConstant() const {
  auto isPlain = [](const Token &token) {
    return token.kind == Token::Number || token.is("WARP_SZ") || token.is("(");
  };
  const Token &token = peek();
  if (token.is("!")) // or of a predicate
    return isPlain(peek(1));
  return isPlain(token) || token.is("-") || token.is("+") || token.is("~");
}

uint64_t ConstantParser::constant(StringRef what) {
  return choice(what, 0).bits;
}

ConstantParser::Value ConstantParser::choice(StringRef what, unsigned depth) {
  Value condition = binary(what, 1, depth);
  if (!accept("?"))
    return condition;
  Value held = choice(what, depth + 1);
  expect(":");
  Value other = choice(what, depth + 1);
  return condition.bits ? held : other;
}

ConstantParser::Value ConstantParser::binary(StringRef what, unsigned least,
                                             unsigned depth) {
  Value left = unary(what, depth);
  while (!failed()) {
    StringRef op = peekOperator();
    unsigned precedence = precedenceOf(op);
    if (!precedence || precedence < least)
      break;
    take();
    if (op.size() == 2)
      take();
    left = apply(op, left, binary(what, precedence + 1, depth + 1));
  }
  return left;
}

ConstantParser::Value ConstantParser::unary(StringRef what, unsigned depth) {
  Value value;
  if (depth > kMaxNesting) {
    fail("expected fewer nested operands");
    return value;
  }
  if (accept("("))
    return inParentheses(what, depth + 1);
  if (accept("+"))
    return unary(what, depth + 1);
  if (accept("-")) {
    value = unary(what, depth + 1);
    value.bits = 0 - value.bits;
  } else if (accept("~")) {
    value = unary(what, depth + 1);
    value.bits = ~value.bits;
  } else if (accept("!")) {
    value.bits = !unary(what, depth + 1).bits;
  } else {
    bool marked = peek().text.ends_with("U");
    value.bits = integer(what);
    value.isUnsigned = marked || value.asSigned() < 0;
  }
  return value;
}

/// An expression, or the type of one that follows.
ConstantParser::Value ConstantParser::inParentheses(StringRef what,
                                                    unsigned depth) {
  bool isUnsigned = peek().is(".u64");
  if (!isUnsigned && !peek().is(".s64")) {
    Value value = choice(what, depth);
    expect(")");
    return value;
  }
  take();
  expect(")");
  return {unary(what, depth).bits, isUnsigned};
}

ConstantParser::Value ConstantParser::apply(StringRef op, Value a, Value b) {
  bool isUnsigned = a.isUnsigned || b.isUnsigned;
  bool isLess = isUnsigned ? a.bits < b.bits : a.asSigned() < b.asSigned();
  bool isMore = isUnsigned ? a.bits > b.bits : a.asSigned() > b.asSigned();
  auto number = [&](uint64_t bits) { return Value{bits, isUnsigned}; };
  if (op == "/" || op == "%") {
    if (!b.bits) {
      fail("expected a divisor other than 0");
      return a;
    }
    bool divides = op == "/";
    if (isUnsigned)
      return number(divides ? a.bits / b.bits : a.bits % b.bits);
    // The least number has no opposite.
    if (b.asSigned() == -1)
      return number(divides ? 0 - a.bits : 0);
    return number(divides ? a.asSigned() / b.asSigned()
                          : a.asSigned() % b.asSigned());
  }
  if (op == "<<")
    return {b.bits > 63 ? 0 : a.bits << b.bits, a.isUnsigned};
  if (op == ">>") {
    uint64_t by = std::min<uint64_t>(b.bits, 63);
    uint64_t all = b.bits > 63 ? 0 : a.bits >> by;
    return {a.isUnsigned ? all : uint64_t(a.asSigned() >> by), a.isUnsigned};
  }
  uint64_t bits = StringSwitch<uint64_t>(op)
                      .Case("*", a.bits * b.bits)
                      .Case("+", a.bits + b.bits)
                      .Case("-", a.bits - b.bits)
                      .Case("&", a.bits & b.bits)
                      .Case("^", a.bits ^ b.bits)
                      .Case("|", a.bits | b.bits)
                      .Default(0);
  if (StringRef("*+-&^|").contains(op) && op.size() == 1)
    return number(bits);
  bool holds = StringSwitch<bool>(op)
                   .Case("<", isLess)
                   .Case("<=", !isMore)
                   .Case(">", isMore)
                   .Case(">=", !isLess)
                   .Case("==", a.bits == b.bits)
                   .Case("!=", a.bits != b.bits)
                   .Case("&&", a.bits && b.bits)
                   .Default(a.bits || b.bits);
  return {uint64_t(holds), false};
}
