//===- PlanTypes.h - types of IR as a plan knows them -----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_ARTIFACT_PLANTYPES_H
#define RAYTENTION_CODEGEN_ARTIFACT_PLANTYPES_H

#include "runtime/plan/Plan.h"

#include "mlir/IR/BuiltinTypes.h"

namespace raytention {

/// `type` as a plan knows it: index, integers of 1, 8, 32 and 64 bits, f32, f64
/// and bf16; memrefs of them, i1 excepted, with the identity layout in the
/// default memory space. Nothing for any other.
std::optional<plan::Type> getPlanType(mlir::Type type);

/// Whether a kernel can take a value of the type: a buffer, or a scalar that
/// is index, i32, i64, f32 or f64.
bool isParameterType(const plan::Type &type);

/// A scalar that the host program can compute with.
bool isIntegerType(const plan::Type &type);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_ARTIFACT_PLANTYPES_H
