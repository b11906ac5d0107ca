//===- Signature.h - what compiled functions take ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_SIGNATURE_H
#define RAYTENTION_RUNTIME_API_SIGNATURE_H

#include "raytention/Attention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Error.h"

namespace raytention {

/// Whether the forward function takes what a run hands over, on tensors or on
/// buffers; there, with @NAME_scratch beside it, bytes at the end.
/// `savesLogSums`: log-sums are among its results.
llvm::Error checkForward(mlir::func::FuncOp func, mlir::ArrayAttr channels,
                         const AttentionSpec &spec, bool savesLogSums);

/// The same of the backward function.
llvm::Error checkBackward(mlir::func::FuncOp func, mlir::ArrayAttr channels,
                          const AttentionSpec &spec, bool savesLogSums);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_SIGNATURE_H
