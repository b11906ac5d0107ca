//===- VerifyUpdates.h - whether updates can be made in place ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_VERIFYUPDATES_H
#define RAYTENTION_CODEGEN_LLVMCPU_VERIFYUPDATES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// Whether each value that an op of the fused stage updates is read by nothing
/// else afterwards, each loop hands on what it updated, and each parallel loop
/// inserts its tiles where they came from. Errors at the op that does not.
llvm::LogicalResult verifyUpdates(mlir::func::FuncOp func);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_VERIFYUPDATES_H
