//===- ExpandOps.h - ops on tiles as element code -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PLAN_EXPANDOPS_H
#define RAYTENTION_PASSES_PLAN_EXPANDOPS_H

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTile/RayTile.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace raytention {

/// Each writes what an op does to its buffers in front of the op: loops over
/// threads. An error at the op says what is not supported.
llvm::LogicalResult expandLookup(mlir::OpBuilder &b, tile::ComputeOp compute,
                                 LookupOp op);
llvm::LogicalResult expandDistance(mlir::OpBuilder &b, tile::ComputeOp compute,
                                   DistanceOp op);
llvm::LogicalResult expandInit(mlir::OpBuilder &b, tile::ComputeOp compute,
                               InitOp op);
llvm::LogicalResult expandScoreSweep(mlir::OpBuilder &b,
                                     tile::ComputeOp compute, ScoreSweepOp op);
llvm::LogicalResult expandReduceSweep(mlir::OpBuilder &b,
                                      tile::ComputeOp compute,
                                      ReduceSweepOp op);
llvm::LogicalResult expandWeigh(mlir::OpBuilder &b, tile::ComputeOp compute,
                                WeighOp op);
llvm::LogicalResult expandFinalize(mlir::OpBuilder &b, tile::ComputeOp compute,
                                   FinalizeOp op);
llvm::LogicalResult expandContract(mlir::OpBuilder &b,
                                   mlir::linalg::ContractOp op);
llvm::LogicalResult expandFill(mlir::OpBuilder &b, mlir::linalg::FillOp op);
llvm::LogicalResult expandCopy(mlir::OpBuilder &b, mlir::memref::CopyOp op);

} // namespace raytention

#endif // RAYTENTION_PASSES_PLAN_EXPANDOPS_H
