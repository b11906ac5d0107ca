//===- Backward.cpp - gradients of a run ----------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Backward.h"

#include "tools/rt/Measure.h"
#include "tools/rt/Progress.h"

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
  return attention.runBackward(inputs.view(), residuals, dSignals.data(),
                               outputs, threads);
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
  return Error::success();
}

} // namespace raytention::tool
