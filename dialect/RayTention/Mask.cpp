//===- Mask.cpp - which keys a query sees ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace raytention;

Value CausalAttr::getVisibleEnd(OpBuilder &b, Location loc, Value firstRow,
                                Value rows, Value numKeys) const {
  Value end = arith::AddIOp::create(b, loc, firstRow, rows);
  return arith::MinSIOp::create(b, loc, end, numKeys);
}

Value CausalAttr::getSeeingBegin(OpBuilder &b, Location loc, Value firstRow,
                                 Value firstKey) const {
  Value begin = arith::SubIOp::create(b, loc, firstKey, firstRow);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::MaxSIOp::create(b, loc, begin, zero);
}

Value CausalAttr::isVisible(ElementBuilder &b, Value row, Value key) const {
  return b.intAtMost(key, row);
}

MaskInterface raytention::getMaskOrCausal(MLIRContext *context,
                                          Attribute mask) {
  return cast<MaskInterface>(mask ? mask : Attribute(CausalAttr::get(context)));
}
