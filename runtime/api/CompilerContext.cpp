//===- CompilerContext.cpp - a context that keeps its errors --------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/api/CompilerContext.h"
#include "codegen/LlvmCpu/Jit.h"
#include "codegen/Pipelines/Registration.h"
#include "runtime/api/StatusError.h"

#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace raytention;

/// One line: where, then what.
static std::string describe(Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
    stream << place.getFilename().getValue() << ":" << place.getLine() << ":"
           << place.getColumn() << ": ";
  stream << diagnostic;
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

DiagnosticCapture::DiagnosticCapture(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (first.empty() &&
            diagnostic.getSeverity() == DiagnosticSeverity::Error)
          first = describe(diagnostic);
        return success();
      }) {}

llvm::Error DiagnosticCapture::takeError(const llvm::Twine &otherwise) {
  return first.empty() ? makeError(StatusCode::Internal, otherwise)
                       : llvm::createStringError(first);
}

CompilerContext::CompilerContext() : context(MLIRContext::Threading::DISABLED) {
  DialectRegistry registry;
  registerDialects(registry);
  registerLlvmTranslations(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}
