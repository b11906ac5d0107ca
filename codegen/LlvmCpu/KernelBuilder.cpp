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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

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

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value KernelBuilder::add(Value a, Value c) {
  if (matchPattern(a, m_Zero()))
    return c;
  if (matchPattern(c, m_Zero()))
    return a;
  return arith::AddIOp::create(b, loc, a, c);
}
Value KernelBuilder::add(Value a, int64_t c) {
  return c == 0 ? a : add(a, index(c));
}
Value KernelBuilder::mul(Value a, int64_t c) {
  return c == 1 ? a : arith::MulIOp::create(b, loc, a, index(c)).getResult();
}
Value KernelBuilder::min(Value a, Value c) {
  return arith::MinSIOp::create(b, loc, a, c);
}
Value KernelBuilder::div(Value a, int64_t c) {
  return arith::DivUIOp::create(b, loc, a, index(c));
}
Value KernelBuilder::rem(Value a, int64_t c) {
  return arith::RemUIOp::create(b, loc, a, index(c));
}
Value KernelBuilder::ceilDiv(Value a, int64_t c) {
  return arith::DivSIOp::create(b, loc, add(a, c - 1), index(c));
}
Value KernelBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
}
Value KernelBuilder::toI32(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}

void KernelBuilder::loop(Value lower, Value upper, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, loc, lower, upper, index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

SmallVector<Value>
KernelBuilder::carry(Value lower, Value upper, int64_t step, ValueRange init,
                     llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(b, loc, lower, upper, index(step), init,
                               [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  Values next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return Values(op.getResults());
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

void KernelBuilder::ifElse(Value condition, llvm::function_ref<void()> thenBody,
                           llvm::function_ref<void()> elseBody) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  thenBody();
  b.setInsertionPointToStart(op.elseBlock());
  elseBody();
}

Value KernelBuilder::ifElseValue(Value condition, Type type,
                                 llvm::function_ref<Value()> thenBody,
                                 llvm::function_ref<Value()> elseBody) {
  auto op = scf::IfOp::create(b, loc, TypeRange{type}, condition,
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(b, loc, thenBody());
  b.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(b, loc, elseBody());
  return op.getResult(0);
}

Value KernelBuilder::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(b, loc, memref, indices);
}
void KernelBuilder::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(b, loc, value, memref, indices);
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
