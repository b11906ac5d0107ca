//===- ChunkRows.h - a loop over chunks of rows -------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_CHUNKROWS_H
#define RAYTENTION_PASSES_TILE_CHUNKROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// Puts the finishes of rows, what adds up over rows, and all that they need
/// but the lookup of the keys into a sequential loop over `chunk` rows at a
/// time (0: leaves the function as it is). What passes between parallel loops
/// made of the body is then as large as the chunk.
llvm::LogicalResult chunkRows(mlir::func::FuncOp func, int64_t chunk);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_CHUNKROWS_H
