//===- Passes.h - passes of the Fold folder --------------------- -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_FOLD_PASSES_H
#define RAYTENTION_PASSES_FOLD_PASSES_H

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace raytention {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Fold/Passes.h.inc"

} // namespace raytention

#endif // RAYTENTION_PASSES_FOLD_PASSES_H
