//===- SourceNames.h - SSA names of a text ----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_CUDACPP_SOURCENAMES_H
#define RAYTENTION_CODEGEN_CUDACPP_SOURCENAMES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace llvm {
class SourceMgr;
}

namespace raytention {

/// Parses a module and puts the SSA names of its text (`%rows`, not `%12`) into
/// the locations (NameLoc), which is where printCuda looks for names. Null
/// where the text does not parse; the reason has been told to the context.
mlir::OwningOpRef<mlir::ModuleOp>
parseWithNames(const std::shared_ptr<llvm::SourceMgr> &source,
               mlir::MLIRContext *context);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_CUDACPP_SOURCENAMES_H
