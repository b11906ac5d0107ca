//===- ProducerFuser.cpp - producers pulled into a loop body ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/ProducerFuser.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/Slicer.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace raytention;

Value raytention::castTo(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(b, loc, type, value);
}

Operation *raytention::cloneOnto(OpBuilder &b, Operation *op,
                                 ValueRange inits) {
  Operation *copy = b.clone(*op);
  cast<DestinationStyleOpInterface>(copy).getDpsInitsMutable().assign(inits);
  for (auto [result, init] : llvm::zip(copy->getResults(), inits))
    result.setType(init.getType());
  return copy;
}

bool raytention::hasNoElements(Type type) {
  return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
}

bool raytention::isIdle(Operation *sweep) {
  return llvm::all_of(cast<DestinationStyleOpInterface>(sweep).getDpsInits(),
                      [](Value init) { return hasNoElements(init.getType()); });
}

//===----------------------------------------------------------------------===//
// Slices of slices
//===----------------------------------------------------------------------===//

static bool isPlain(tensor::ExtractSliceOp slice) {
  return slice.hasUnitStride() &&
         slice.getSourceType().getRank() == slice.getType().getRank();
}

/// Whether a slice takes all of its source.
static bool isWhole(tensor::ExtractSliceOp slice) {
  if (!isPlain(slice) || !llvm::all_of(slice.getMixedOffsets(), isZeroInteger))
    return false;
  for (auto [axis, size] : llvm::enumerate(slice.getMixedSizes())) {
    OpFoldResult whole = findSize(slice.getSource(), axis);
    if (!whole || !isEqualConstantIntOrValue(whole, size))
      return false;
  }
  return true;
}

/// Makes a slice of a slice, or of a cast, a slice of the original.
static void shortenSource(RewriterBase &rewriter,
                          tensor::ExtractSliceOp slice) {
  while (true) {
    if (auto cast = slice.getSource().getDefiningOp<tensor::CastOp>()) {
      slice.getSourceMutable().assign(cast.getSource());
      continue;
    }
    auto outer = slice.getSource().getDefiningOp<tensor::ExtractSliceOp>();
    if (!outer || !isPlain(outer) || !isPlain(slice))
      return;
    rewriter.setInsertionPoint(slice);
    SmallVector<OpFoldResult> offsets;
    for (auto [lhs, rhs] :
         llvm::zip(outer.getMixedOffsets(), slice.getMixedOffsets()))
      offsets.push_back(addOffsets(rewriter, slice.getLoc(), lhs, rhs));
    SmallVector<int64_t> fixed;
    SmallVector<Value> dynamic;
    dispatchIndexOpFoldResults(offsets, dynamic, fixed);
    rewriter.modifyOpInPlace(slice, [&] {
      slice.getSourceMutable().assign(outer.getSource());
      slice.setStaticOffsets(fixed);
      slice.getOffsetsMutable().assign(dynamic);
    });
  }
}

/// What stands for a slice without elements.
static Value makeEmpty(OpBuilder &b, tensor::ExtractSliceOp slice) {
  SmallVector<Value> sizes;
  for (int64_t axis = 0, rank = slice.getType().getRank(); axis < rank; ++axis)
    if (slice.getType().isDynamicDim(axis))
      sizes.push_back(cast<Value>(findSize(slice, axis)));
  return tensor::EmptyOp::create(b, slice.getLoc(), slice.getType(), sizes);
}

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

void ProducerFuser::setTile(Operation *whole, ValueRange tile) {
  for (auto [from, to] : llvm::zip(whole->getResults(), tile))
    tiles[from] = to;
}

void ProducerFuser::fuse(ArrayRef<Operation *> slices) {
  for (Operation *op : slices) {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    Value tile = fuseOne(slice);
    if (tile == slice.getResult())
      continue;
    rewriter.setInsertionPoint(slice);
    rewriter.replaceOp(slice,
                       castTo(rewriter, slice.getLoc(), tile, slice.getType()));
  }
}

Value ProducerFuser::fuseOne(tensor::ExtractSliceOp slice) {
  Value source = slice.getSource();
  while (auto cast = source.getDefiningOp<tensor::CastOp>())
    source = cast.getSource();
  if (Value tile = tiles.lookup(source))
    return tile;
  if (isWhole(slice))
    return slice.getSource();
  auto producer = dyn_cast<OpResult>(source);
  if (producer && isPlain(slice)) {
    if (Value tile = findTile(slice, producer))
      return tile;
    rewriter.setInsertionPoint(slice);
    if (Value tile = produce(slice, producer)) {
      fused.push_back(
          {producer, slice.getMixedOffsets(), slice.getMixedSizes(), tile});
      return tile;
    }
  }
  if (hasNoElements(source.getType()) || hasNoElements(slice.getType())) {
    rewriter.setInsertionPoint(slice);
    return makeEmpty(rewriter, slice);
  }
  shortenSource(rewriter, slice);
  return slice;
}

