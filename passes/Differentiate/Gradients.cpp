//===- Gradients.cpp - one registration per rule ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/Differentiate/Gradients.h"
#include "passes/Differentiate/Passes.h"

void raytention::registerGradients(mlir::DialectRegistry &registry) {
#define RT_GRADIENT(NAME) register##NAME##Gradient(registry);
#include "passes/Differentiate/Gradients.def"
}
