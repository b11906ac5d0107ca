//===- CompilerContext.h - a context that keeps its errors ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_COMPILERCONTEXT_H
#define RAYTENTION_RUNTIME_API_COMPILERCONTEXT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

namespace raytention {

/// Keeps the first error instead of printing any.
class DiagnosticCapture {
public:
  explicit DiagnosticCapture(mlir::MLIRContext *context);

  /// The error in one line, with its place; `otherwise` where a failure left
  /// none.
  llvm::Error takeError(const llvm::Twine &otherwise);

private:
  std::string first;
  mlir::ScopedDiagnosticHandler handler;
};

/// A context that knows every dialect and starts no threads.
class CompilerContext {
public:
  CompilerContext();
  mlir::MLIRContext context;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_COMPILERCONTEXT_H
