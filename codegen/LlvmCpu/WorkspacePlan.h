//===- WorkspacePlan.h - allocations of a task as slices of one buffer -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_WORKSPACEPLAN_H
#define RAYTENTION_CODEGEN_LLVMCPU_WORKSPACEPLAN_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace raytention {

/// Multiple of bytes at which every slice starts.
constexpr int64_t kSliceAlignment = 64;

/// The value that `value` has where the builder stands, with everything that
/// `mapping` names replaced and what computes the rest cloned. Fails where that
/// depends on something else: an argument of an inner block, an op with
/// effects.
mlir::FailureOr<mlir::Value> cloneSlice(mlir::OpBuilder &builder,
                                        mlir::Value value,
                                        mlir::IRMapping &mapping);

/// Bytes of what `alloc` asks for, an index: a multiple of kSliceAlignment, and
/// the largest one where there are more than fit in 63 bits.
mlir::Value buildSliceBytes(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::memref::AllocOp alloc);
/// The same with other sizes in place of its dynamic ones.
mlir::Value buildSliceBytes(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::memref::AllocOp alloc,
                            mlir::ValueRange sizes);
/// The sum of two such numbers, which stays at the largest one.
mlir::Value buildSum(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value lhs, mlir::Value rhs);

/// The allocations of one parallel loop, in order; their sizes are defined
/// outside of it.
class WorkspacePlan {
public:
  /// Checks the allocations of `forall` and moves the computation of their
  /// sizes in front of it; an error names the allocation.
  static mlir::FailureOr<WorkspacePlan> create(mlir::scf::ForallOp forall);

  bool empty() const { return allocs.empty(); }
  size_t size() const { return allocs.size(); }
  /// Bytes that one worker needs, an index.
  mlir::Value buildBytes(mlir::OpBuilder &builder, mlir::Location loc) const;
  /// Replaces the allocations, which now stand in a task, by views of the
  /// pointer `workspace`; the builder stands where their sizes are defined.
  void place(mlir::OpBuilder &builder, mlir::Location loc,
             mlir::Value workspace) const;

private:
  llvm::SmallVector<mlir::memref::AllocOp> allocs;
  llvm::SmallVector<mlir::memref::DeallocOp> deallocs;
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_WORKSPACEPLAN_H
