//===- OuterBounds.cpp - bounds of sizes, known outside of loops ----*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/OuterBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

/// The loop that counts by `value`, if one does.
static scf::ForOp getLoop(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  return loop && loop.getInductionVar() == value ? loop : scf::ForOp();
}

/// -1 for a value that is never above 0, 1 for one that is never below, 0 where
/// that is not known.
static int getSign(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant < 0 ? -1 : 1;
  if (scf::ForOp loop = getLoop(value))
    return getSign(loop.getLowerBound()) > 0 ? 1 : 0;
  auto product = value.getDefiningOp<arith::MulIOp>();
  return product ? getSign(product.getLhs()) * getSign(product.getRhs()) : 0;
}

namespace {

class BoundBuilder {
public:
  BoundBuilder(OpBuilder &b, Block *block) : b(b), block(block) {}

  Value build(Value value) {
    if (value.getParentBlock() == block)
      return value;
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return arith::ConstantOp::create(
          b, value.getLoc(), b.getIntegerAttr(value.getType(), *constant));
    if (scf::ForOp loop = getLoop(value))
      return build(loop.getUpperBound());
    Operation *op = value.getDefiningOp();
    if (!op)
      return {};
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case<arith::MinSIOp>([&](auto min) { return buildMinimum(min); })
        .Case<arith::MaxSIOp>(
            [&](auto max) { return combine<arith::MaxSIOp>(max); })
        .Case<arith::AddIOp>([&](auto sum) { return buildSum(sum); })
        .Case<arith::SubIOp>([&](auto difference) {
          return getSign(difference.getRhs()) > 0 ? build(difference.getLhs())
                                                  : Value();
        })
        .Case<arith::MulIOp>([&](auto product) {
          bool grows =
              getSign(product.getLhs()) > 0 && getSign(product.getRhs()) > 0;
          return grows ? combine<arith::MulIOp>(product) : Value();
        })
        .Case<arith::IndexCastOp>([&](auto cast) {
          Value bound = build(cast.getIn());
          return bound ? arith::IndexCastOp::create(b, cast.getLoc(),
                                                    cast.getType(), bound)
                       : Value();
        })
        .Default([](Operation *) { return Value(); });
  }

private:
  template <typename Op> Value combine(Operation *op) {
    Value lhs = build(op->getOperand(0)), rhs = build(op->getOperand(1));
    return lhs && rhs ? Op::create(b, op->getLoc(), lhs, rhs) : Value();
  }

  Value buildMinimum(arith::MinSIOp op) {
    Value lhs = build(op.getLhs()), rhs = build(op.getRhs());
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    return arith::MinSIOp::create(b, op.getLoc(), lhs, rhs);
  }

  Value buildSum(arith::AddIOp op) {
    for (auto [one, other] :
         {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}})
      if (getSign(other) < 0)
        return build(one);
    return combine<arith::AddIOp>(op);
  }

  OpBuilder &b;
  Block *block;
};

} // namespace

Value raytention::buildOuterBound(OpBuilder &b, Value value, Block *block) {
  return BoundBuilder(b, block).build(value);
}
