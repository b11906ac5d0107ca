//===- FuseGradientPass.cpp - a gradient's products, once ---------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/RayTention.h"
#include "passes/Fuse/Passes.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace raytention {
#define GEN_PASS_DEF_FUSEGRADIENTPASS
#include "passes/Fuse/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// The loops of every product here.
enum Loop : unsigned { Batch, Channel, Row, Key, Width };

/// Builds what one sweep does.
class BodyBuilder {
public:
  BodyBuilder(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// `outs += sum of lhs rhs` over the loops that do not index the result.
  Value contract(Value lhs, ArrayRef<Loop> lhsLoops, Value rhs,
                 ArrayRef<Loop> rhsLoops, Value outs, ArrayRef<Loop> outLoops) {
    ArrayAttr maps =
        b.getAffineMapArrayAttr(getMaps({lhsLoops, rhsLoops, outLoops}));
    return linalg::ContractOp::create(b, loc, TypeRange{outs.getType()},
                                      ValueRange{lhs, rhs}, ValueRange{outs},
                                      maps)
        ->getResult(0);
  }

  /// `G_ci . k_j` of every weighted channel, [B, C, Tq, T].
  Value buildProducts(Value stack, Value keys, Value distances) {
    auto pairs = cast<RankedTensorType>(distances.getType());
    int64_t numWeighted = cast<RankedTensorType>(stack.getType()).getDimSize(1);
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis = 0; axis < 3; ++axis)
      sizes.push_back(getTypedSize(b, loc, distances, axis));
    sizes.insert(sizes.begin() + 1, b.getIndexAttr(numWeighted));
    Value empty =
        tensor::EmptyOp::create(b, loc, sizes, pairs.getElementType());
    if (numWeighted == 0)
      return empty;
    Value zero = arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getZeroAttr(pairs.getElementType())));
    Value zeros = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
    return contract(stack, {Batch, Channel, Row, Width}, keys,
                    {Batch, Key, Width}, zeros, {Batch, Channel, Row, Key});
  }

  /// The weights and coefficients of the pairs of `op`, added up in
  /// `accumulators` if there are any.
  template <typename Op>
  WeighGradOp weigh(Op op, Value products, Value accumulators) {
    return WeighGradOp::create(
        b, loc, products.getType(), op.getDistances().getType(),
        accumulators ? accumulators.getType() : Type(), op.getDistances(),
        op.getRows(), products, op.getTau(), op.getGammas(), op.getRow(),
        op.getKey(), op.getLengths(), accumulators, op.getChannelsAttr(),
        op.getMetricAttr(), op.getMaskAttr());
  }

  /// Coefficients times differences of the queries and keys.
  Value sumDifferences(PairSide side, WeighGradOp weights, DistanceOp distance,
                       Value sums) {
    return SumDifferencesOp::create(
               b, loc, sums.getType(), PairSideAttr::get(b.getContext(), side),
               weights.getCoefficients(), distance.getQueries(),
               distance.getKeys(), distance.getDistances(), sums,
               distance.getMetricAttr(), distance.getPrecisionAttr())
        .getSums();
  }

private:
  /// Loops that no operand uses get no number.
  SmallVector<AffineMap> getMaps(ArrayRef<ArrayRef<Loop>> operands) {
    SmallVector<unsigned> number(Width + 1, ~0u);
    unsigned count = 0;
    for (unsigned loop = Batch; loop <= Width; ++loop)
      if (llvm::any_of(operands, [&](ArrayRef<Loop> loops) {
            return llvm::is_contained(loops, Loop(loop));
          }))
        number[loop] = count++;
    SmallVector<AffineMap> maps;
    for (ArrayRef<Loop> loops : operands) {
      SmallVector<AffineExpr> exprs;
      for (Loop loop : loops)
        exprs.push_back(b.getAffineDimExpr(number[loop]));
      maps.push_back(AffineMap::get(count, 0, exprs, b.getContext()));
    }
    return maps;
  }

  OpBuilder &b;
  Location loc;
};

struct FuseGradientPass
    : public raytention::impl::FuseGradientPassBase<FuseGradientPass> {
  void runOnOperation() override {
    SmallVector<Operation *> sweeps;
    getOperation().walk([&](Operation *op) {
      if (isa<QueryGradSweepOp, KeyGradSweepOp>(op))
        sweeps.push_back(op);
    });
    for (Operation *sweep : sweeps) {
      LogicalResult fused = isa<QueryGradSweepOp>(sweep)
                                ? fuse(cast<QueryGradSweepOp>(sweep))
                                : fuse(cast<KeyGradSweepOp>(sweep));
      if (failed(fused))
        return signalPassFailure();
      ++numFused;
    }
  }

  static FailureOr<DistanceOp> getDistance(Operation *op, Value distances) {
    if (auto distance = distances.getDefiningOp<DistanceOp>())
      return distance;
    return op->emitOpError() << "expected its distances from rt.distance";
  }

  /// The pairs of the other sweep, if they are those of `op`.
  static WeighGradOp findPairs(KeyGradSweepOp op) {
    for (Operation *user : op.getDistances().getUsers()) {
      auto pairs = dyn_cast<WeighGradOp>(user);
      auto describe = [](auto op) {
        return std::tuple(op.getRows(), op.getTau(), op.getGammas(),
                          op.getRow(), op.getKey(), op.getLengths(),
                          op.getChannelsAttr(), op.getMetricAttr(),
                          op.getMaskAttr());
      };
      if (pairs && pairs->getBlock() == op->getBlock() &&
          pairs->isBeforeInBlock(op) && describe(pairs) == describe(op))
        return pairs;
    }
    return {};
  }

  LogicalResult fuse(QueryGradSweepOp op) {
    FailureOr<DistanceOp> distance = getDistance(op, op.getDistances());
    if (failed(distance))
      return failure();
    IRRewriter rewriter(op);
    BodyBuilder body(rewriter, op.getLoc());
    Value products =
        body.buildProducts(op.getStack(), op.getKeys(), op.getDistances());
    WeighGradOp weights = body.weigh(op, products, op.getFloatsIn());
    Value sums = body.sumDifferences(PairSide::Query, weights, *distance,
                                     op.getSumsIn());
    rewriter.replaceOp(op, {weights.getFloats(), sums});
    return success();
  }

  LogicalResult fuse(KeyGradSweepOp op) {
    FailureOr<DistanceOp> distance = getDistance(op, op.getDistances());
    if (failed(distance))
      return failure();
    IRRewriter rewriter(op);
    BodyBuilder body(rewriter, op.getLoc());
    WeighGradOp weights = findPairs(op);
    if (!weights)
      weights =
          body.weigh(op,
                     body.buildProducts(op.getStack(), distance->getKeys(),
                                        op.getDistances()),
                     Value());
    Value sums = op.getSumsIn();
    if (GradientLayout layout = GradientLayout::get(op.getChannels());
        layout.numWeighted > 0)
      sums = body.contract(weights.getWeights(), {Batch, Channel, Row, Key},
                           op.getStack(), {Batch, Channel, Row, Width}, sums,
                           {Batch, Key, Width});
    sums = body.sumDifferences(PairSide::Key, weights, *distance, sums);
    if (getNumCopies(op.getChannels()) > 0)
      sums = CopyGradOp::create(rewriter, op.getLoc(), sums.getType(),
                                op.getRows(), op.getSignals(), op.getGradient(),
                                op.getIndices(), op.getKey(), sums,
                                op.getChannelsAttr())
                 .getSums();
    rewriter.replaceOp(op, sums);
    return success();
  }
};

} // namespace
