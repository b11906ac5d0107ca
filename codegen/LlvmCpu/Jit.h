//===- Jit.h - LLVM dialect to machine code in this process -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_JIT_H
#define RAYTENTION_CODEGEN_LLVMCPU_JIT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace mlir {
class DialectRegistry;
class ModuleOp;
} // namespace mlir
namespace llvm::orc {
class LLJIT;
}

namespace raytention {

/// A function of this process that compiled code may call.
struct JitCallback {
  std::string name;
  void *address;
};

/// What the translation to LLVM IR needs; add before a module is made.
void registerLlvmTranslations(mlir::DialectRegistry &registry);

/// How long optimising may take: Full is for code that is run often, Quick for
/// large scalar code, where the loop optimisations of Full take most of the
/// time.
enum class OptimizationEffort { Quick, Full };

/// Compiles a module of the LLVM dialect for this machine, optimised.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileToObject(mlir::ModuleOp module,
                OptimizationEffort effort = OptimizationEffort::Full);

/// An object file's undefined symbols, sorted.
llvm::Expected<std::vector<std::string>>
findUndefinedSymbols(llvm::MemoryBufferRef object);

/// Machine code in memory.
class Jit {
public:
  ~Jit();

  /// Links `object` against `callbacks`, then against this process.
  static llvm::Expected<std::unique_ptr<Jit>>
  load(std::unique_ptr<llvm::MemoryBuffer> object,
       llvm::ArrayRef<JitCallback> callbacks);
  /// compileToObject, then load.
  static llvm::Expected<std::unique_ptr<Jit>>
  compile(mlir::ModuleOp module, llvm::ArrayRef<JitCallback> callbacks,
          OptimizationEffort effort = OptimizationEffort::Full);

  bool contains(llvm::StringRef symbol) const;
  /// The address of a function of type `Function`.
  template <typename Function>
  llvm::Expected<Function *> lookup(llvm::StringRef symbol) {
    llvm::Expected<void *> address = lookupAddress(symbol);
    if (!address)
      return address.takeError();
    return reinterpret_cast<Function *>(*address);
  }

  /// The object file that was linked.
  llvm::MemoryBufferRef object() const { return bytes->getMemBufferRef(); }
  const std::vector<std::string> &undefinedSymbols() const { return undefined; }

private:
  Jit() = default;
  llvm::Expected<void *> lookupAddress(llvm::StringRef symbol);

  std::unique_ptr<llvm::MemoryBuffer> bytes;
  std::vector<std::string> undefined, defined;
  std::string reported; ///< what the linker said beside its errors
  std::unique_ptr<llvm::orc::LLJIT> lljit;
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_JIT_H
