//===- ForwardCopies.h - results written where they are copied to -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PLAN_FORWARDCOPIES_H
#define RAYTENTION_PASSES_PLAN_FORWARDCOPIES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// A new buffer whose contents end in a copy to another one is that other one
/// from the start, where nobody can tell: bufferization makes such buffers for
/// results that no initial value gives a place.
void forwardCopies(mlir::func::FuncOp func);

} // namespace raytention

#endif // RAYTENTION_PASSES_PLAN_FORWARDCOPIES_H
