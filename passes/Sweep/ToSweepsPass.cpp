//===- ToSweepsPass.cpp - rt.attend as two sweeps and a finish --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/GradientLayout.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"
#include "passes/Sweep/GradientSweeps.h"
#include "passes/Sweep/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

namespace raytention {
#define GEN_PASS_DEF_TOSWEEPSPASS
#include "passes/Sweep/Passes.h.inc"
} // namespace raytention

using namespace mlir;
using namespace raytention;

namespace {

/// Builds the sweeps of one attention, front to back.
class SweepBuilder {
public:
  SweepBuilder(OpBuilder &b, AttendOp op) : b(b), op(op), loc(op.getLoc()) {
    auto queries = cast<RankedTensorType>(op.getQueries().getType());
    auto ids = cast<RankedTensorType>(op.getIds().getType());
    element =
        cast<RankedTensorType>(op.getSignals().getType()).getElementType();
    dModel = queries.getDimSize(2);
    batch = getSize(op.getQueries(), 0);
    // One of the two may know the batch statically.
    if (queries.isDynamicDim(0) && !ids.isDynamicDim(0))
      batch = getSize(op.getIds(), 0);
    rows = getSize(op.getQueries(), 1);
    length = getSize(op.getIds(), 1);
    llvm::SetVector<Attribute> distinct(op.getChannels().begin(),
                                        op.getChannels().end());
    channels = b.getArrayAttr(distinct.getArrayRef());
    layout = SweepLayout::get(channels);
  }

  /// The finish, with signals, norm and indices.
  FinalizeOp build() {
    row = op.getQueryOffset();
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    if (!row)
      row = zero;
    Type stored = getElementTypeOrSelf(op.getTable().getType());
    keys = LookupOp::create(b, loc,
                            getType({batch, length, fixed(dModel)}, stored),
                            op.getTable(), op.getIds());
    distances = DistanceOp::create(b, loc, getType({batch, rows, length}),
                                   op.getQueries(), keys, op.getMetricAttr(),
                                   op.getPrecisionAttr());
    ScoreSweepOp score = buildScoreSweep();
    return buildFinish(score, buildReduceSweep(score));
  }

  int64_t getNumChannels() const { return channels.size(); }

private:
  OpFoldResult fixed(int64_t size) { return b.getIndexAttr(size); }
  OpFoldResult getSize(Value value, int64_t axis) {
    return tensor::getMixedSize(b, loc, value, axis);
  }
  Value getIndex(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(b, loc, size);
  }
  RankedTensorType getType(ArrayRef<OpFoldResult> sizes, Type type = {}) {
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(sizes, dynamic, shape);
    return RankedTensorType::get(shape, type ? type : element);
  }

  InitOp buildInit(SweepKind kind) {
    return InitOp::create(
        b, loc, getType({batch, rows, fixed(layout.numFloats(kind))}),
        getType({batch, rows, fixed(layout.numInts(kind))}, b.getI32Type()),
        SweepKindAttr::get(b.getContext(), kind), channels, getIndex(batch),
        getIndex(rows), Value());
  }

  ScoreSweepOp buildScoreSweep() {
    InitOp init = buildInit(SweepKind::Score);
    return ScoreSweepOp::create(
        b, loc, init->getResultTypes(), distances, op.getTau(), op.getGammas(),
        row, zero, init.getFloats(), init.getPositions(), op.getLengths(),
        Value(), Value(), channels, op.getMaskAttr());
  }

