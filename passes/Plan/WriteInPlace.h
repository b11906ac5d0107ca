//===- WriteInPlace.h - tiles that stand where they end up -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PLAN_WRITEINPLACE_H
#define RAYTENTION_PASSES_PLAN_WRITEINPLACE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// A buffer of a parallel loop's body that is only written by ops on tiles and
/// then copied to a buffer from outside, which the body does not use besides,
/// stands there from the start.
void writeInPlace(mlir::func::FuncOp func);

} // namespace raytention

#endif // RAYTENTION_PASSES_PLAN_WRITEINPLACE_H
