//===- DecomposePass.cpp - rt.attend in reference ops -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Decompose/GenericBuilder.h"
#include "passes/Decompose/Passes.h"

#include "dialect/RayTention/SweepLayout.h"
#include "dialect/RayTention/TensorBuilder.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Transforms/DialectConversion.h"

namespace raytention {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Decompose/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// `value` as `type`, which may know more or fewer sizes.
Value castTo(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(b, loc, type, value);
}

/// A per-row scalar [B, Tq] as a tensor [B, Tq, 1].
Value addUnitAxis(OpBuilder &b, Location loc, Value value) {
  if (typeOf(value).getRank() == 3)
    return value;
  Type element = typeOf(value).getElementType();
  SmallVector<ReassociationIndices> groups = {{0}, {1, 2}};
  return tensor::ExpandShapeOp::create(
      b, loc, getTypeLike(value, {0, 1}, {1}, element), value, groups);
}

/// Tensors [B, Tq, width] (or [B, Tq]) beside each other along the last axis,
/// `width` wide altogether; [B, Tq] as in `like`.
Value concatenate(OpBuilder &b, Location loc, ArrayRef<Value> parts,
                  int64_t width, Type element, Value like) {
  Value whole = makeEmpty(b, loc, getTypeLike(like, {0, 1}, {width}, element),
                          like, {0, 1});
  SmallVector<OpFoldResult> strides(3, b.getIndexAttr(1));
  int64_t begin = 0;
  for (Value part : parts) {
    part = addUnitAxis(b, loc, part);
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(0), b.getIndexAttr(0),
                                         b.getIndexAttr(begin)};
    whole = tensor::InsertSliceOp::create(b, loc, part, whole, offsets,
                                          tensor::getMixedSizes(b, loc, part),
                                          strides);
    begin += typeOf(part).getDimSize(2);
  }
  return whole;
}

struct DecomposeAttend : public OpRewritePattern<AttendOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AttendOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    DecomposeContext context = buildWeights(op, rewriter);
    if (savesLogSums(op)) {
      op.emitOpError() << "saves log_sums, which the reference does not keep";
      return rewriter.notifyMatchFailure(op, "saves log_sums");
    }
    SmallVector<Value> values, positions;
    for (Attribute channel : op.getChannels()) {
      auto parts = cast<ChannelInterface>(channel).decompose(context);
      if (!parts.value) {
        op.emitOpError() << "the channel " << channel
                         << " has no reference form";
        return rewriter.notifyMatchFailure(op, "channel without decompose");
      }
      values.push_back(parts.value);
      if (parts.positions)
        positions.push_back(parts.positions);
    }
    int64_t width = typeOf(op.getSignals()).getDimSize(2);
    Value x = concatenate(rewriter, loc, values, width, context.element,
                          op.getQueries());
    auto normalized = NormalizeOp::create(
        rewriter, loc, x.getType(), getTypeLike(x, {0, 1}, {}, context.element),
        x, op.getQueryOffset(), op.getLengths());
    replace(op, rewriter, normalized, positions);
    return success();
  }

