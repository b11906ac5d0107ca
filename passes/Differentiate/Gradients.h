//===- Gradients.h - one registration per rule ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_DIFFERENTIATE_GRADIENTS_H
#define RAYTENTION_PASSES_DIFFERENTIATE_GRADIENTS_H

namespace mlir {
class DialectRegistry;
}

namespace raytention {

// A rule is a file NAMEGradient.cpp and a line in Gradients.def.
#define RT_GRADIENT(NAME)                                                      \
  void register##NAME##Gradient(mlir::DialectRegistry &);
#include "passes/Differentiate/Gradients.def"

} // namespace raytention

#endif // RAYTENTION_PASSES_DIFFERENTIATE_GRADIENTS_H
