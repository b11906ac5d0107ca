//===- Passes.h - reverse-mode differentiation ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DIFFERENTIATE_PASSES_H
#define RAYTENTION_PASSES_DIFFERENTIATE_PASSES_H

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace raytention {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Differentiate/Passes.h.inc"

/// The derivative rules of this folder, as external models of their ops.
void registerGradients(mlir::DialectRegistry &registry);

} // namespace raytention

#endif // RAYTENTION_PASSES_DIFFERENTIATE_PASSES_H
