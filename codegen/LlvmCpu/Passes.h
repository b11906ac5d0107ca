//===- Passes.h - bufferised IR to symbols the JIT calls --------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_PASSES_H
#define RAYTENTION_CODEGEN_LLVMCPU_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace raytention {

#define GEN_PASS_DECL
#include "codegen/LlvmCpu/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/LlvmCpu/Passes.h.inc"

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_PASSES_H
