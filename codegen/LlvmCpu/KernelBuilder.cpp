//===- KernelBuilder.cpp - loops and vectors for the CPU kernels ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/LlvmCpu/KernelBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace raytention;

TileLayout TileLayout::get(const CpuTarget &target, FloatType element,
                           int64_t width, int64_t items) {
  int64_t lanes = target.vectorBits / element.getWidth();
  return {element,
          lanes,
          lanes * target.tileVectors,
          target.tileRows,
          target.tileVectors,
          width,
          items};
}

Value KernelBuilder::loadVector(Value memref, ValueRange indices) {
  Type stored = cast<MemRefType>(memref.getType()).getElementType();
  Value value = vector::LoadOp::create(
      b, loc, VectorType::get({layout.lanes}, stored), memref, indices);
  if (stored == layout.element)
    return value;
  return arith::ExtFOp::create(b, loc, layout.vectorType(), value);
}
Value KernelBuilder::loadPositions(Value memref, ValueRange indices) {
  return vector::LoadOp::create(
      b, loc, VectorType::get({layout.lanes}, b.getI32Type()), memref, indices);
}
void KernelBuilder::prefetch(Value memref, ValueRange indices) {
  memref::PrefetchOp::create(b, loc, memref, indices, /*isWrite=*/false,
                             /*localityHint=*/2, /*isDataCache=*/true);
}
void KernelBuilder::storeVector(Value value, Value memref, ValueRange indices) {
  vector::StoreOp::create(b, loc, value, memref, indices);
}

Value KernelBuilder::widen(Value value) {
  if (value.getType() == layout.element)
    return value;
  return arith::ExtFOp::create(b, loc, layout.element, value);
}
Value KernelBuilder::splat(Value scalar) {
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({layout.lanes}, scalar.getType()), scalar);
}
Value KernelBuilder::zero() {
  return arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(layout.element)));
}
Value KernelBuilder::zeroVector() {
  return arith::ConstantOp::create(
      b, loc, cast<TypedAttr>(b.getZeroAttr(layout.vectorType())));
}
Value KernelBuilder::sumLanes(Value vector) {
  return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, vector,
                                     arith::FastMathFlags::reassoc);
}
Value KernelBuilder::laneIndices() {
  SmallVector<int32_t> lanes =
      llvm::to_vector(llvm::seq<int32_t>(0, layout.lanes));
  return arith::ConstantOp::create(b, loc, b.getI32VectorAttr(lanes));
}
