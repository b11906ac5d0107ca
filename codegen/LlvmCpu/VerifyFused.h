//===- VerifyFused.h - what the CPU lowering takes for granted --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_VERIFYFUSED_H
#define RAYTENTION_CODEGEN_LLVMCPU_VERIFYFUSED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// The lowering writes every update in place and reads few forms of slices,
/// fills and products. Errors, at the op: what it would not compute as written.
llvm::LogicalResult verifyFused(mlir::func::FuncOp func);

/// The first gamma of a number of gammas that verifyFused has accepted.
int64_t getFirstGamma(mlir::Value gammas);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_VERIFYFUSED_H
