//===- SharedLoop.h - several ops in one sequential loop ----- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_SHAREDLOOP_H
#define RAYTENTION_PASSES_TILE_SHAREDLOOP_H

#include "passes/Tile/ProducerFuser.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace raytention {

/// An op, and the loop of it that is cut: one that it sums over, or, of an op
/// that writes to initial values, one of their dimensions.
struct LoopRoot {
  mlir::TilingInterface op;
  unsigned loop;
};

/// Ops of one block that can share a loop, none of which needs the end of
/// another, in block order.
using LoopGroup = llvm::SmallVector<LoopRoot>;

/// The sums of a block in groups over loops of one size, in the order in which
/// they can be computed.
llvm::SmallVector<LoopGroup> collectSums(mlir::OpBuilder &b,
                                         mlir::Block &block);

/// Which pairs that a loop computes are kept for what follows it.
using KeepsPairs = llvm::function_ref<bool(mlir::OpResult)>;

/// Makes of a group one loop in steps of `step`, in which all that `fuses`
/// names and that is read part by part is computed once. Replaces the group's
/// results, and the pairs that are kept.
mlir::FailureOr<mlir::scf::ForOp> buildSharedLoop(mlir::RewriterBase &rewriter,
                                                  const LoopGroup &group,
                                                  mlir::Value step,
                                                  ProducerFuser::Filter fuses,
                                                  KeepsPairs keeps);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_SHAREDLOOP_H
