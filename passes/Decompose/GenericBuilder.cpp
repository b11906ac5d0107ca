//===- GenericBuilder.cpp - linalg.generic by loop numbers ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Decompose/GenericBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace raytention;

static AffineMap getMap(OpBuilder &builder, unsigned numLoops,
                        ArrayRef<unsigned> loops) {
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : loops)
    exprs.push_back(builder.getAffineDimExpr(loop));
  return AffineMap::get(numLoops, 0, exprs, builder.getContext());
}

Value raytention::buildGeneric(OpBuilder &builder, Location loc,
                               unsigned numLoops, ArrayRef<LoopOperand> inputs,
                               const LoopOperand &output, ElementBody body) {
  SmallVector<AffineMap> maps;
  SmallVector<Value> values;
  for (const LoopOperand &input : inputs) {
    maps.push_back(getMap(builder, numLoops, input.loops));
    values.push_back(input.value);
  }
  maps.push_back(getMap(builder, numLoops, output.loops));
  SmallVector<utils::IteratorType> iterators(numLoops,
                                             utils::IteratorType::reduction);
  for (unsigned loop : output.loops)
    iterators[loop] = utils::IteratorType::parallel;
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{output.value.getType()}, values,
      ValueRange{output.value}, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, body(b, loc, args));
      });
  return generic.getResult(0);
}

Value raytention::makeEmpty(OpBuilder &builder, Location loc, Type type,
                            ArrayRef<OpFoldResult> sizes) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<Value> dynamic;
  for (auto [axis, size] : llvm::enumerate(sizes))
    if (tensor.isDynamicDim(axis))
      dynamic.push_back(getValueOrCreateConstantIndexOp(builder, loc, size));
  return tensor::EmptyOp::create(builder, loc, tensor, dynamic);
}

Value raytention::makeFilled(OpBuilder &builder, Location loc, Type type,
                             ArrayRef<OpFoldResult> sizes, double value) {
  auto element = cast<RankedTensorType>(type).getElementType();
  Value scalar =
      arith::ConstantOp::create(builder, loc, FloatAttr::get(element, value));
  Value empty = makeEmpty(builder, loc, type, sizes);
  return linalg::FillOp::create(builder, loc, scalar, empty).getResult(0);
}

SmallVector<OpFoldResult> raytention::getSizes(OpBuilder &builder, Location loc,
                                               Value value,
                                               ArrayRef<int64_t> axes) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t axis : axes)
    sizes.push_back(tensor::getMixedSize(builder, loc, value, axis));
  return sizes;
}

Value raytention::widen(OpBuilder &builder, Location loc, Value value,
                        Type element) {
  if (value.getType() == element)
    return value;
  return arith::ExtFOp::create(builder, loc, element, value);
}

Value Positions::getRow(OpBuilder &b, Location loc) const {
  Value row = linalg::IndexOp::create(b, loc, 1);
  return queryOffset ? arith::AddIOp::create(b, loc, row, queryOffset) : row;
}

Value Positions::getLength(OpBuilder &b, Location loc) const {
  if (!lengths)
    return {};
  Value batch = linalg::IndexOp::create(b, loc, 0);
  Value length = tensor::ExtractOp::create(b, loc, lengths, batch);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), length);
}

Value Positions::isInside(OpBuilder &b, Location loc, Value position) const {
  Value length = getLength(b, loc);
  if (!length)
    return arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, position,
                               length);
}

Value Positions::getDecayExponent(OpBuilder &b, Location loc,
                                  Direction direction, DecayOrigin origin,
                                  Value numKeys) const {
  Value key = linalg::IndexOp::create(b, loc, 2);
  if (direction == Direction::Forward)
    return key;
  Value end;
  if (origin == DecayOrigin::Query) {
    end = getRow(b, loc);
  } else {
    Value length = getLength(b, loc);
    Value one = arith::ConstantIndexOp::create(b, loc, 1);
    end = arith::SubIOp::create(b, loc, length ? length : numKeys, one);
  }
  return arith::SubIOp::create(b, loc, end, key);
}