Value ProducerFuser::findTile(tensor::ExtractSliceOp slice, OpResult producer) {
  for (const Fused &known : fused)
    if (known.whole == producer &&
        isEqualConstantIntOrValueArray(known.offsets,
                                       slice.getMixedOffsets()) &&
        isEqualConstantIntOrValueArray(known.sizes, slice.getMixedSizes()))
      return known.tile;
  return {};
}

/// The rows that a slice of a lookup takes, looked up alone.
static LookupOp lookUpSlice(OpBuilder &b, tensor::ExtractSliceOp slice,
                            LookupOp op) {
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  auto ids = tensor::ExtractSliceOp::create(
      b, slice.getLoc(), op.getIndices(),
      ArrayRef(slice.getMixedOffsets()).take_front(2),
      ArrayRef(slice.getMixedSizes()).take_front(2), strides);
  return LookupOp::create(b, op.getLoc(), slice.getType(), op.getTable(), ids);
}

/// The initial state of the rows of a slice.
static InitOp initSlice(OpBuilder &b, tensor::ExtractSliceOp slice, InitOp op) {
  auto size = [&](int64_t axis) {
    return getValueOrCreateConstantIndexOp(b, op.getLoc(),
                                           slice.getMixedSizes()[axis]);
  };
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    SmallVector<int64_t> shape(slice.getType().getShape());
    shape.back() = cast<RankedTensorType>(type).getShape().back();
    types.push_back(cast<RankedTensorType>(type).clone(shape));
  }
  return InitOp::create(b, op.getLoc(), types[0], types[1], op.getSweepAttr(),
                        op.getChannelsAttr(), size(0), size(1), Value());
}

static Value fillSlice(OpBuilder &b, tensor::ExtractSliceOp slice,
                       linalg::FillOp op) {
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), slice.getMixedSizes(),
                                        slice.getType().getElementType());
  return linalg::FillOp::create(b, op.getLoc(), op.getInputs(), empty)
      .getResult(0);
}

/// The rows of a gradient that a slice of its rows or of its stack needs.
static GradRowsOp prepareSlice(OpBuilder &b, tensor::ExtractSliceOp slice,
                               GradRowsOp op, unsigned number,
                               SmallVectorImpl<Operation *> &slices) {
  unsigned axis = number == 0 ? 1 : 2;
  SmallVector<OpFoldResult> offsets = {slice.getMixedOffsets()[0],
                                       slice.getMixedOffsets()[axis]};
  SmallVector<OpFoldResult> sizes = {slice.getMixedSizes()[0],
                                     slice.getMixedSizes()[axis]};
  pairs::Slicer cut(b, op.getLoc(), offsets, sizes);
  SmallVector<pairs::Axis> perRow = {pairs::Batch, pairs::Row, pairs::Whole};
  Value signals = cut(op.getSignals(), perRow);
  Value norm = cut(op.getNorm(), {pairs::Batch, pairs::Row});
  Value logSums = cut(op.getLogSums(), perRow);
  Value gradient = cut(op.getGradient(), perRow);
  Value lengths = cut(op.getLengths(), {pairs::Batch});
  slices = cut.slices;
  auto resize = [&](Value value, unsigned rowAxis) {
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    ArrayRef<int64_t> tile = slice.getType().getShape();
    shape[0] = tile[0];
    shape[rowAxis] = tile[axis];
    return cast<RankedTensorType>(value.getType()).clone(shape);
  };
  return GradRowsOp::create(
      b, op.getLoc(), resize(op.getRows(), 1), resize(op.getStack(), 2),
      signals, norm, logSums, gradient, op.getTau(), op.getGammas(),
      cut.shift(op.getRow(), pairs::Row), op.getKeys(), lengths,
      op.getChannelsAttr(), op.getDecayOriginAttr());
}

Value ProducerFuser::produce(tensor::ExtractSliceOp slice, OpResult producer) {
  return llvm::TypeSwitch<Operation *, Value>(producer.getOwner())
      .Case([&](DistanceOp op) -> Value {
        FailureOr<TilingResult> tile = op.generateResultTileValue(
            rewriter, producer.getResultNumber(), slice.getMixedOffsets(),
            slice.getMixedSizes());
        if (failed(tile))
          return {};
        fuse(tile->generatedSlices);
        return tile->tiledValues.front();
      })
      .Case([&](LookupOp op) -> Value {
        if (cast<RankedTensorType>(op.getTable().getType()).getRank() != 2)
          return {};
        LookupOp rows = lookUpSlice(rewriter, slice, op);
        fuse({rows.getIndices().getDefiningOp()});
        return rows;
      })
      .Case([&](InitOp op) -> Value {
        if (op.getParts())
          return {};
        InitOp init = initSlice(rewriter, slice, op);
        return init->getResult(producer.getResultNumber());
      })
      .Case([&](linalg::FillOp op) { return fillSlice(rewriter, slice, op); })
      .Case([&](GradRowsOp op) -> Value {
        SmallVector<Operation *> slices;
        GradRowsOp tile = prepareSlice(rewriter, slice, op,
                                       producer.getResultNumber(), slices);
        fuse(slices);
        return tile->getResult(producer.getResultNumber());
      })
      .Default([](Operation *) { return Value(); });
}
