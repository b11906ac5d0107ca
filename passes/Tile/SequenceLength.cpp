//===- SequenceLength.cpp - lengths and masks in tile loops --------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/SequenceLength.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace raytention;

Value raytention::buildSequenceLength(OpBuilder &b, Location loc, Value lengths,
                                      Value entry, Value numKeys) {
  if (!lengths)
    return numKeys;
  Value own = tensor::ExtractOp::create(b, loc, lengths, entry);
  Value length = arith::IndexCastOp::create(b, loc, b.getIndexType(), own);
  // Holds against a wrong length, and bounds the range from outside.
  return arith::MinSIOp::create(b, loc, length, numKeys);
}

Value raytention::buildVisibleEnd(OpBuilder &b, Location loc, Attribute mask,
                                  Value row, Value rows, Value length) {
  MaskInterface visible = getMaskOrCausal(b.getContext(), mask);
  Value end = visible.getVisibleEnd(b, loc, row, rows, length);
  // A row before position 0, or a negative length, sees nothing.
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::MaxSIOp::create(b, loc, end, zero);
}
