//===- TensorBuilder.cpp - element-wise tensor code ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/TensorBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace raytention;

Value raytention::mapElements(
    OpBuilder &builder, Location loc, ValueRange inputs,
    llvm::function_ref<Value(ElementBuilder &, ValueRange)> body) {
  auto type = cast<RankedTensorType>(inputs.front().getType());
  int64_t rank = type.getRank();
  MLIRContext *context = builder.getContext();
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(cast<RankedTensorType>(input.getType()).getRank() == 0
                       ? AffineMap::get(rank, 0, context)
                       : AffineMap::getMultiDimIdentityMap(rank, context));
  maps.push_back(AffineMap::getMultiDimIdentityMap(rank, context));
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  Value empty = makeEmpty(builder, loc, type, inputs.front(), axes);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange{type}, inputs, ValueRange{empty}, maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        ElementBuilder element(b, loc, type.getElementType());
        Value result = body(element, args.drop_back());
        linalg::YieldOp::create(b, loc, result);
      });
  return generic.getResult(0);
}

RankedTensorType raytention::getTypeLike(Value like, ArrayRef<int64_t> axes,
                                         ArrayRef<int64_t> tail, Type element) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<int64_t> shape;
  for (int64_t axis : axes)
    shape.push_back(type.getDimSize(axis));
  shape.append(tail.begin(), tail.end());
  return RankedTensorType::get(shape, element);
}

Value raytention::makeEmpty(OpBuilder &builder, Location loc,
                            RankedTensorType type, Value like,
                            ArrayRef<int64_t> axes) {
  SmallVector<Value> sizes;
  for (auto [position, axis] : llvm::enumerate(axes))
    if (type.isDynamicDim(position))
      sizes.push_back(tensor::DimOp::create(builder, loc, like, axis));
  return tensor::EmptyOp::create(builder, loc, type, sizes);
}
