//===- Cleanup.h - what tiling leaves behind, removed -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_CLEANUP_H
#define RAYTENTION_PASSES_TILE_CLEANUP_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// Removes the untiled ops that lost their users and merges equal offsets,
/// sizes and slices; constants keep standing where they were made.
void cleanUp(mlir::func::FuncOp func);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_CLEANUP_H
