//===- CompiledAttention.h - compiled code and how to call it ---*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_COMPILEDATTENTION_H
#define RAYTENTION_RUNTIME_API_COMPILEDATTENTION_H

#include "raytention/Attention.h"
#include "runtime/api/Compiler.h"
#include "runtime/device/cpu/ParallelFor.h"

namespace raytention {

/// One compiled function: its arguments are pointers to descriptors.
struct EntryPoint {
  void (*run)(void **arguments) = nullptr;          ///< null: not compiled
  int64_t (*workspace)(void **arguments) = nullptr; ///< null: it uses none
};

/// tau and gammas in the type of the accumulators.
struct Scalars {
  Scalars(const AttentionSpec &spec, const Inputs &inputs);
  const void *gammas() const;
  const void *tau() const;

private:
  bool isDouble;
  std::vector<double> doubles; ///< the gammas, then tau
  std::vector<float> floats;
};

class CompiledAttention : public Attention {
public:
  CompiledAttention(AttentionSpec spec, CompileOptions options,
                    CompiledModule module, EntryPoint forward,
                    EntryPoint backward, double milliseconds)
      : spec(std::move(spec)), options(options), module(std::move(module)),
        forward(forward), backward(backward), milliseconds(milliseconds) {}

  llvm::Expected<RunReport> run(const Inputs &inputs, const Outputs &outputs,
                                int threads) override;
  llvm::Expected<RunReport> runBackward(const Inputs &inputs,
                                        const Residuals &residuals,
                                        const void *dSignals,
                                        const Gradients &gradients,
                                        int threads) override;

  int64_t signalWidth() const override { return module.signalWidth; }
  int64_t numLogSums() const override { return module.numLogSums; }
  int64_t numIndices() const override { return module.numIndices; }
  double compileMs() const override { return milliseconds; }
  std::string scheduleText() const override { return module.scheduleText; }

private:
  /// Arrays that the caller did not give but compiled code reads or writes.
  struct Scratch {
    std::unique_ptr<int64_t[]> lengths;
    std::unique_ptr<char[]> norm, logSums;
    std::unique_ptr<int32_t[]> indices;
    /// Of a streaming gradient: each row's part in those of the parameters
    /// [B, Tq, 1 + n], the gradients of the keys [B, T, D].
    std::unique_ptr<char[]> parameterParts, keyGradients;
    int64_t backwardBytes = 0;
  };

  int64_t outputBytes() const { return spec.dtype == DType::F64 ? 8 : 4; }
  void choosePool(int threads);
  void fillEmpty(const Inputs &inputs, const Outputs &outputs) const;
  void fillZero(const Inputs &inputs, const Gradients &gradients) const;
  llvm::Error allocateLengths(const Inputs &inputs, Scratch &scratch) const;
  llvm::Expected<Scratch> allocateScratch(const Inputs &inputs,
                                          const Outputs &outputs) const;
  llvm::Expected<Scratch> allocateBackward(const Inputs &inputs) const;
  bool isStreaming() const { return options.target == TargetKind::Cpu; }
  llvm::Error checkWorkspace(const EntryPoint &entry, void **arguments,
                             const Inputs &inputs) const;
  /// Checks the workspace, then runs on the pool.
  llvm::Expected<RunReport> call(const EntryPoint &entry, void **arguments,
                                 const Inputs &inputs);

  AttentionSpec spec;
  CompileOptions options;
  CompiledModule module;
  EntryPoint forward, backward;
  double milliseconds;
  std::unique_ptr<cpu::WorkerPool> pool;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_COMPILEDATTENTION_H
