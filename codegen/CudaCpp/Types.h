//===- Types.h - types of the IR in C++ -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_TYPES_H
#define RAYTENTION_CODEGEN_CUDACPP_TYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace raytention::cuda {

/// i1 `bool`, i8 `signed char`, i32 `int`, i64 and index `long long`, bf16
/// `rt::bf16`, f32 `float`, f64 `double`; "" for all other types.
llvm::StringRef getCType(mlir::Type type);
/// The unsigned type of the same width; "" where `type` is no integer.
llvm::StringRef getUnsignedCType(mlir::Type type);

/// Bits of an integer, index being 64 wide.
unsigned getIntegerBits(mlir::Type type);
/// Whether values are `long long`.
bool isWide(mlir::Type type);

/// What may lie in a buffer: all of the above but i1.
bool isElementType(mlir::Type type);
int64_t getElementBytes(mlir::Type type);

/// Fails at `op` where a memref has another layout than the identity, or
/// elements or a memory space that have no form in CUDA C++.
mlir::LogicalResult checkMemRef(mlir::Operation *op, mlir::Type type);

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_TYPES_H
