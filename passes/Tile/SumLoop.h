//===- SumLoop.h - sums over the same pairs in one loop ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_SUMLOOP_H
#define RAYTENTION_PASSES_TILE_SUMLOOP_H

#include "passes/Tile/ProducerFuser.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace raytention {

/// Ops of one block that add up over loops of one size, none of which needs the
/// end of another, in block order.
using SumGroup = llvm::SmallVector<mlir::TilingInterface>;

/// The groups of a block, in the order in which they can be computed.
llvm::SmallVector<SumGroup> collectSums(mlir::OpBuilder &b, mlir::Block &block);

/// Which pairs that a loop computes are kept for what follows it.
using KeepsPairs = llvm::function_ref<bool(mlir::OpResult)>;

/// Makes of a group one loop in steps of `step`, in which all that is read part
/// by part is computed once. Replaces the group's results, and the pairs that
/// are kept.
mlir::FailureOr<mlir::scf::ForOp> buildSumLoop(mlir::RewriterBase &rewriter,
                                               const SumGroup &group,
                                               mlir::Value step,
                                               KeepsPairs keeps);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_SUMLOOP_H
