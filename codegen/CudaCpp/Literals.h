//===- Literals.h - constants in C++ ----------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_LITERALS_H
#define RAYTENTION_CODEGEN_CUDACPP_LITERALS_H

#include "mlir/IR/BuiltinAttributes.h"

#include <string>

namespace raytention::cuda {

/// The exact value in the fewest digits; infinities and NaNs as their bits.
/// Integers have no suffix. "" where the attribute is no number of a type that
/// has a C type.
std::string makeLiteral(mlir::Attribute attribute);

} // namespace raytention::cuda

#endif // RAYTENTION_CODEGEN_CUDACPP_LITERALS_H
