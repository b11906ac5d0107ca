//===- LoopBuilder.cpp - loops on buffers -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/LoopBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace raytention;

Value LoopBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value LoopBuilder::add(Value a, Value c) {
  if (matchPattern(a, m_Zero()))
    return c;
  if (matchPattern(c, m_Zero()))
    return a;
  return arith::AddIOp::create(b, loc, a, c);
}
Value LoopBuilder::add(Value a, int64_t c) {
  return c == 0 ? a : add(a, index(c));
}
Value LoopBuilder::mul(Value a, int64_t c) {
  return c == 1 ? a : arith::MulIOp::create(b, loc, a, index(c)).getResult();
}
Value LoopBuilder::min(Value a, Value c) {
  return arith::MinSIOp::create(b, loc, a, c);
}
Value LoopBuilder::div(Value a, int64_t c) {
  return arith::DivUIOp::create(b, loc, a, index(c));
}
Value LoopBuilder::rem(Value a, int64_t c) {
  return arith::RemUIOp::create(b, loc, a, index(c));
}
Value LoopBuilder::ceilDiv(Value a, int64_t c) {
  return arith::DivSIOp::create(b, loc, add(a, c - 1), index(c));
}
Value LoopBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), integer);
}
Value LoopBuilder::toI32(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
}

void LoopBuilder::loop(Value lower, Value upper, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  auto op = scf::ForOp::create(b, loc, lower, upper, index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}

SmallVector<Value>
LoopBuilder::carry(Value lower, Value upper, int64_t step, ValueRange init,
                     llvm::function_ref<Values(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(b, loc, lower, upper, index(step), init,
                               [](OpBuilder &, Location, Value, ValueRange) {});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  Values next = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return Values(op.getResults());
}

void LoopBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

void LoopBuilder::ifElse(Value condition, llvm::function_ref<void()> thenBody,
                           llvm::function_ref<void()> elseBody) {
  auto op = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  thenBody();
  b.setInsertionPointToStart(op.elseBlock());
  elseBody();
}

Value LoopBuilder::ifElseValue(Value condition, Type type,
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

Value LoopBuilder::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(b, loc, memref, indices);
}
void LoopBuilder::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(b, loc, value, memref, indices);
}
