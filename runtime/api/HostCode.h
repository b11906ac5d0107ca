//===- HostCode.h - machine code of this process ----------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_HOSTCODE_H
#define RAYTENTION_RUNTIME_API_HOSTCODE_H

#include "codegen/LlvmCpu/Jit.h"
#include "runtime/api/BackEnd.h"
#include "runtime/device/cpu/ParallelFor.h"

namespace raytention {

/// One compiled function: its arguments are pointers to descriptors.
struct EntryPoint {
  void (*run)(void **arguments) = nullptr;          ///< null: not compiled
  int64_t (*workspace)(void **arguments) = nullptr; ///< null: it uses none
  /// Bytes that it takes as one more argument; null: it takes none.
  int64_t (*scratch)(void **arguments) = nullptr;
};

/// Code of the JIT, run on a pool of workers.
class HostCode : public BackEnd {
public:
  /// Compiles a module of the LLVM dialect.
  static llvm::Expected<std::unique_ptr<BackEnd>>
  compile(mlir::ModuleOp module, const CompileOptions &options,
          OptimizationEffort effort);

  bool has(Function function) const override { return entry(function).run; }
  int chooseThreads(int threads) override;
  void takeWorkers(BackEnd &other) override {
    pool = std::move(static_cast<HostCode &>(other).pool);
  }
  llvm::Expected<RunReport> call(Function function,
                                 llvm::ArrayRef<CallArgument> arguments,
                                 int64_t numKeys) override;

  const Jit &getJit() const { return *jit; }

private:
  HostCode(std::unique_ptr<Jit> jit, int64_t workspaceCap)
      : jit(std::move(jit)), workspaceCap(workspaceCap) {}

  const EntryPoint &entry(Function function) const {
    return function == Function::Forward ? forward : backward;
  }
  llvm::Error checkWorkspace(const EntryPoint &entry, void **arguments,
                             int64_t numKeys) const;

  std::unique_ptr<Jit> jit;
  int64_t workspaceCap; ///< bytes per worker
  EntryPoint forward, backward;
  std::unique_ptr<cpu::WorkerPool> pool;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_HOSTCODE_H
