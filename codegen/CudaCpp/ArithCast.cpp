//===- ArithCast.cpp - conversions of arith in C++ ------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/CudaCpp/Emitter.h"
#include "codegen/CudaCpp/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;
using namespace raytention::cuda;

static std::string cast(Type to, const std::string &atom) {
  return "(" + getCType(to).str() + ")" + atom;
}

//===----------------------------------------------------------------------===//
// Between integers
//===----------------------------------------------------------------------===//

/// To more bits or fewer; index is 64 bits wide.
static std::string resize(const Operands &operands, Operation *op,
                          bool isSigned) {
  Value value = op->getOperand(0);
  Type from = value.getType(), to = op->getResult(0).getType();
  if (to.isInteger(1) && !from.isInteger(1))
    return "(" + operands.atom(value) + " & 1) != 0";
  // A signed i1 holds 0 and -1.
  if (from.isInteger(1) && isSigned && !to.isInteger(1))
    return "-" + cast(to, operands.atom(value));
  if (getCType(from) == getCType(to))
    return operands.whole(value);
  bool grows = getIntegerBits(to) > getIntegerBits(from);
  return cast(to, grows && !isSigned ? operands.asUnsigned(value)
                                     : operands.atom(value));
}

//===----------------------------------------------------------------------===//
// Between integers and floats
//===----------------------------------------------------------------------===//

static FailureOr<std::string> fromInteger(const Operands &operands,
                                          Operation *op) {
  bool isSigned = isa<arith::SIToFPOp>(op);
  Value value = op->getOperand(0);
  Type to = op->getResult(0).getType();
  if (to.isBF16() || (isSigned && value.getType().isInteger(1)))
    return refuse(op) << " from " << value.getType() << " to " << to;
  return cast(to, isSigned ? operands.atom(value) : operands.asUnsigned(value));
}

static FailureOr<std::string> toInteger(const Operands &operands,
                                        Operation *op) {
  Type to = op->getResult(0).getType();
  std::string value = operands.atom(op->getOperand(0));
  if (to.isInteger(1))
    return refuse(op) << " to 'i1'";
  if (isa<arith::FPToSIOp>(op))
    return cast(to, value);
  return cast(to, "(" + getUnsignedCType(to).str() + ")" + value);
}

static FailureOr<std::string> reinterpret(const Operands &operands,
                                          Operation *op) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  std::string value = "(" + operands.typed(op->getOperand(0)) + ")";
  if (from.isF32() && to.isInteger(32))
    return "__float_as_int" + value;
  if (from.isInteger(32) && to.isF32())
    return "__int_as_float" + value;
  if (from.isF64() && to.isInteger(64))
    return "__double_as_longlong" + value;
  if (from.isInteger(64) && to.isF64())
    return "__longlong_as_double" + value;
  if (from == to)
    return value;
  return refuse(op) << " from " << from << " to " << to;
}

//===----------------------------------------------------------------------===//
// Between floats
//===----------------------------------------------------------------------===//

static std::string extend(const Operands &operands, arith::ExtFOp op) {
  std::string value = operands.atom(op.getIn());
  if (!op.getIn().getType().isBF16())
    return cast(op.getType(), value);
  value = "rt::toFloat(" + value + ")";
  return op.getType().isF32() ? value : cast(op.getType(), value);
}

static FailureOr<std::string> truncate(const Operands &operands,
                                       arith::TruncFOp op) {
  auto mode = op.getRoundingmode();
  if (mode && *mode != arith::RoundingMode::to_nearest_even)
    return op.emitOpError("expected to_nearest_even, got ")
           << arith::stringifyRoundingMode(*mode);
  if (op.getType().isBF16())
    return "rt::toBf16(" + operands.whole(op.getIn()) + ")";
  return cast(op.getType(), operands.atom(op.getIn()));
}

FailureOr<std::string> cuda::makeArithCast(const Operands &operands,
                                           Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<std::string>>(op)
      .Case<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(
          [&](auto) { return resize(operands, op, /*isSigned=*/true); })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
          [&](auto) { return resize(operands, op, /*isSigned=*/false); })
      .Case<arith::SIToFPOp, arith::UIToFPOp>(
          [&](auto) { return fromInteger(operands, op); })
      .Case<arith::FPToSIOp, arith::FPToUIOp>(
          [&](auto) { return toInteger(operands, op); })
      .Case([&](arith::ExtFOp extf) { return extend(operands, extf); })
      .Case([&](arith::TruncFOp truncf) { return truncate(operands, truncf); })
      .Case([&](arith::BitcastOp) { return reinterpret(operands, op); })
      .Default([](Operation *op) { return refuse(op); });
}
