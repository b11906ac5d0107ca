//===- ElementBuilder.cpp - element-wise code on scalars or vectors ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/ElementBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace raytention;

ElementBuilder::ElementBuilder(OpBuilder &builder, Location loc, Type shape)
    : builder(builder), loc(loc), floatType(shape) {
  intType = builder.getI32Type();
  if (auto vector = dyn_cast<VectorType>(shape))
    intType = vector.clone(intType);
}

double ElementBuilder::getLowest(Type element) {
  return element.isF64() ? -0x1p1022 : -0x1p126;
}

bool ElementBuilder::isDouble() const {
  return getElementTypeOrSelf(floatType).isF64();
}

Value ElementBuilder::lowest() {
  return constant(getLowest(getElementTypeOrSelf(floatType)));
}

Value ElementBuilder::constant(double value) {
  Type element = getElementTypeOrSelf(floatType);
  Attribute attr = FloatAttr::get(element, value);
  if (auto vector = dyn_cast<VectorType>(floatType))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
}

Value ElementBuilder::intConstant(int64_t value) {
  Attribute attr = builder.getI32IntegerAttr(value);
  if (auto vector = dyn_cast<VectorType>(intType))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attr));
}

Value ElementBuilder::splat(Value scalar) {
  auto vector = dyn_cast<VectorType>(floatType);
  if (!vector || isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(builder, loc,
                                     vector.clone(scalar.getType()), scalar);
}

Value ElementBuilder::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}
Value ElementBuilder::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a, b);
}
Value ElementBuilder::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a, b);
}
Value ElementBuilder::div(Value a, Value b) {
  return arith::DivFOp::create(builder, loc, a, b);
}
Value ElementBuilder::fma(Value a, Value b, Value c) {
  return math::FmaOp::create(builder, loc, a, b, c);
}

// maxnumf and minnumf would cost a NaN check per element; states are finite
// or infinite, never NaN, so a compare and a select is exact.
Value ElementBuilder::max(Value a, Value b) {
  return select(greater(a, b), a, b);
}
Value ElementBuilder::min(Value a, Value b) { return select(less(a, b), a, b); }

Value ElementBuilder::exp(Value a) {
  return math::ExpOp::create(builder, loc, a);
}
Value ElementBuilder::log(Value a) {
  return math::LogOp::create(builder, loc, a);
}
Value ElementBuilder::sqrt(Value a) {
  return math::SqrtOp::create(builder, loc, a);
}

Value ElementBuilder::greater(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT, a, b);
}
Value ElementBuilder::equal(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
}
Value ElementBuilder::less(Value a, Value b) {
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
}
Value ElementBuilder::logicalAnd(Value a, Value b) {
  return arith::AndIOp::create(builder, loc, a, b);
}
Value ElementBuilder::logicalOr(Value a, Value b) {
  return arith::OrIOp::create(builder, loc, a, b);
}
Value ElementBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, loc, condition, a, b);
}
Value ElementBuilder::intSub(Value a, Value b) {
  return arith::SubIOp::create(builder, loc, a, b);
}
Value ElementBuilder::intLess(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
}
Value ElementBuilder::intAtMost(Value a, Value b) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, a, b);
}
Value ElementBuilder::toFloat(Value integer) {
  return arith::SIToFPOp::create(builder, loc, floatType, integer);
}
