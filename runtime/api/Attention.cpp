//===- Attention.cpp - compile and run --------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/Attention.h"
#include "runtime/api/CompiledAttention.h"
#include "runtime/api/StatusError.h"
#include "runtime/support/Crew.h"
#include "runtime/support/FloatEnvironment.h"

#include <limits>

using namespace llvm;
using namespace raytention;

Attention::~Attention() = default;

static Error checkOptions(const CompileOptions &options) {
  if (options.workspaceCap < 0)
    return createStringError("expected a workspace cap >= 0 bytes, got " +
                             Twine(options.workspaceCap));
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (options.expectedKeys < 0 || options.expectedKeys > most)
    return createStringError("expected a number of expected keys in [0, " +
                             Twine(most) + "], got " +
                             Twine(options.expectedKeys));
  return Error::success();
}

static Expected<std::unique_ptr<Attention>>
compileModuleOrSpec(const AttentionSpec &spec, const CompileOptions &options,
                    const StringRef *text) {
  // LLVM and MLIR have locks and tables that are one per process.
  ForkGuard guard;
  FloatEnvironment environment;
  if (Error error = checkOptions(options))
    return error;
  auto variants = text ? Variants::compile(*text, spec, options)
                       : Variants::compile(spec, options);
  if (!variants)
    return variants.takeError();
  return std::make_unique<CompiledAttention>(spec, std::move(*variants));
}

Result<std::unique_ptr<Attention>>
Attention::compile(const AttentionSpec &spec, const CompileOptions &options) {
  return toResult(compileModuleOrSpec(spec, options, nullptr));
}

Result<std::unique_ptr<Attention>>
Attention::compileModule(std::string_view mlirText, const AttentionSpec &spec,
                         const CompileOptions &options) {
  StringRef text = mlirText;
  return toResult(compileModuleOrSpec(spec, options, &text));
}

Result<RunReport> CompiledAttention::run(const Inputs &inputs,
                                         const Outputs &outputs, int threads) {
  return toResult(runForward(inputs, outputs, threads));
}

Result<RunReport> CompiledAttention::runBackward(const Inputs &inputs,
                                                 const Residuals &residuals,
                                                 const void *dSignals,
                                                 const Gradients &gradients,
                                                 int threads) {
  return toResult(runGradient(inputs, residuals, dSignals, gradients, threads));
}

std::vector<std::string> raytention::defaultChannels() {
  return {"centroid",
          "decay:forward:0",
          "decay:backward:1",
          "decay:backward:2",
          "decay:backward:3",
          "predecessor",
          "top:1",
          "top:2",
          "decay:backward:4",
          "antitop",
          "spread",
          "entropy"};
}

std::vector<std::string> raytention::sevenChannels() {
  return {"centroid", "decay:backward:0", "predecessor", "top:1",
          "top:2",    "spread",           "entropy"};
}
