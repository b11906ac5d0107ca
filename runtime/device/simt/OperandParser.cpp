//===- OperandParser.cpp - operands of PTX instructions ------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/device/simt/OperandParser.h"

#include <cstring>

using namespace llvm;
using namespace raytention::simt;

void OperandParser::operands(Statement &s) {
  isCall = s.name.starts_with("call");
  do
    s.operands.push_back(operand(0));
  while (accept(","));
  isCall = false;
}

Operand OperandParser::operand(unsigned depth) {
  Operand first = single(depth);
  if (!accept("|"))
    return first;
  Operand pair;
  pair.kind = Operand::Pair;
  pair.elements.push_back(std::move(first));
  pair.elements.push_back(single(depth));
  return pair;
}

Operand OperandParser::single(unsigned depth) {
  Operand result;
  if (depth > kMaxNesting) {
    fail("expected fewer nested operands");
    return result;
  }
  if (accept("["))
    return address(depth);
  if (accept("{"))
    return list("}", depth);
  if (isCall && accept("("))
    return list(")", depth);
  if (startsConstant())
    return number();
  result.negated = accept("!");
  result.name = name("an operand");
  // A call may name a function and its prototype; others add a number.
  if (accept("+"))
    result.offset = constant("an offset");
  return result;
}

Operand OperandParser::list(StringRef close, unsigned depth) {
  Operand result;
  result.kind = Operand::Vector;
  while (!failed() && !accept(close)) {
    result.elements.push_back(operand(depth + 1));
    if (!peek().is(close))
      expect(",");
  }
  return result;
}

Operand OperandParser::address(unsigned depth) {
  Operand result;
  result.kind = Operand::Address;
  if (peek().kind == Token::Name && !startsConstant())
    result.name = take().text;
  else
    result.offset = constant("an address");
  if (!result.name.empty() && (accept("+") || peek().is("-")))
    result.offset = constant("an offset");
  while (accept(","))
    result.elements.push_back(operand(depth + 1));
  expect("]");
  return result;
}

Operand OperandParser::number() {
  Operand result;
  StringRef text = peek().text;
  result.kind = Operand::Integer;
  if (text.size() == 10 && (text.starts_with("0f") || text.starts_with("0F")))
    return hexFloat(Operand::Float32, text.drop_front(2));
  if (text.size() == 18 && (text.starts_with("0d") || text.starts_with("0D")))
    return hexFloat(Operand::Float64, text.drop_front(2));
  if (peek().is("-") ? peek(1).text.contains('.') : text.contains('.'))
    return decimal();
  result.bits = constant("a number");
  return result;
}

Operand OperandParser::hexFloat(Operand::Kind kind, StringRef digits) {
  Operand result;
  result.kind = kind;
  if (digits.getAsInteger(16, result.bits))
    fail("expected a float in hexadecimal digits");
  take();
  return result;
}

Operand OperandParser::decimal() {
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
