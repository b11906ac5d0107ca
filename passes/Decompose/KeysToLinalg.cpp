//===- KeysToLinalg.cpp - rt.lookup and rt.distance in linalg ---*- C++ -*-===//
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

/// Below this share of the squared norms a squared distance by expansion has
/// lost too many digits for its root.
constexpr double kCancellation = 0x1p-10;

Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

/// A gather; the indices are validated by the runtime, not here.
struct LowerLookup : public OpRewritePattern<LookupOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LookupOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value table = op.getTable();
    auto tableType = cast<RankedTensorType>(table.getType());
    bool isBatched = tableType.getRank() == 3;
    SmallVector<OpFoldResult> sizes =
        getSizes(rewriter, loc, op.getIndices(), {0, 1});
    sizes.append(getSizes(rewriter, loc, table, {isBatched ? 2 : 1}));
    Value empty = makeEmpty(rewriter, loc, op.getRows().getType(), sizes);
    Value rows = buildGeneric(
        rewriter, loc, 3, {{op.getIndices(), {0, 1}}}, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          SmallVector<Value> at;
          if (isBatched)
            at.push_back(linalg::IndexOp::create(b, loc, 0));
          at.push_back(
              arith::IndexCastOp::create(b, loc, b.getIndexType(), args[0]));
          at.push_back(linalg::IndexOp::create(b, loc, 2));
          Value element = tensor::ExtractOp::create(b, loc, table, at);
          return widen(b, loc, element, elementOf(op.getRows()));
        });
    rewriter.replaceOp(op, rows);
    return success();
  }
};

/// Squared distances first, each form with its own sums; then the root.
struct LowerDistance : public OpRewritePattern<DistanceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DistanceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getMetric() == Metric::Dot)
      return rewriter.notifyMatchFailure(op, "the metric dot is no distance");
    Value squares = op.getPrecision() == Precision::Exact
                        ? sumDifferences(op, rewriter)
                        : expand(op, rewriter);
    if (op.getMetric() == Metric::L2)
      squares = takeRoots(op, rewriter, squares);
    rewriter.replaceOp(op, squares);
    return success();
  }

private:
  /// The sum over d of `term(q_id, k_jd)`, [B, Tq, T].
  template <typename Term>
  Value sumPairs(DistanceOp op, OpBuilder &builder, Term term) const {
    Location loc = op.getLoc();
    Type element = elementOf(op.getDistances());
    Value zeros = makeFilled(builder, loc, op.getDistances().getType(),
                             getPairSizes(op, builder), 0);
    return buildGeneric(
        builder, loc, 4,
        {{op.getQueries(), {0, 1, 3}}, {op.getKeys(), {0, 2, 3}}},
        {zeros, {0, 1, 2}}, [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder e(b, loc, element);
          Value query = widen(b, loc, args[0], element);
          return e.add(args[2], term(e, query, args[1]));
        });
  }

  Value sumDifferences(DistanceOp op, OpBuilder &builder) const {
    return sumPairs(op, builder, [](ElementBuilder &e, Value q, Value k) {
      Value difference = e.sub(q, k);
      return e.mul(difference, difference);
    });
  }

  /// `||q||^2 + ||k||^2 - 2 q.k`, clamped at 0; for l2, by differences where
  /// the expansion cancels.
  Value expand(DistanceOp op, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = elementOf(op.getDistances());
    bool recomputes = op.getMetric() == Metric::L2;
    Value products =
        sumPairs(op, builder, [](ElementBuilder &e, Value q, Value k) {
          return e.mul(q, k);
        });
    SmallVector<LoopOperand> inputs = {
        {products, {0, 1, 2}},
        {sumSquares(op, builder, op.getQueries()), {0, 1}},
        {sumSquares(op, builder, op.getKeys()), {0, 2}}};
    if (recomputes)
      inputs.push_back({sumDifferences(op, builder), {0, 1, 2}});
    Value empty = makeEmpty(builder, loc, op.getDistances().getType(),
                            getPairSizes(op, builder));
    return buildGeneric(
        builder, loc, 3, inputs, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder e(b, loc, element);
          Value norms = e.add(args[1], args[2]);
          Value square = e.sub(norms, e.mul(e.constant(2), args[0]));
          if (recomputes)
            square = e.select(
                e.less(square, e.mul(e.constant(kCancellation), norms)),
                args[3], square);
          return e.max(square, e.constant(0));
        });
  }

  /// `||x_n||^2` of the rows of [B, N, D].
  Value sumSquares(DistanceOp op, OpBuilder &builder, Value x) const {
    Location loc = op.getLoc();
    Type element = elementOf(op.getDistances());
    Value zeros = makeFilled(builder, loc, getTypeLike(x, {0, 1}, {}, element),
                             getSizes(builder, loc, x, {0, 1}), 0);
    return buildGeneric(builder, loc, 3, {{x, {0, 1, 2}}}, {zeros, {0, 1}},
                        [&](OpBuilder &b, Location loc, ValueRange args) {
                          ElementBuilder e(b, loc, element);
                          Value value = widen(b, loc, args[0], element);
                          return e.add(args[1], e.mul(value, value));
                        });
  }

  Value takeRoots(DistanceOp op, OpBuilder &builder, Value squares) const {
    Location loc = op.getLoc();
    Value empty = makeEmpty(builder, loc, op.getDistances().getType(),
                            getPairSizes(op, builder));
    return buildGeneric(
        builder, loc, 3, {{squares, {0, 1, 2}}}, {empty, {0, 1, 2}},
        [](OpBuilder &b, Location loc, ValueRange args) -> Value {
          return math::SqrtOp::create(b, loc, args[0]);
        });
  }

  SmallVector<OpFoldResult> getPairSizes(DistanceOp op, OpBuilder &b) const {
    auto sizes = getSizes(b, op.getLoc(), op.getQueries(), {0, 1});
    sizes.append(getSizes(b, op.getLoc(), op.getKeys(), {1}));
    return sizes;
  }
};

} // namespace

void raytention::populateKeysToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerLookup, LowerDistance>(patterns.getContext());
}
