//===- Passes.h - passes of the Target folder -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_TARGET_PASSES_H
#define RAYTENTION_CODEGEN_TARGET_PASSES_H

#include "dialect/RayTention/RayTention.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace raytention {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/Target/Passes.h.inc"

} // namespace raytention

#endif // RAYTENTION_CODEGEN_TARGET_PASSES_H
