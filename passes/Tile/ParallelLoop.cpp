//===- ParallelLoop.cpp - scf.forall over tensors with elements -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Tile/ParallelLoop.h"
#include "passes/Tile/ProducerFuser.h"

using namespace mlir;
using namespace raytention;

ParallelLoop::ParallelLoop(OpBuilder &b, Location loc,
                           ArrayRef<OpFoldResult> begins,
                           ArrayRef<OpFoldResult> ends,
                           ArrayRef<OpFoldResult> steps, ValueRange inits) {
  SmallVector<Value> outputs = llvm::to_vector(llvm::make_filter_range(
      inits, [](Value init) { return !hasNoElements(init.getType()); }));
  op =
      scf::ForallOp::create(b, loc, begins, ends, steps, outputs, std::nullopt);
  unsigned number = 0;
  for (Value init : inits) {
    bool passesBy = hasNoElements(init.getType());
    args.push_back(passesBy ? init : op.getRegionIterArgs()[number]);
    results.push_back(passesBy ? init : op.getResult(number));
    number += !passesBy;
  }
  b.setInsertionPoint(op.getTerminator());
}

void ParallelLoop::insert(OpBuilder &b, unsigned number, Value tile,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) {
  if (hasNoElements(args[number].getType()))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(op.getTerminator().getBody());
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  tensor::ParallelInsertSliceOp::create(b, op.getLoc(), tile, args[number],
                                        offsets, sizes, strides);
}
