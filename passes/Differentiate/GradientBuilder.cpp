//===- GradientBuilder.cpp - tensors that derivative rules share --*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/GradientBuilder.h"

#include "dialect/RayTention/Differentiable.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace raytention;

static SmallVector<OpFoldResult> getAllSizes(OpBuilder &builder, Location loc,
                                             Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return getSizes(builder, loc, value,
                  llvm::to_vector(llvm::seq<int64_t>(0, rank)));
}

Value raytention::makeZeroAdjoint(OpBuilder &builder, Location loc,
                                  Value value) {
  return makeFilled(builder, loc, getAdjointType(value.getType()),
                    getAllSizes(builder, loc, value), 0);
}

Value raytention::makeEmptyAdjoint(OpBuilder &builder, Location loc,
                                   Value value) {
  return makeEmpty(builder, loc, getAdjointType(value.getType()),
                   getAllSizes(builder, loc, value));
}

/// The floats of `args`, widened; anything else as it is.
static SmallVector<Value> widenAll(OpBuilder &b, Location loc, ValueRange args,
                                   Type element) {
  return llvm::map_to_vector(args, [&](Value arg) {
    return isa<FloatType>(arg.getType()) ? widen(b, loc, arg, element) : arg;
  });
}

/// `init` plus the terms.
static Value sumInto(OpBuilder &builder, Location loc, unsigned numLoops,
                     ArrayRef<LoopOperand> inputs, const LoopOperand &init,
                     TermBody term) {
  return buildGeneric(builder, loc, numLoops, inputs, init,
                      [&](OpBuilder &b, Location loc, ValueRange args) {
                        ElementBuilder e(b, loc, args.back().getType());
                        SmallVector<Value> values = widenAll(
                            b, loc, args.drop_back(), e.getFloatType());
                        return e.add(args.back(), term(e, values));
                      });
}

Value raytention::sumAdjoint(OpBuilder &builder, Location loc,
                             unsigned numLoops, ArrayRef<LoopOperand> inputs,
                             const LoopOperand &like, TermBody term) {
  Value zeros = makeZeroAdjoint(builder, loc, like.value);
  return sumInto(builder, loc, numLoops, inputs, {zeros, like.loops}, term);
}

Value raytention::mapAdjoint(OpBuilder &builder, Location loc,
                             ArrayRef<LoopOperand> inputs, Value like,
                             TermBody term) {
  Value empty = makeEmptyAdjoint(builder, loc, like);
  int64_t rank = cast<RankedTensorType>(like.getType()).getRank();
  return buildGeneric(
      builder, loc, rank, inputs,
      {empty, llvm::to_vector(llvm::seq<unsigned>(0, rank))},
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ElementBuilder e(b, loc, args.back().getType());
        return term(e, widenAll(b, loc, args.drop_back(), e.getFloatType()));
      });
}

Value raytention::sumRows(OpBuilder &builder, Location loc,
                          ArrayRef<LoopOperand> inputs, TermBody term) {
  Value like = inputs.front().value;
  Type type = getTypeLike(like, {0, 1}, {}, getElementTypeOrSelf(like));
  Value zeros =
      makeFilled(builder, loc, type, getSizes(builder, loc, like, {0, 1}), 0);
  return sumInto(builder, loc, 3, inputs, {zeros, {0, 1}}, term);
}

Value raytention::maxRows(OpBuilder &builder, Location loc, Value pairs) {
  Type element = getElementTypeOrSelf(pairs);
  Value lowest =
      makeFilled(builder, loc, getTypeLike(pairs, {0, 1}, {}, element),
                 getSizes(builder, loc, pairs, {0, 1}),
                 ElementBuilder::getLowest(element));
  return buildGeneric(builder, loc, 3, {{pairs, {0, 1, 2}}}, {lowest, {0, 1}},
                      [](OpBuilder &b, Location loc, ValueRange args) {
                        ElementBuilder e(b, loc, args[0].getType());
                        return e.max(args[0], args[1]);
                      });
}

bool raytention::isMaximum(arith::SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare)
    return false;
  arith::CmpFPredicate predicate = compare.getPredicate();
  return (predicate == arith::CmpFPredicate::OGT ||
          predicate == arith::CmpFPredicate::OGE) &&
         compare.getLhs() == op.getTrueValue() &&
         compare.getRhs() == op.getFalseValue();
}

void raytention::eraseDeadOps(Block &block,
                              llvm::function_ref<void(Operation *)> onErase) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (!isOpTriviallyDead(&op))
      continue;
    if (onErase)
      onErase(&op);
    op.erase();
  }
}
