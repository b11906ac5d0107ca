//===- GradientSweeps.cpp - rt.attend_grad as sweeps ---------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Sweep/GradientSweeps.h"
#include "dialect/RayTention/GradientLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace raytention;

namespace {

/// Builds the sweeps of one gradient, front to back.
class GradientBuilder {
public:
  GradientBuilder(OpBuilder &b, AttendGradOp op)
      : b(b), op(op), loc(op.getLoc()),
        layout(GradientLayout::get(op.getChannels())) {
    element =
        cast<RankedTensorType>(op.getSignals().getType()).getElementType();
    batch = getSize(op.getQueries(), 0);
    rows = getSize(op.getQueries(), 1);
    dModel = getSize(op.getQueries(), 2);
    length = getSize(op.getIds(), 1);
    numKeys = getValueOrCreateConstantIndexOp(b, loc, length);
    zero = arith::ConstantIndexOp::create(b, loc, 0);
    row = op.getQueryOffset() ? op.getQueryOffset() : zero;
  }

  /// The four gradients, in the order of the op's results.
  SmallVector<Value> build() {
    Type stored = getElementTypeOrSelf(op.getTable().getType());
    keys = LookupOp::create(b, loc, getType({batch, length, dModel}, stored),
                            op.getTable(), op.getIds());
    distances = DistanceOp::create(b, loc, getType({batch, rows, length}),
                                   op.getQueries(), keys, op.getMetricAttr(),
                                   op.getPrecisionAttr());
    prepared = GradRowsOp::create(
        b, loc, getType({batch, rows, fixed(layout.numFields)}),
        getType({batch, fixed(layout.numWeighted), rows, dModel}),
        op.getSignals(), op.getNorm(), op.getLogSums(), op.getGradient(),
        op.getTau(), op.getGammas(), row, numKeys, op.getLengths(),
        op.getChannelsAttr(), op.getDecayOriginAttr());
    QueryGradOp query = buildQueryGradient();
    auto parameters = ParameterGradOp::create(b, loc, op.getTauGrad().getType(),
                                              op.getGammasGrad().getType(),
                                              query.getParameters());
    return {query.getQueriesGrad(), buildTableGradient(buildKeyGradient()),
            parameters.getTauGrad(), parameters.getGammasGrad()};
  }

private:
  OpFoldResult fixed(int64_t size) { return b.getIndexAttr(size); }
  OpFoldResult getSize(Value value, int64_t axis) {
    return tensor::getMixedSize(b, loc, value, axis);
  }
  RankedTensorType getType(ArrayRef<OpFoldResult> sizes, Type type = {}) {
    SmallVector<int64_t> shape;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(sizes, dynamic, shape);
    return RankedTensorType::get(shape, type ? type : element);
  }
  Value makeEmpty(ArrayRef<OpFoldResult> sizes) {
    return tensor::EmptyOp::create(b, loc, sizes, element);
  }
  Value makeZeros(ArrayRef<OpFoldResult> sizes) {
    Value nought = arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(b.getZeroAttr(element)));
    return linalg::FillOp::create(b, loc, nought, makeEmpty(sizes))
        .getResult(0);
  }

  QueryGradOp buildQueryGradient() {
    Value floats = makeZeros({batch, rows, fixed(layout.numStates)});
    Value sums = makeZeros({batch, rows, dModel});
    auto sweep = QueryGradSweepOp::create(
        b, loc, TypeRange{floats.getType(), sums.getType()}, distances,
        prepared.getRows(), prepared.getStack(), keys, op.getTau(),
        op.getGammas(), row, zero, floats, sums, op.getLengths(),
        op.getChannelsAttr(), op.getMetricAttr(), op.getMaskAttr());
    auto gammas = cast<RankedTensorType>(op.getGammas().getType());
    Value gradients = makeEmpty({batch, rows, dModel});
    Value parts = makeEmpty({batch, rows, fixed(1 + gammas.getDimSize(0))});
    return QueryGradOp::create(
        b, loc, TypeRange{gradients.getType(), parts.getType()},
        sweep.getFloats(), sweep.getSums(), prepared.getRows(), op.getTau(),
        op.getGammas(), row, numKeys, gradients, parts, op.getLengths(),
        op.getChannelsAttr(), op.getDecayOriginAttr());
  }

  Value buildKeyGradient() {
    Value sums = makeZeros({batch, length, dModel});
    auto sweep = KeyGradSweepOp::create(
        b, loc, TypeRange{sums.getType()}, distances, prepared.getRows(),
        prepared.getStack(), op.getQueries(), op.getSignals(), op.getGradient(),
        op.getIndices(), op.getTau(), op.getGammas(), row, zero, sums,
        op.getLengths(), op.getChannelsAttr(), op.getMetricAttr(),
        op.getMaskAttr());
    Value gradients = makeEmpty({batch, length, dModel});
    MaskInterface mask = getMaskOrCausal(op.getContext(), op.getMaskAttr());
    Value count = getValueOrCreateConstantIndexOp(b, loc, rows);
    Value seen = mask.getVisibleEnd(b, loc, row, count, numKeys);
    return KeyGradOp::create(b, loc, TypeRange{gradients.getType()},
                             sweep.getSums(), op.getTau(), op.getGammas(), zero,
                             seen, gradients, op.getLengths(),
                             op.getChannelsAttr())
        .getKeysGrad();
  }

  Value buildTableGradient(Value keysGradient) {
    Value zeros = makeZeros({getSize(op.getTable(), 0), dModel});
    return ScatterAddOp::create(b, loc, TypeRange{zeros.getType()},
                                keysGradient, zeros, op.getIds());
  }

  OpBuilder &b;
  AttendGradOp op;
  Location loc;
  GradientLayout layout;
  Type element;
  OpFoldResult batch, rows, length, dModel;
  Value row, zero, numKeys, keys, distances;
  GradRowsOp prepared;
};

} // namespace

void raytention::sweepGradient(RewriterBase &rewriter, AttendGradOp op) {
  SmallVector<Value> results = GradientBuilder(rewriter, op).build();
  for (auto [result, type] : llvm::zip(results, op->getResultTypes()))
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
  rewriter.replaceOp(op, results);
}
