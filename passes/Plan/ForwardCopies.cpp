//===- ForwardCopies.cpp - results written where they are copied to -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Plan/ForwardCopies.h"
#include "dialect/RayTile/RayTile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace raytention;

/// The buffer that a view is of; null where it may be one of several.
static Value getRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(memref);
  bool isOne =
      argument ? isa<FunctionOpInterface>(argument.getOwner()->getParentOp())
               : isa<memref::AllocOp>(memref.getDefiningOp());
  return isOne ? memref : Value();
}

/// Whether an op, other than one that makes views, takes the buffer `root`.
static bool mayUse(Operation *op, Value root) {
  return !isa<ViewLikeOpInterface>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           if (!isa<MemRefType>(operand.getType()))
             return false;
           Value own = getRoot(operand);
           return !own || own == root;
         });
}

namespace {

/// One copy from a new buffer.
class Forwarding {
public:
  Forwarding(memref::CopyOp copy)
      : copy(copy), source(copy.getSource().getDefiningOp<memref::AllocOp>()),
        target(copy.getTarget()), block(copy->getBlock()) {}

  /// Whether it could be done without.
  bool run() {
    if (!source || source->getBlock() != block ||
        source.getType().getShape() !=
            cast<MemRefType>(target.getType()).getShape())
      return false;
    if (!collectUsers() || isTargetUsed() || !moveTarget())
      return false;
    for (Operation *free : frees)
      free->erase();
    copy->erase();
    source.getResult().replaceAllUsesWith(target);
    source->erase();
    return true;
  }

private:
  /// Users that take any buffer, all before the copy.
  bool collectUsers() {
    for (Operation *user : source->getUsers()) {
      if (user == copy)
        continue;
      if (isa<memref::DeallocOp>(user)) {
        frees.push_back(user);
        continue;
      }
      Operation *here = block->findAncestorOpInBlock(*user);
      if (!isa<tile::ComputeOp, linalg::LinalgOp>(user) ||
          !here->isBeforeInBlock(copy))
        return false;
      if (!first || here->isBeforeInBlock(first))
        first = here;
    }
    return first != nullptr;
  }

  /// Whether anything sees the target's buffer while it is not yet written.
  bool isTargetUsed() {
    Value root = getRoot(target);
    if (!root || root == source.getResult())
      return true;
    for (Operation *op = first; op != copy; op = op->getNextNode()) {
      WalkResult walked = op->walk([&](Operation *inner) {
        return mayUse(inner, root) ? WalkResult::interrupt()
                                   : WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return true;
    }
    return false;
  }

  /// Moves the views that make up the target in front of the first user.
  bool moveTarget() {
    SmallVector<Operation *> views;
    auto isLate = [&](Operation *op) {
      return op && op->getBlock() == block && !op->isBeforeInBlock(first);
    };
    Value value = target;
    while (isLate(value.getDefiningOp())) {
      auto view = value.getDefiningOp<ViewLikeOpInterface>();
      if (!view)
        return false;
      views.push_back(view);
      value = view.getViewSource();
    }
    for (Operation *view : views)
      for (Value operand : view->getOperands())
        if (Operation *op = operand.getDefiningOp();
            isLate(op) && !llvm::is_contained(views, op))
          return false;
    for (Operation *view : llvm::reverse(views))
      view->moveBefore(first);
    return true;
  }

  memref::CopyOp copy;
  memref::AllocOp source;
  Value target;
  Block *block;
  Operation *first = nullptr;
  SmallVector<Operation *> frees;
};

} // namespace

void raytention::forwardCopies(func::FuncOp func) {
  SmallVector<memref::CopyOp> copies;
  func.walk([&](memref::CopyOp op) { copies.push_back(op); });
  for (memref::CopyOp copy : copies)
    (void)Forwarding(copy).run();
}
