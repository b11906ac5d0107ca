//===- BackwardFunction.h - the backward of one function --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DIFFERENTIATE_BACKWARDFUNCTION_H
#define RAYTENTION_PASSES_DIFFERENTIATE_BACKWARDFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace raytention {

/// A backward function and what it took.
struct BackwardFunction {
  mlir::func::FuncOp function;
  int64_t numRules = 0;      ///< derivative rules applied
  int64_t numRecomputed = 0; ///< forward ops computed again
};

/// Builds `@NAME_backward` behind `forward`, a function of one block:
///
///     (arguments of NAME, results of NAME, adjoint of result 0)
///       -> (adjoints of the arguments that are tensors of floats)
///
/// Fails after an error at the op in the way; nothing is left behind then.
mlir::FailureOr<BackwardFunction>
buildBackwardFunction(mlir::func::FuncOp forward, llvm::StringRef name);

} // namespace raytention

#endif // RAYTENTION_PASSES_DIFFERENTIATE_BACKWARDFUNCTION_H
