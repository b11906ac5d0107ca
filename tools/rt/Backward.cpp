//===- Backward.cpp - gradients of a run ----------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Backward.h"

#include "runtime/api/StatusError.h"
#include "tools/rt/Measure.h"
#include "tools/rt/Progress.h"
#include "tools/rt/ToolError.h"

#include <cmath>

using llvm::Error;
using llvm::Expected;

namespace raytention::tool {

Expected<RunReport> runBackward(Attention &attention, const RunInputs &inputs,
                                const RunResult &result, const Buffer &dSignals,
                                int threads, GradientResult &gradients) {
  Residuals residuals;
  residuals.signals = result.signals.data();
  residuals.norm = result.norm.data();
  residuals.indices = result.indices.as<int32_t>();
  residuals.logSums = result.logSums.data();
  Gradients outputs;
  outputs.queries = gradients.queries.data();
  outputs.table = gradients.table.data();
  outputs.tau = gradients.tau.data();
  outputs.gammas = gradients.gammas.data();
  return toExpected(attention.runBackward(inputs.view(), residuals,
                                          dSignals.data(), outputs, threads));
}

/// What each gradient is called, and where it is.
static Error checkFinite(const RunInputs &inputs,
                         const GradientResult &gradients) {
  DType dtype = inputs.spec.dtype;
  const std::pair<const char *, const Buffer &> parts[] = {
      {"dq", gradients.queries},
      {"dtable", gradients.table},
      {"dtau", gradients.tau},
      {"dgammas", gradients.gammas}};
  for (auto &[name, values] : parts)
    for (int64_t n = 0, e = values.size() / elementSize(outputDType(dtype));
         n < e; ++n)
      if (double value = outputAt(values, dtype, n); !std::isfinite(value))
        return failedError(
            "{0}: expected finite values, as where its terms "
            "stay below {1}, got {2} at element {3}; use smaller "
            "inputs or a smaller --grad",
            name, dtype == DType::F64 ? "2^1000" : "2^120", numberText(value),
            n);
  return Error::success();
}

Error runBackwardRepeatedly(Attention &attention, const RunInputs &inputs,
                            int64_t repeat, int threads, RunResult &result) {
  GradientResult &gradients = result.gradients.emplace();
  if (Error error = allocateGradients(inputs, gradients))
    return error;
  Progress progress("backward", repeat > 1 ? repeat : 0);
  std::vector<double> times;
  PeakMeter meter;
  meter.start();
  for (int64_t i = 0; i < repeat; ++i) {
    Expected<RunReport> report = runBackward(
        attention, inputs, result, inputs.dSignals, threads, gradients);
    if (!report)
      return report.takeError();
    if (i == 0)
      gradients.peakExtraBytes = meter.extraBytes();
    gradients.report = *report;
    times.push_back(report->runMs);
    progress.step();
  }
  gradients.report.runMs = median(std::move(times));
  return checkFinite(inputs, gradients);
}

} // namespace raytention::tool