private:
  static bool savesLogSums(AttendOp op) {
    auto logSums = SavedAttr::get(op.getContext(), Saved::LogSums);
    return op.getSavesAttr() && llvm::is_contained(op.getSavesAttr(), logSums);
  }

  static Value clearPadding(OpBuilder &b, AttendOp op, Value rows,
                            Value offset) {
    if (!op.getLengths())
      return rows;
    return ClearPaddingOp::create(b, op.getLoc(), rows.getType(), rows, offset,
                                  op.getLengths());
  }

  /// One past the last key that a row of each sequence sees, [B] of i64; 0
  /// where a sequence ends before its first row.
  static Value buildSeenEnds(OpBuilder &b, AttendOp op, Value keys) {
    Location loc = op.getLoc();
    Value offset = op.getQueryOffset();
    auto getCount = [&](Value rows) {
      return getValueOrCreateConstantIndexOp(
          b, loc, tensor::getMixedSize(b, loc, rows, 1));
    };
    auto toI64 = [](OpBuilder &b, Location loc, Value index) -> Value {
      return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
    };
    MaskInterface mask = getMaskOrCausal(op.getContext(), op.getMaskAttr());
    Value end =
        toI64(b, loc,
              mask.getVisibleEnd(b, loc, offset, getCount(op.getQueries()),
                                 getCount(keys)));
    SmallVector<OpFoldResult> batch = {tensor::getMixedSize(b, loc, keys, 0)};
    Value empty = tensor::EmptyOp::create(b, loc, batch, b.getI64Type());
    Value lengths = op.getLengths();
    if (!lengths)
      return linalg::FillOp::create(b, loc, end, empty).getResult(0);
    Value first = toI64(b, loc, offset);
    return buildGeneric(
        b, loc, 1, {{lengths, {0}}}, {empty, {0}},
        [&](OpBuilder &b, Location loc, ValueRange args) -> Value {
          Value none = arith::ConstantIntOp::create(b, loc, 0, 64);
          Value hasRows = arith::CmpIOp::create(
              b, loc, arith::CmpIPredicate::slt, first, args[0]);
          Value own = arith::SelectOp::create(b, loc, hasRows, args[0], none);
          return arith::MinSIOp::create(b, loc, own, end);
        });
  }

  /// Keys that no row sees as zeros, whatever stands there.
  static Value clearUnseen(OpBuilder &b, AttendOp op, Value keys) {
    if (!op.getQueryOffset())
      return clearPadding(b, op, keys, Value());
    Value ends = buildSeenEnds(b, op, keys);
    return ClearPaddingOp::create(b, op.getLoc(), keys.getType(), keys, Value(),
                                  ends);
  }

  /// What all channels share: keys, distances, scores and weights.
  DecomposeContext buildWeights(AttendOp op, OpBuilder &b) const {
    Location loc = op.getLoc();
    Type element = typeOf(op.getSignals()).getElementType();
    RankedTensorType queries = typeOf(op.getQueries());
    RankedTensorType ids = typeOf(op.getIds());
    auto keysType = RankedTensorType::get(
        {ids.getDimSize(0), ids.getDimSize(1), queries.getDimSize(2)}, element);
    Value keys = LookupOp::create(b, loc, keysType, op.getTable(), op.getIds());
    keys = clearUnseen(b, op, keys);
    Value rows = clearPadding(b, op, op.getQueries(), op.getQueryOffset());
    Value distances = DistanceOp::create(
        b, loc,
        getTypeLike(op.getQueries(), {0, 1}, {ids.getDimSize(1)}, element),
        rows, keys, op.getMetricAttr(), op.getPrecisionAttr());
    auto softmax = SoftmaxOp::create(
        b, loc, distances.getType(), distances.getType(), distances,
        op.getTau(), op.getQueryOffset(), op.getLengths(), op.getMaskAttr());
    return {b,
            loc,
            element,
            keys,
            distances,
            softmax.getScores(),
            softmax.getWeights(),
            op.getTau(),
            op.getGammas(),
            op.getQueryOffset(),
            op.getLengths(),
            op.getDecayOrigin()};
  }

  /// The signals, then the saved results in the order of `saves`.
  void replace(AttendOp op, PatternRewriter &rewriter, NormalizeOp normalized,
               ArrayRef<Value> positions) const {
    // rt.normalize cleared these; here it is for what a gradient brings.
    SmallVector<Value> results = {
        clearPadding(rewriter, op, normalized.getY(), op.getQueryOffset())};
    if (ArrayAttr saves = op.getSavesAttr())
      for (auto saved : saves.getAsRange<SavedAttr>())
        results.push_back(saved.getValue() == Saved::Norm
                              ? normalized.getNorm()
                              : concatenate(rewriter, op.getLoc(), positions,
                                            positions.size(),
                                            rewriter.getI32Type(),
                                            op.getQueries()));
    for (auto [value, type] : llvm::zip(results, op->getResultTypes()))
      value = castTo(rewriter, op.getLoc(), value, type);
    rewriter.replaceOp(op, results);
  }
};

struct DecomposePass
    : public raytention::impl::DecomposePassBase<DecomposePass> {
  void runOnOperation() override {
    countAttends();
    ConversionTarget target(getContext());
    target.addIllegalOp<AttendOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeAttend>(&getContext());
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }

  void countAttends() {
    getOperation().walk([&](AttendOp op) {
      ++numAttends;
      numChannels += op.getChannels().size();
    });
  }
};

} // namespace
