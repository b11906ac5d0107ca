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
#include "dialect/RayTention/elements/Distance.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace raytention;

namespace {

/// Terms that are added one after the other at most.
constexpr int64_t kBlockTerms = 64;

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

/// Squared distances first, each form with its own sums, all in f64, so that
/// what others are checked against has no rounding to speak of; then the root.
struct LowerDistance : public OpRewritePattern<DistanceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DistanceOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getMetric() == Metric::Dot)
      return rewriter.notifyMatchFailure(op, "the metric dot is no distance");
    Value distances = op.getPrecision() == Precision::Exact
                          ? sumDifferences(op, rewriter, 1)
                          : expand(op, rewriter);
    if (op.getMetric() == Metric::L2)
      distances = takeRoots(op, rewriter, distances);
    rewriter.replaceOp(op, narrow(op, rewriter, distances));
    return success();
  }

private:
  using Partial = llvm::function_ref<Value(OpBuilder &, ValueRange)>;

  /// Sums `partial`, which sums the last axis of slices of `inputs`, over
  /// blocks of kBlockTerms: one long chain of additions would lose digits.
  Value sumBlocks(DistanceOp op, OpBuilder &builder, ArrayRef<Value> inputs,
                  Value zeros, Partial partial) const {
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(inputs.front().getType());
    if (!type.isDynamicDim(2) && type.getDimSize(2) <= kBlockTerms)
      return partial(builder, inputs);
    auto index = [&](int64_t value) {
      return arith::ConstantIndexOp::create(builder, loc, value).getResult();
    };
    Value width = tensor::DimOp::create(builder, loc, inputs.front(), 2);
    Value step = index(kBlockTerms);
    auto loop = scf::ForOp::create(builder, loc, index(0), width, step,
                                   ValueRange{zeros});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value begin = loop.getInductionVar();
    Value left = arith::SubIOp::create(builder, loc, width, begin);
    Value size = arith::MinSIOp::create(builder, loc, left, step);
    SmallVector<Value> slices;
    for (Value input : inputs) {
      SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0));
      SmallVector<OpFoldResult> strides(3, builder.getIndexAttr(1));
      SmallVector<OpFoldResult> sizes = getSizes(builder, loc, input, {0, 1});
      offsets[2] = begin;
      sizes.push_back(size);
      slices.push_back(tensor::ExtractSliceOp::create(builder, loc, input,
                                                      offsets, sizes, strides));
    }
    Value sum = addTo(builder, loc, loop.getRegionIterArgs()[0],
                      partial(builder, slices));
    scf::YieldOp::create(builder, loc, sum);
    return loop.getResult(0);
  }

  /// `sum + part`, element by element, in place of the sum: what a loop carries
  /// has to stay one buffer.
  static Value addTo(OpBuilder &builder, Location loc, Value sum, Value part) {
    auto type = cast<RankedTensorType>(sum.getType());
    auto loops = llvm::to_vector(llvm::seq<unsigned>(0, type.getRank()));
    return buildGeneric(builder, loc, type.getRank(), {{part, loops}},
                        {sum, loops},
                        [](OpBuilder &b, Location loc, ValueRange args) {
                          ElementBuilder e(b, loc, args[0].getType());
                          return e.add(args[1], args[0]);
                        });
  }

  /// The sum over d of `term(q_id, k_jd)`, [B, Tq, T].
  template <typename Term>
  Value sumPairs(DistanceOp op, OpBuilder &builder, Term term) const {
    Location loc = op.getLoc();
    Type element = builder.getF64Type();
    Value zeros =
        makeFilled(builder, loc, getPairType(op), getPairSizes(op, builder), 0);
    auto partial = [&](OpBuilder &builder, ValueRange rows) {
      return buildGeneric(
          builder, loc, 4, {{rows[0], {0, 1, 3}}, {rows[1], {0, 2, 3}}},
          {zeros, {0, 1, 2}}, [&](OpBuilder &b, Location loc, ValueRange args) {
            ElementBuilder e(b, loc, element);
            Value query = widen(b, loc, args[0], element);
            Value key = widen(b, loc, args[1], element);
            return e.add(args[2], term(e, query, key));
          });
    };
    return sumBlocks(op, builder, {op.getQueries(), op.getKeys()}, zeros,
                     partial);
  }

  /// `||unit (q - k)||^2`.
  Value sumDifferences(DistanceOp op, OpBuilder &builder, double unit) const {
    return sumPairs(op, builder, [&](ElementBuilder &e, Value q, Value k) {
      Value difference = e.sub(q, k);
      if (unit != 1)
        difference = e.mul(difference, e.constant(unit));
      return e.mul(difference, difference);
    });
  }

  /// `||q||^2 + ||k||^2 - 2 q.k`, clamped at 0; for l2, by differences where
  /// the expansion cancels.
  Value expand(DistanceOp op, OpBuilder &builder) const {
    Location loc = op.getLoc();
    Type element = builder.getF64Type();
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
      inputs.push_back({sumDifferences(op, builder, 1), {0, 1, 2}});
    Value empty =
        makeEmpty(builder, loc, getPairType(op), getPairSizes(op, builder));
    return buildGeneric(
        builder, loc, 3, inputs, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          ElementBuilder e(b, loc, element);
          Value norms = e.add(args[1], args[2]);
          Value square = e.sub(norms, e.mul(e.constant(2), args[0]));
          if (recomputes)
            square =
                e.select(e.less(square, e.mul(e.constant(kNearShare), norms)),
                         args[3], square);
          return e.max(square, e.constant(0));
        });
  }

  /// `||x_n||^2` of the rows of [B, N, D].
  Value sumSquares(DistanceOp op, OpBuilder &builder, Value x) const {
    Location loc = op.getLoc();
    Type element = builder.getF64Type();
    Value zeros = makeFilled(builder, loc, getTypeLike(x, {0, 1}, {}, element),
                             getSizes(builder, loc, x, {0, 1}), 0);
    auto partial = [&](OpBuilder &builder, ValueRange rows) {
      return buildGeneric(builder, loc, 3, {{rows[0], {0, 1, 2}}},
                          {zeros, {0, 1}},
                          [&](OpBuilder &b, Location loc, ValueRange args) {
                            ElementBuilder e(b, loc, element);
                            Value value = widen(b, loc, args[0], element);
                            return e.add(args[1], e.mul(value, value));
                          });
    };
    return sumBlocks(op, builder, {x}, zeros, partial);
  }

  /// The roots; of small squares, whose terms may have been flushed to 0, from
  /// differences times a power of two.
  Value takeRoots(DistanceOp op, OpBuilder &builder, Value squares) const {
    Location loc = op.getLoc();
    TinySquares tiny = getTinySquares(/*isDouble=*/true);
    Value scaled = sumDifferences(op, builder, tiny.unit);
    Value empty =
        makeEmpty(builder, loc, getPairType(op), getPairSizes(op, builder));
    return buildGeneric(
        builder, loc, 3, {{squares, {0, 1, 2}}, {scaled, {0, 1, 2}}},
        {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
          ElementBuilder e(b, loc, args[0].getType());
          Value isTiny = e.less(args[0], e.constant(tiny.square));
          Value small = e.mul(e.sqrt(args[1]), e.constant(1 / tiny.unit));
          return e.select(isTiny, small, e.sqrt(args[0]));
        });
  }

  /// [B, Tq, T] of f64.
  static RankedTensorType getPairType(DistanceOp op) {
    return cast<RankedTensorType>(op.getDistances().getType())
        .clone(Float64Type::get(op.getContext()));
  }

  /// Distances in the type of the op's.
  Value narrow(DistanceOp op, OpBuilder &builder, Value distances) const {
    Type element = elementOf(op.getDistances());
    if (element.isF64())
      return distances;
    Location loc = op.getLoc();
    Value empty = makeEmpty(builder, loc, op.getDistances().getType(),
                            getPairSizes(op, builder));
    return buildGeneric(
        builder, loc, 3, {{distances, {0, 1, 2}}}, {empty, {0, 1, 2}},
        [&](OpBuilder &b, Location loc, ValueRange args) {
          return arith::TruncFOp::create(b, loc, element, args[0]).getResult();
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