  ReduceSweepOp buildReduceSweep(ScoreSweepOp score) {
    InitOp init = buildInit(SweepKind::Reduce);
    Value empty = tensor::EmptyOp::create(
        b, loc, {batch, fixed(layout.numWeighted), rows, fixed(dModel)},
        element);
    Value nought = arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getZeroAttr(element)));
    Value sums = linalg::FillOp::create(b, loc, nought, empty).getResult(0);
    SmallVector<Type> types(init->getResultTypes());
    types.push_back(sums.getType());
    return ReduceSweepOp::create(b, loc, types, distances, score.getFloats(),
                                 op.getTau(), op.getGammas(), keys, row, zero,
                                 op.getLengths(), init.getFloats(),
                                 init.getPositions(), sums, Value(), Value(),
                                 channels, ArrayAttr(), op.getMaskAttr());
  }

  FinalizeOp buildFinish(ScoreSweepOp score, ReduceSweepOp reduce) {
    int64_t width = getSignalWidth(op.getChannels(), dModel);
    int64_t copies = getNumCopies(op.getChannels());
    Value signals =
        tensor::EmptyOp::create(b, loc, {batch, rows, fixed(width)}, element);
    Value norm = tensor::EmptyOp::create(
        b, loc, ArrayRef<OpFoldResult>{batch, rows}, element);
    Value indices = tensor::EmptyOp::create(
        b, loc, {batch, rows, fixed(copies)}, b.getI32Type());
    SmallVector<Type> types = {signals.getType(), norm.getType(),
                               indices.getType()};
    Value logSums;
    if (saves(Saved::LogSums)) {
      int64_t saved = GradientLayout::get(op.getChannels()).numSaved;
      logSums =
          tensor::EmptyOp::create(b, loc, {batch, rows, fixed(saved)}, element);
      types.push_back(logSums.getType());
    }
    return FinalizeOp::create(
        b, loc, types, score.getFloats(), score.getPositions(),
        reduce.getFloats(), reduce.getPositions(), reduce.getSums(),
        op.getTable(), op.getIds(), op.getTau(), op.getGammas(), row, signals,
        norm, indices, logSums, op.getLengths(), op.getChannelsAttr(), channels,
        ArrayAttr(), op.getDecayOriginAttr());
  }

  bool saves(Saved saved) {
    ArrayAttr saves = op.getSavesAttr();
    return saves &&
           llvm::is_contained(saves, SavedAttr::get(b.getContext(), saved));
  }

  OpBuilder &b;
  AttendOp op;
  Location loc;
  Type element;
  int64_t dModel;
  OpFoldResult batch, rows, length;
  ArrayAttr channels;
  SweepLayout layout;
  Value row, zero, keys, distances;
};

Value getSaved(FinalizeOp finish, Saved saved) {
  switch (saved) {
  case Saved::Norm:
    return finish.getNorm();
  case Saved::Indices:
    return finish.getIndices();
  case Saved::LogSums:
    return finish.getLogSums();
  }
  llvm_unreachable("a saved value is one of the enum");
}

/// The results of the attention, in its order; sizes that only one side knows
/// statically need a cast.
void replaceAttention(IRRewriter &rewriter, AttendOp op, FinalizeOp finish) {
  SmallVector<Value> results = {finish.getSignals()};
  if (ArrayAttr saves = op.getSavesAttr())
    for (auto saved : saves.getAsRange<SavedAttr>())
      results.push_back(getSaved(finish, saved.getValue()));
  for (auto [result, type] : llvm::zip(results, op->getResultTypes()))
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
  rewriter.replaceOp(op, results);
}

struct ToSweepsPass : public raytention::impl::ToSweepsPassBase<ToSweepsPass> {
  void runOnOperation() override {
    SmallVector<AttendOp> attentions;
    getOperation().walk([&](AttendOp op) { attentions.push_back(op); });
    for (AttendOp op : attentions) {
      IRRewriter rewriter(op);
      SweepBuilder builder(rewriter, op);
      FinalizeOp finish = builder.build();
      numShared += op.getChannels().size() - builder.getNumChannels();
      replaceAttention(rewriter, op, finish);
      ++numAttentions;
    }
    SmallVector<AttendGradOp> gradients;
    getOperation().walk([&](AttendGradOp op) { gradients.push_back(op); });
    for (AttendGradOp op : gradients) {
      IRRewriter rewriter(op);
      sweepGradient(rewriter, op);
      ++numGradients;
    }
  }
};

} // namespace
