//===- OuterBounds.h - bounds of sizes, known outside of loops ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_OUTERBOUNDS_H
#define RAYTENTION_CODEGEN_LLVMCPU_OUTERBOUNDS_H

#include "mlir/IR/Builders.h"

namespace raytention {

/// A value that the size `value` never exceeds, made where the builder stands
/// of values of `block`; sizes, steps and lower bounds are not negative. Null
/// where nothing bounds it.
mlir::Value buildOuterBound(mlir::OpBuilder &b, mlir::Value value,
                            mlir::Block *block);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_OUTERBOUNDS_H
