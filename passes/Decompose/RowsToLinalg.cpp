//===- RowsToLinalg.cpp - rt.reduce and rt.normalize in linalg --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Decompose/GenericBuilder.h"
#include "passes/Decompose/Passes.h"
#include "passes/Decompose/ToLinalgPatterns.h"

#include "dialect/RayTention/TensorBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace raytention;

namespace {

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// The sum over the last axis of `term(x)`, [B, Tq].
template <typename Term>
Value sumRows(OpBuilder &builder, Location loc, Value x, Term term) {
  Type element = elementOf(x);
  Value zeros = makeFilled(builder, loc, getTypeLike(x, {0, 1}, {}, element),
                           getSizes(builder, loc, x, {0, 1}), 0);
  return buildGeneric(builder, loc, 3, {{x, {0, 1, 2}}}, {zeros, {0, 1}},
                      [&](OpBuilder &b, Location loc, ValueRange args) {
                        ElementBuilder e(b, loc, element);
                        return e.add(args[1], term(e, args[0]));
                      });
}

struct LowerReduce : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op,
                                PatternRewriter &rewriter) const override {
    Value result =
        op.getValues() ? sumValues(op, rewriter) : sumWeights(op, rewriter);
    if (op.getFloor())
      result = divide(op, rewriter, result);
    if (result.getType() != op.getResult().getType())
      result = tensor::CastOp::create(rewriter, op.getLoc(),
                                      op.getResult().getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  Value sumWeights(ReduceOp op, OpBuilder &b) const {
    return sumRows(b, op.getLoc(), op.getWeights(),
                   [](ElementBuilder &, Value weight) { return weight; });
  }

  /// `sum_j w_ij v_j`, with the keys as the outer of the two inner loops: rows
  /// of values are read and written contiguously.
  Value sumValues(ReduceOp op, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = elementOf(op.getResult());
    SmallVector<OpFoldResult> sizes =
        getSizes(builder, loc, op.getWeights(), {0, 1});
    sizes.append(getSizes(builder, loc, op.getValues(), {2}));
    Value zeros = makeFilled(builder, loc, op.getResult().getType(), sizes, 0);
    return buildGeneric(
        builder, loc, 4,
        {{op.getWeights(), {0, 1, 2}}, {op.getValues(), {0, 2, 3}}},
        {zeros, {0, 1, 3}}, [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder e(b, loc, element);
          return e.add(args[2], e.mul(args[0], args[1]));
        });
  }

  /// By `max(sum_j w_ij, floor)`.
  Value divide(ReduceOp op, OpBuilder &builder, Value sums) const {
    Location loc = op.getLoc();
    Type element = elementOf(sums);
    double floor = op.getFloorAttr().getValueAsDouble();
    Value empty = makeEmpty(builder, loc, sums.getType(),
                            getSizes(builder, loc, sums, {0, 1, 2}));
    return buildGeneric(
        builder, loc, 3, {{sums, {0, 1, 2}}, {sumWeights(op, builder), {0, 1}}},
        {empty, {0, 1, 2}}, [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder e(b, loc, element);
          return e.div(args[0], e.max(args[1], e.constant(floor)));
        });
  }
};

struct LowerNormalize : public OpRewritePattern<NormalizeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NormalizeOp op,
                                PatternRewriter &rewriter) const override {
    Value norms = buildNorms(op, rewriter);
    rewriter.replaceOp(op, {buildQuotients(op, rewriter, norms), norms});
    return success();
  }

private:
  Value buildNorms(NormalizeOp op, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Value squares =
        sumRows(builder, loc, op.getX(),
                [](ElementBuilder &e, Value x) { return e.mul(x, x); });
    Value empty = makeEmpty(builder, loc, op.getNorm().getType(),
                            getSizes(builder, loc, op.getX(), {0, 1}));
    return buildGeneric(builder, loc, 2, {{squares, {0, 1}}}, {empty, {0, 1}},
                        [&](OpBuilder &b, Location loc, ValueRange args) {
                          Value root = math::SqrtOp::create(b, loc, args[0]);
                          return keepInside(op, b, loc, root);
                        });
  }

  Value buildQuotients(NormalizeOp op, OpBuilder &builder, Value norms) const {
    Location loc = op.getLoc();
    Type element = elementOf(op.getX());
    Value empty = makeEmpty(builder, loc, op.getY().getType(),
                            getSizes(builder, loc, op.getX(), {0, 1, 2}));
    return buildGeneric(
        builder, loc, 3, {{op.getX(), {0, 1, 2}}, {norms, {0, 1}}},
        {empty, {0, 1, 2}}, [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder e(b, loc, element);
          Value norm = e.max(args[1], e.constant(kNormFloor));
          return keepInside(op, b, loc, e.div(args[0], norm));
        });
  }

  /// 0 for a row at or beyond its sequence's length, else `value`.
  Value keepInside(NormalizeOp op, OpBuilder &b, Location loc,
                   Value value) const {
    if (!op.getLengths())
      return value;
    Positions positions(op.getQueryOffset(), op.getLengths());
    ElementBuilder e(b, loc, value.getType());
    Value inside = positions.isInside(b, loc, positions.getRow(b, loc));
    return e.select(inside, value, e.constant(0));
  }
};

struct LowerClearPadding : public OpRewritePattern<ClearPaddingOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ClearPaddingOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value rows = op.getRows();
    Value empty = makeEmpty(rewriter, loc, rows.getType(),
                            getSizes(rewriter, loc, rows, {0, 1, 2}));
    Value cleared = buildGeneric(
        rewriter, loc, 3, {{rows, {0, 1, 2}}}, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          Positions positions(op.getQueryOffset(), op.getLengths());
          ElementBuilder e(b, loc, args[0].getType());
          Value inside = positions.isInside(b, loc, positions.getRow(b, loc));
          return e.select(inside, args[0], e.constant(0));
        });
    rewriter.replaceOp(op, cleared);
    return success();
  }
};

} // namespace

void raytention::populateRowsToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerReduce, LowerNormalize, LowerClearPadding>(
      patterns.getContext());
}
