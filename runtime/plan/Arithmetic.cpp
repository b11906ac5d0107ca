//===- Arithmetic.cpp - integers of the host program ----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Arithmetic.h"

#include "llvm/ADT/APInt.h"

using namespace llvm;
using namespace raytention;
using namespace raytention::plan;

static APInt toInt(unsigned bits, int64_t value) {
  return APInt(bits, uint64_t(value), /*isSigned=*/true,
               /*implicitTrunc=*/true);
}

static Error refuse(Opcode op, const Twine &expected, const Twine &got) {
  return createStringError(Twine(plan::getName(op)) + ": expected " + expected +
                           ", got " + got);
}

static bool isSignedDivision(Opcode op) {
  return op == Opcode::DivS || op == Opcode::CeilDivS ||
         op == Opcode::FloorDivS || op == Opcode::RemS;
}

static bool isDivision(Opcode op) {
  return isSignedDivision(op) || op == Opcode::DivU || op == Opcode::CeilDivU ||
         op == Opcode::RemU;
}

/// What MLIR leaves undefined.
static Error checkOperands(Opcode op, const APInt &a, const APInt &b) {
  if (isDivision(op) && b.isZero())
    return refuse(op, "a divisor other than 0", "0");
  // remsi is defined where divsi overflows.
  if (isSignedDivision(op) && op != Opcode::RemS && a.isMinSignedValue() &&
      b.isAllOnes())
    return refuse(op, "a quotient of " + Twine(a.getBitWidth()) + " bits",
                  Twine(a.getSExtValue()) + " / -1");
  bool isShift =
      op == Opcode::ShiftL || op == Opcode::ShiftRS || op == Opcode::ShiftRU;
  if (isShift && b.uge(a.getBitWidth()))
    return refuse(op, "a shift of less than " + Twine(a.getBitWidth()),
                  Twine(b.getSExtValue()));
  return Error::success();
}

static APInt apply(Opcode op, const APInt &a, const APInt &b) {
  switch (op) {
  case Opcode::Add:
    return a + b;
  case Opcode::Sub:
    return a - b;
  case Opcode::Mul:
    return a * b;
  case Opcode::DivS:
    return a.sdiv(b);
  case Opcode::DivU:
    return a.udiv(b);
  case Opcode::CeilDivS:
    return APIntOps::RoundingSDiv(a, b, APInt::Rounding::UP);
  case Opcode::CeilDivU:
    return APIntOps::RoundingUDiv(a, b, APInt::Rounding::UP);
  case Opcode::FloorDivS:
    return APIntOps::RoundingSDiv(a, b, APInt::Rounding::DOWN);
  case Opcode::RemS:
    return a.srem(b);
  case Opcode::RemU:
    return a.urem(b);
  case Opcode::MinS:
    return APIntOps::smin(a, b);
  case Opcode::MaxS:
    return APIntOps::smax(a, b);
  case Opcode::MinU:
    return APIntOps::umin(a, b);
  case Opcode::MaxU:
    return APIntOps::umax(a, b);
  case Opcode::And:
    return a & b;
  case Opcode::Or:
    return a | b;
  case Opcode::Xor:
    return a ^ b;
  case Opcode::ShiftL:
    return a.shl(b);
  case Opcode::ShiftRS:
    return a.ashr(b);
  case Opcode::ShiftRU:
    return a.lshr(b);
  default:
    llvm_unreachable("an operation on two integers");
  }
}

Expected<int64_t> plan::compute(Opcode op, unsigned bits, int64_t a,
                                int64_t b) {
  APInt left = toInt(bits, a), right = toInt(bits, b);
  if (Error error = checkOperands(op, left, right))
    return error;
  return apply(op, left, right).getSExtValue();
}

bool plan::compare(Predicate predicate, unsigned bits, int64_t a, int64_t b) {
  APInt left = toInt(bits, a), right = toInt(bits, b);
  switch (predicate) {
  case Predicate::EQ:
    return left == right;
  case Predicate::NE:
    return left != right;
  case Predicate::SLT:
    return left.slt(right);
  case Predicate::SLE:
    return left.sle(right);
  case Predicate::SGT:
    return left.sgt(right);
  case Predicate::SGE:
    return left.sge(right);
  case Predicate::ULT:
    return left.ult(right);
  case Predicate::ULE:
    return left.ule(right);
  case Predicate::UGT:
    return left.ugt(right);
  case Predicate::UGE:
    return left.uge(right);
  }
  llvm_unreachable("every predicate is listed");
}

int64_t plan::castSigned(unsigned from, unsigned to, int64_t value) {
  return toInt(from, value).sextOrTrunc(to).getSExtValue();
}

int64_t plan::castUnsigned(unsigned from, unsigned to, int64_t value) {
  return toInt(from, value).zextOrTrunc(to).getSExtValue();
}
