//===- ProducerFuser.cpp - producers pulled into a loop body ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/ProducerFuser.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/Bufferization.h"
#include "passes/Tile/Bounds.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace raytention;

Value raytention::castTo(OpBuilder &b, Location loc, Value value, Type type) {
  if (value.getType() == type)
    return value;
  return tensor::CastOp::create(b, loc, type, value);
}

bool raytention::hasNoElements(Type type) {
  return llvm::is_contained(cast<RankedTensorType>(type).getShape(), 0);
}

std::optional<unsigned> raytention::getSummedLoop(Operation *op) {
  auto tiled = dyn_cast<TilingInterface>(op);
  if (!tiled)
    return std::nullopt;
  // The result of a product that rt.weigh_grad reads has an entry per pair.
  if (isa<linalg::ContractOp>(op) &&
      llvm::any_of(op->getUsers(), llvm::IsaPred<WeighGradOp>))
    return std::nullopt;
  std::optional<unsigned> summed;
  for (auto [loop, kind] : llvm::enumerate(tiled.getLoopIteratorTypes()))
    if (kind == utils::IteratorType::reduction)
      summed = loop;
  return summed;
}

bool raytention::isTotal(OpResult result) {
  return tile::getInit(result.getOwner(), result.getResultNumber()) &&
         getSummedLoop(result.getOwner());
}

Operation *raytention::getContinuedSum(Operation *op) {
  if (!isa<linalg::ContractOp, SumDifferencesOp, CopyGradOp>(op))
    return nullptr;
  auto init = dyn_cast<OpResult>(tile::getInit(op, 0)->get());
  Operation *before = init ? init.getOwner() : nullptr;
  if (!isa_and_present<linalg::ContractOp, SumDifferencesOp, CopyGradOp>(
          before) ||
      before->getBlock() != op->getBlock() || !getSummedLoop(before))
    return nullptr;
  bool isReadElsewhere = llvm::any_of(init.getUsers(), [&](Operation *user) {
    return user != op && !isa<tensor::DimOp>(user);
  });
  return isReadElsewhere ? nullptr : before;
}

LoopSizes raytention::getLoopSizes(OpBuilder &b, TilingInterface op) {
  LoopSizes sizes;
  for (const Range &range : op.getIterationDomain(b)) {
    OpFoldResult size = range.size;
    auto value = dyn_cast<Value>(size);
    auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    if (std::optional<int64_t> axis =
            dim ? dim.getConstantIndex() : std::nullopt)
      size = getTypedSize(b, op.getLoc(), dim.getSource(), *axis);
    sizes.push_back(size);
  }
  return sizes;
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
  for (auto [axis, size] : llvm::enumerate(slice.getMixedSizes()))
    if (!isSizeOf(size, slice.getSource(), axis))
      return false;
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

void ProducerFuser::setTile(TilingInterface whole, Operation *tile,
                            ArrayRef<OpFoldResult> offsets,
                            ArrayRef<OpFoldResult> sizes) {
  for (OpResult result : whole->getResults()) {
    unsigned number = result.getResultNumber();
    if (number >= tile->getNumResults())
      continue;
    SmallVector<OpFoldResult> begin, extent;
    if (failed(whole.getResultTilePosition(rewriter, number, offsets, sizes,
                                           begin, extent)))
      continue;
    for (OpFoldResult &size : extent)
      size = resolveSize(size);
    tiles.push_back({result, begin, extent, tile->getResult(number)});
  }
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

static Value stripCasts(Value tensor) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
    tensor = cast.getSource();
  return tensor;
}

Value ProducerFuser::fuseOne(tensor::ExtractSliceOp slice) {
  Value source = stripCasts(slice.getSource());
  if (Value own = known.lookup(source);
      own && !hasNoElements(slice.getType())) {
    slice.getSourceMutable().assign(own);
    return isWhole(slice) ? own : slice;
  }
  if (isWhole(slice))
    return slice.getSource();
  shortenSource(rewriter, slice);
  source = stripCasts(slice.getSource());
  auto producer = dyn_cast<OpResult>(source);
  if (producer && isPlain(slice)) {
    if (Value tile = findTile(slice, producer))
      return tile;
    rewriter.setInsertionPoint(slice);
    if (Value tile = produce(slice, producer))
      return tile;
  }
  if (hasNoElements(source.getType()) || hasNoElements(slice.getType())) {
    rewriter.setInsertionPoint(slice);
    return makeEmpty(rewriter, slice);
  }
  return slice;
}

Value ProducerFuser::findTile(tensor::ExtractSliceOp slice, OpResult producer) {
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  for (OpFoldResult &size : sizes)
    size = resolveSize(size);
  for (const Tile &known : tiles)
    if (known.whole == producer &&
        isEqualConstantIntOrValueArray(known.offsets,
                                       slice.getMixedOffsets()) &&
        llvm::equal(known.sizes, sizes, isSameSize))
      return known.tile;
  return {};
}

static Value fillSlice(OpBuilder &b, tensor::ExtractSliceOp slice,
                       linalg::FillOp op) {
  Value empty = tensor::EmptyOp::create(b, op.getLoc(), slice.getMixedSizes(),
                                        slice.getType().getElementType());
  return linalg::FillOp::create(b, op.getLoc(), op.getInputs(), empty)
      .getResult(0);
}

/// The part of the producer that gives the slice.
Value ProducerFuser::produce(tensor::ExtractSliceOp slice, OpResult producer) {
  Operation *op = producer.getOwner();
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return fillSlice(rewriter, slice, fill);
  auto whole = dyn_cast<TilingInterface>(op);
  // What stands beside the slice is a tile already.
  if (!whole || op->getBlock() == slice->getBlock() ||
      (filter && !filter(producer)))
    return {};
  LoopSizes offsets, sizes;
  unsigned number = producer.getResultNumber();
  if (failed(whole.getIterationDomainTileFromResultTile(
          rewriter, number, slice.getMixedOffsets(), slice.getMixedSizes(),
          offsets, sizes)))
    return {};
  for (OpFoldResult &size : sizes)
    size = resolveSize(size);
  if (clip)
    clip(producer, offsets, sizes);
  FailureOr<TilingResult> tile =
      whole.getTiledImplementation(rewriter, offsets, sizes);
  if (failed(tile))
    return {};
  Operation *tiled = tile->tiledOps.front();
  setTile(whole, tiled, offsets, sizes);
  if (listener)
    listener(tiled);
  fuse(tile->generatedSlices);
  return tiled->getResult(number);
}
