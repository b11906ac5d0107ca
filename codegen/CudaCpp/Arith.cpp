//===- Arith.cpp - arith in C++ -------------------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

/// Integer arithmetic narrower than int is done in int.
static std::string narrow(Type type, std::string text) {
  return type.isInteger(8) ? "(signed char)(" + text + ")" : text;
}

static std::string call(const Operands &operands, const Twine &function,
                        Operation *op) {
  return (function + "(" + operands.typed(op->getOperand(0)) + ", " +
          operands.typed(op->getOperand(1)) + ")")
      .str();
}

/// a op b. Of two literals, and in a shift, the first gives the type.
static std::string infix(const Operands &operands, StringRef symbol,
                         Operation *op) {
  Value a = op->getOperand(0), b = op->getOperand(1);
  bool givesType =
      (operands.isLiteral(a) && operands.isLiteral(b)) || symbol == ">>";
  std::string left = givesType ? operands.typed(a) : operands.atom(a);
  if (left.front() == '-')
    left = "(" + left + ")";
  return left + " " + symbol.str() + " " + operands.atom(b);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

/// Where C++ has the same operation on signed integers.
static StringRef signedSymbol(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.divsi", "/")
      .Case("arith.remsi", "%")
      .Case("arith.shrsi", ">>")
      .Case("arith.andi", "&")
      .Case("arith.ori", "|")
      .Case("arith.xori", "^")
      .Default("");
}

static StringRef unsignedSymbol(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.divui", "/")
      .Case("arith.remui", "%")
      .Case("arith.shrui", ">>")
      .Default("");
}

static StringRef calledFunction(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.minsi", "min")
      .Case("arith.maxsi", "max")
      .Case("arith.ceildivsi", "rt::ceilDiv")
      .Case("arith.floordivsi", "rt::floorDiv")
      .Default("");
}

/// min, max and ceildiv of unsigned integers.
static StringRef unsignedFunction(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.minui", "min")
      .Case("arith.maxui", "max")
      .Case("arith.ceildivui", "rt::ceilDiv")
      .Default("");
}

/// Sizes and positions (index), and what the IR says does not overflow, are
/// plain sums; all else wraps around.
static std::string makeWrapping(const Operands &operands, Operation *op,
                                StringRef symbol, StringRef function) {
  Type type = op->getResult(0).getType();
  auto flags = cast<arith::ArithIntegerOverflowFlagsInterface>(op);
  bool isPlain = type.isIndex() || type.isInteger(8) || flags.hasNoSignedWrap();
  if (isPlain && !isa<arith::ShLIOp>(op))
    return narrow(type, infix(operands, symbol, op));
  return narrow(type, call(operands, "rt::" + function, op));
}

static std::string makeUnsigned(const Operands &operands, Operation *op) {
  std::string a = operands.asUnsigned(op->getOperand(0));
  std::string b = operands.asUnsigned(op->getOperand(1));
  std::string text;
  if (StringRef symbol = unsignedSymbol(op); !symbol.empty())
    text = a + " " + symbol.str() + " " + b;
  else
    text = unsignedFunction(op).str() + "(" + a + ", " + b + ")";
  return "(" + getCType(op->getResult(0).getType()).str() + ")(" + text + ")";
}

static FailureOr<std::string> makeInteger(const Operands &operands,
                                          Operation *op) {
  Type type = op->getResult(0).getType();
  bool isBitwise = isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
  if (type.isInteger(1) && !isBitwise)
    return op->emitOpError("expected i8, i32, i64 or index, got 'i1'");
  if (StringRef symbol = signedSymbol(op); !symbol.empty())
    return narrow(type, infix(operands, symbol, op));
  if (StringRef function = calledFunction(op); !function.empty())
    return narrow(type, call(operands, function, op));
  if (!unsignedSymbol(op).empty() || !unsignedFunction(op).empty())
    return makeUnsigned(operands, op);
  if (isa<arith::AddIOp>(op))
    return makeWrapping(operands, op, "+", "add");
  if (isa<arith::SubIOp>(op))
    return makeWrapping(operands, op, "-", "sub");
  if (isa<arith::MulIOp>(op))
    return makeWrapping(operands, op, "*", "mul");
  if (isa<arith::ShLIOp>(op))
    return makeWrapping(operands, op, "<<", "shl");
  return refuse(op);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

static FailureOr<std::string> makeFloat(const Operands &operands,
                                        Operation *op) {
  StringRef suffix = op->getResult(0).getType().isF32() ? "f" : "";
  return llvm::TypeSwitch<Operation *, FailureOr<std::string>>(op)
      .Case([&](arith::AddFOp) { return infix(operands, "+", op); })
      .Case([&](arith::SubFOp) { return infix(operands, "-", op); })
      .Case([&](arith::MulFOp) { return infix(operands, "*", op); })
      .Case([&](arith::DivFOp) { return infix(operands, "/", op); })
      .Case(
          [&](arith::NegFOp) { return "-" + operands.atom(op->getOperand(0)); })
      .Case(
          [&](arith::MaximumFOp) { return call(operands, "rt::maximum", op); })
      .Case(
          [&](arith::MinimumFOp) { return call(operands, "rt::minimum", op); })
      .Case(
          [&](arith::MaxNumFOp) { return call(operands, "fmax" + suffix, op); })
      .Case(
          [&](arith::MinNumFOp) { return call(operands, "fmin" + suffix, op); })
      .Default([](Operation *op) { return refuse(op); });
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static StringRef symbolOf(arith::CmpIPredicate predicate) {
  using arith::CmpIPredicate;
  switch (predicate) {
  case CmpIPredicate::eq:
    return "==";
  case CmpIPredicate::ne:
    return "!=";
  case CmpIPredicate::slt:
  case CmpIPredicate::ult:
    return "<";
  case CmpIPredicate::sle:
  case CmpIPredicate::ule:
    return "<=";
  case CmpIPredicate::sgt:
  case CmpIPredicate::ugt:
    return ">";
  case CmpIPredicate::sge:
  case CmpIPredicate::uge:
    return ">=";
  }
  llvm_unreachable("a predicate of cmpi");
}

static FailureOr<std::string> makeIntegerCompare(const Operands &operands,
                                                 arith::CmpIOp op) {
  arith::CmpIPredicate predicate = op.getPredicate();
  std::string symbol = symbolOf(predicate).str();
  bool isUnsigned = predicate >= arith::CmpIPredicate::ult;
  bool isEquality = predicate <= arith::CmpIPredicate::ne;
  if (isUnsigned)
    return operands.asUnsigned(op.getLhs()) + " " + symbol + " " +
           operands.asUnsigned(op.getRhs());
  // A signed i1 holds 0 and -1.
  if (op.getLhs().getType().isInteger(1) && !isEquality)
    return op.emitOpError("expected a comparison of i1 without a sign, got ")
           << arith::stringifyCmpIPredicate(predicate);
  return infix(operands, symbol, op);
}

/// With C++ comparisons, which are false for a NaN but for !=.
static std::string makeFloatCompare(const Operands &operands,
                                    arith::CmpFOp op) {
  using arith::CmpFPredicate;
  std::string a = operands.atom(op.getLhs()), b = operands.atom(op.getRhs());
  switch (op.getPredicate()) {
  case CmpFPredicate::AlwaysFalse:
    return "false";
  case CmpFPredicate::OEQ:
    return a + " == " + b;
  case CmpFPredicate::OGT:
    return a + " > " + b;
  case CmpFPredicate::OGE:
    return a + " >= " + b;
  case CmpFPredicate::OLT:
    return a + " < " + b;
  case CmpFPredicate::OLE:
    return a + " <= " + b;
  case CmpFPredicate::ONE:
    return a + " < " + b + " || " + a + " > " + b;
  case CmpFPredicate::ORD:
    return a + " == " + a + " && " + b + " == " + b;
  case CmpFPredicate::UEQ:
    return "!(" + a + " < " + b + " || " + a + " > " + b + ")";
  case CmpFPredicate::UGT:
    return "!(" + a + " <= " + b + ")";
  case CmpFPredicate::UGE:
    return "!(" + a + " < " + b + ")";
  case CmpFPredicate::ULT:
    return "!(" + a + " >= " + b + ")";
  case CmpFPredicate::ULE:
    return "!(" + a + " > " + b + ")";
  case CmpFPredicate::UNE:
    return a + " != " + b;
  case CmpFPredicate::UNO:
    return a + " != " + a + " || " + b + " != " + b;
  case CmpFPredicate::AlwaysTrue:
    return "true";
  }
  llvm_unreachable("a predicate of cmpf");
}

FailureOr<std::string> cuda::makeArith(const Operands &operands,
                                       Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return makeIntegerCompare(operands, compare);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return makeFloatCompare(operands, compare);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return operands.atom(select.getCondition()) + " ? " +
           operands.typed(select.getTrueValue()) + " : " +
           operands.typed(select.getFalseValue());
  if (op->getNumResults() != 1)
    return refuse(op);
  if (isa<FloatType>(op->getResult(0).getType()))
    return makeFloat(operands, op);
  return makeInteger(operands, op);
}
