//===- WriteInPlace.cpp - tiles that stand where they end up -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/WriteInPlace.h"
#include "dialect/RayTile/RayTile.h"

#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace raytention;

/// The copy of `buffer` that follows ops on tiles, its only other users.
static memref::CopyOp findCopy(memref::AllocOp buffer) {
  memref::CopyOp found;
  for (Operation *user : buffer->getUsers()) {
    auto copy = dyn_cast<memref::CopyOp>(user);
    bool isLast = copy && copy.getSource() == buffer && !found;
    if (user->getBlock() != buffer->getBlock() ||
        !(isLast || isa<tile::ComputeOp, linalg::LinalgOp>(user)))
      return {};
    if (isLast)
      found = copy;
  }
  for (Operation *user : buffer->getUsers())
    if (found && found->isBeforeInBlock(user))
      return {};
  return found;
}

/// The view that `copy` fills, if it shows what `loop` does not use besides.
static memref::SubViewOp findPlace(memref::CopyOp copy, scf::ForallOp loop,
                                   const BufferViewFlowAnalysis &views) {
  auto view = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  if (!view || !view->hasOneUse() ||
      loop->isAncestor(view.getSource().getParentRegion()->getParentOp()) ||
      view.getType().getShape() !=
          cast<MemRefType>(copy.getSource().getType()).getShape())
    return {};
  for (Value root : views.resolveReverse(view.getSource()))
    for (Value alias : views.resolve(root))
      for (Operation *user : alias.getUsers())
        if (user != view && user != copy && loop->isAncestor(user))
          return {};
  return view;
}

void raytention::writeInPlace(func::FuncOp func) {
  DominanceInfo dominance(func);
  BufferViewFlowAnalysis views(func);
  SmallVector<memref::AllocOp> buffers;
  func.walk([&](memref::AllocOp op) { buffers.push_back(op); });
  for (memref::AllocOp buffer : buffers) {
    auto loop = dyn_cast<scf::ForallOp>(buffer->getParentOp());
    memref::CopyOp copy = loop ? findCopy(buffer) : memref::CopyOp();
    memref::SubViewOp place =
        copy ? findPlace(copy, loop, views) : memref::SubViewOp();
    if (!place || !llvm::all_of(place->getOperands(), [&](Value operand) {
          return dominance.properlyDominates(operand, buffer);
        }))
      continue;
    place->moveBefore(buffer);
    copy.erase();
    buffer.replaceAllUsesWith(place.getResult());
    buffer.erase();
  }
}
