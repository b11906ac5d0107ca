//===- ObjectCode.h - LLVM dialect to object files --------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_OBJECTCODE_H
#define RAYTENTION_CODEGEN_LLVMCPU_OBJECTCODE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir
namespace llvm::orc {
class JITTargetMachineBuilder;
}

namespace raytention {

/// What the translation to LLVM IR needs; add before a module is made.
void registerLlvmTranslations(mlir::DialectRegistry &registry);

/// This machine, as code for this process needs it.
llvm::Expected<llvm::orc::JITTargetMachineBuilder> detectHost();

/// How long optimising may take: Full is for code that is run often, Quick for
/// large scalar code, where the loop optimisations of Full take most of the
/// time.
enum class OptimizationEffort { Quick, Full };

/// Object files that are linked together.
using Objects = std::vector<std::unique_ptr<llvm::MemoryBuffer>>;

/// Compiles a module of the LLVM dialect for this machine, optimised, on up to
/// `workers` threads. The objects depend on the module alone: each large
/// function is one, all others are another.
llvm::Expected<Objects>
compileToObjects(mlir::ModuleOp module,
                 OptimizationEffort effort = OptimizationEffort::Full,
                 int workers = 1);

/// What objects define, and what they need beside each other.
struct Symbols {
  std::set<std::string> defined, undefined;
};
llvm::Expected<Symbols> findSymbols(const Objects &objects);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_OBJECTCODE_H
