//===- LlvmLowering.h - loops and vectors to LLVM ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_PIPELINES_LLVMLOWERING_H
#define RAYTENTION_PASSES_PIPELINES_LLVMLOWERING_H

namespace mlir {
class OpPassManager;
}

namespace raytention {

/// From func, memref, scf, vector, arith and math on buffers to the LLVM
/// dialect alone. math.exp and math.log become LLVM intrinsics, which the code
/// generator turns into calls of libm: a pipeline that must not need libm
/// expands them before.
void buildLlvmLowering(mlir::OpPassManager &pm);

/// The upstream passes that it runs.
void registerLlvmLoweringPasses();

} // namespace raytention

#endif // RAYTENTION_PASSES_PIPELINES_LLVMLOWERING_H
