//===- SelectToLinalg.cpp - rt.arg_select in linalg and scf -----*- C++ -*-===//
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

#include <limits>

using namespace mlir;
using namespace raytention;

namespace {

/// A candidate: its score (negated where the smallest is wanted) and position.
struct Candidate {
  Value score, position;
};

/// Emits the selection for one row, inside a generic over [B, Tq]. Each rank
/// is one scan: the best candidate that stands behind the one before it, in
/// the order of falling score, then rising position.
class RowSelector {
public:
  RowSelector(ArgSelectOp op, OpBuilder &b, Value numKeys)
      : op(op), b(b), loc(op.getLoc()),
        element(
            cast<RankedTensorType>(op.getScores().getType()).getElementType()),
        e(b, loc, element), numKeys(numKeys),
        zero(arith::ConstantIndexOp::create(b, loc, 0)),
        one(arith::ConstantIndexOp::create(b, loc, 1)),
        batch(linalg::IndexOp::create(b, loc, 0)),
        row(linalg::IndexOp::create(b, loc, 1)) {}

  /// The position of the last visible key, -1 with none.
  Value selectLast() {
    auto scan = scf::ForOp::create(
        b, loc, zero, numKeys, one, e.intConstant(-1),
        [&](OpBuilder &, Location, Value key, ValueRange last) {
          Value visible = isVisible(load(op.getScores(), key));
          yield(e.select(visible, toPosition(key), last[0]));
        });
    return scan.getResult(0);
  }

  /// The position of the rank-th candidate, or of the last one found, -1 with
  /// none.
  Value selectRank() {
    Value ranks = arith::ConstantIndexOp::create(b, loc, op.getRank());
    auto scan = scf::ForOp::create(
        b, loc, zero, ranks, one, {infinity(), e.intConstant(-1)},
        [&](OpBuilder &, Location, Value, ValueRange previous) {
          Candidate next = findNext({previous[0], previous[1]});
          Value found = e.intLess(e.intConstant(-1), next.position);
          yield({e.select(found, next.score, previous[0]),
                 e.select(found, next.position, previous[1])});
        });
    return scan.getResult(1);
  }

private:
  /// The best candidate behind `previous`; position -1 with none.
  Candidate findNext(Candidate previous) {
    auto scan = scf::ForOp::create(
        b, loc, zero, numKeys, one, {negativeInfinity(), e.intConstant(-1)},
        [&](OpBuilder &, Location, Value key, ValueRange best) {
          Value raw = load(op.getScores(), key);
          Candidate current = {orient(raw), toPosition(key)};
          Value takes = isCandidate(raw, key);
          takes = e.logicalAnd(takes, isBehind(current, previous));
          takes = e.logicalAnd(takes, isBetter(current, {best[0], best[1]}));
          yield({e.select(takes, current.score, best[0]),
                 e.select(takes, current.position, best[1])});
        });
    return {scan.getResult(0), scan.getResult(1)};
  }

  /// Ties keep the earlier position; the first one always enters.
  Value isBetter(Candidate current, Candidate best) {
    Value isLarger = e.greater(current.score, best.score);
    Value isFirst = e.intLess(best.position, e.intConstant(0));
    return either(isLarger, isFirst);
  }

  Value isBehind(Candidate current, Candidate previous) {
    Value isTie = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ,
                                        current.score, previous.score);
    Value isLater = e.intLess(previous.position, current.position);
    Value isBehindTie = e.logicalAnd(isTie, isLater);
    return either(isBehindTie, e.less(current.score, previous.score));
  }

  Value isCandidate(Value score, Value key) {
    Value visible = isVisible(score);
    if (!op.getWeights())
      return visible;
    Value weight = load(op.getWeights(), key);
    return e.logicalAnd(visible,
                        e.greater(weight, e.constant(kWeightThreshold)));
  }

  Value isVisible(Value score) { return e.greater(score, negativeInfinity()); }
  Value orient(Value score) {
    if (op.getOrder() == Order::Largest)
      return score;
    return arith::NegFOp::create(b, loc, score);
  }
  Value load(Value tensor, Value key) {
    return tensor::ExtractOp::create(b, loc, tensor,
                                     ValueRange{batch, row, key});
  }
  Value toPosition(Value key) {
    return arith::IndexCastOp::create(b, loc, b.getI32Type(), key);
  }
  Value either(Value first, Value second) {
    return arith::OrIOp::create(b, loc, first, second);
  }
  Value infinity() {
    return e.constant(std::numeric_limits<double>::infinity());
  }
  Value negativeInfinity() {
    return e.constant(-std::numeric_limits<double>::infinity());
  }
  void yield(ValueRange values) { scf::YieldOp::create(b, loc, values); }

  ArgSelectOp op;
  OpBuilder &b;
  Location loc;
  Type element;
  ElementBuilder e;
  Value numKeys, zero, one, batch, row;
};

struct LowerArgSelect : public OpRewritePattern<ArgSelectOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ArgSelectOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value numKeys = tensor::DimOp::create(rewriter, loc, op.getScores(), 2);
    Value empty = makeEmpty(rewriter, loc, op.getPositions().getType(),
                            getSizes(rewriter, loc, op.getScores(), {0, 1}));
    Value positions =
        buildGeneric(rewriter, loc, 2, {}, {empty, {0, 1}},
                     [&](OpBuilder &b, Location loc, ValueRange) -> Value {
                       RowSelector selector(op, b, numKeys);
                       Value found = op.getOrder() == Order::Last
                                         ? selector.selectLast()
                                         : selector.selectRank();
                       Value none = arith::ConstantIntOp::create(b, loc, 0, 32);
                       return arith::MaxSIOp::create(b, loc, found, none);
                     });
    rewriter.replaceOp(op, positions);
    return success();
  }
};

} // namespace

void raytention::populateSelectToLinalg(RewritePatternSet &patterns) {
  patterns.add<LowerArgSelect>(patterns.getContext());
}
