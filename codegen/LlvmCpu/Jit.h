//===- Jit.h - LLVM dialect to machine code in this process -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_JIT_H
#define RAYTENTION_CODEGEN_LLVMCPU_JIT_H

#include "codegen/LlvmCpu/ObjectCode.h"

#include "llvm/ADT/ArrayRef.h"

namespace llvm::orc {
class LLJIT;
}

namespace raytention {

/// A function of this process that compiled code may call.
struct JitCallback {
  std::string name;
  void *address;
};

/// Machine code in memory.
class Jit {
public:
  ~Jit();

  /// Links `objects` against `callbacks`, then against this process.
  static llvm::Expected<std::unique_ptr<Jit>>
  load(Objects objects, llvm::ArrayRef<JitCallback> callbacks);
  /// compileToObjects on all cores, then load.
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

  const std::set<std::string> &undefinedSymbols() const {
    return symbols.undefined;
  }

private:
  Jit() = default;
  llvm::Expected<void *> lookupAddress(llvm::StringRef symbol);

  Symbols symbols;
  std::string reported; ///< what the linker said beside its errors
  std::unique_ptr<llvm::orc::LLJIT> lljit;
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_JIT_H
