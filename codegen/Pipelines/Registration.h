//===- Registration.h - dialects, passes and pipelines ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_PIPELINES_REGISTRATION_H
#define RAYTENTION_CODEGEN_PIPELINES_REGISTRATION_H

namespace mlir {
class DialectRegistry;
}

namespace raytention {

/// The dialects that any stage uses: ours and a chosen list of upstream ones,
/// with the interface models that the pipelines need.
void registerDialects(mlir::DialectRegistry &registry);

/// All passes of this project, the upstream ones that the pipelines use, and
/// the pipelines themselves. Call once per process.
void registerPasses();

} // namespace raytention

#endif // RAYTENTION_CODEGEN_PIPELINES_REGISTRATION_H
