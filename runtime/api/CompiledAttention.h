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
#include "runtime/api/Variants.h"

namespace raytention {

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

/// What all targets have in common: inputs are checked, what has no keys is
/// answered, the rest is handed to the compiled code.
class CompiledAttention : public Attention {
public:
  /// `mayFold`: whether the schedule depends on how many tokens keys are.
  CompiledAttention(AttentionSpec spec, Variants variants, bool mayFold)
      : spec(std::move(spec)), variants(std::move(variants)), mayFold(mayFold) {
  }

  Result<RunReport> run(const Inputs &inputs, const Outputs &outputs,
                        int threads) override;
  Result<RunReport> runBackward(const Inputs &inputs,
                                const Residuals &residuals,
                                const void *dSignals,
                                const Gradients &gradients,
                                int threads) override;

  int64_t signalWidth() const override { return module().signalWidth; }
  int64_t numLogSums() const override { return module().numLogSums; }
  int64_t numIndices() const override { return module().numIndices; }
  double compileMs() const override { return variants.compileMs(); }
  std::string scheduleText() const override { return module().scheduleText; }
  int numVariants() const override { return variants.size(); }

private:
  llvm::Expected<RunReport> runForward(const Inputs &inputs,
                                       const Outputs &outputs, int threads);
  llvm::Expected<RunReport>
  runGradient(const Inputs &inputs, const Residuals &residuals,
              const void *dSignals, const Gradients &gradients, int threads);
  /// The current variant; all have the same sizes.
  const CompiledModule &module() const { return variants.current(); }
  /// The report of a run that has nothing to compute.
  RunReport reportNothing(int threads) const;
  /// Runs the variant for the keys of the inputs.
  llvm::Expected<RunReport> call(BackEnd::Function function,
                                 llvm::ArrayRef<CallArgument> arguments,
                                 const Inputs &inputs, int threads);
  KeyStatistics countKeys(const Inputs &inputs) const;
  int64_t outputBytes() const { return spec.dtype == DType::F64 ? 8 : 4; }
  void fillEmpty(const Inputs &inputs, const Outputs &outputs) const;
  void fillZero(const Inputs &inputs, const Gradients &gradients) const;
  /// Lengths where the caller gives none, else null.
  static llvm::Expected<std::unique_ptr<int64_t[]>>
  makeLengths(const Inputs &inputs);
  /// What both functions begin with, in their order.
  std::vector<CallArgument> describeInputs(const Inputs &inputs,
                                           const Scalars &scalars,
                                           const int64_t *lengths) const;

  AttentionSpec spec;
  Variants variants;
  bool mayFold;
};

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_COMPILEDATTENTION_H
