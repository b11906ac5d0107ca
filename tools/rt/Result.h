//===- Result.h - what a run gave -------------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_RESULT_H
#define RAYTENTION_TOOLS_RT_RESULT_H

#include "tools/rt/OutputDir.h"
#include "tools/rt/RunInputs.h"

namespace raytention::tool {

/// An element of an output as a double.
double outputAt(const Buffer &buffer, DType dtype, int64_t index);

/// The gradients of one run, outputType(dtype), and what was measured.
struct GradientResult {
  Buffer queries;   ///< [B, Tq, D]
  Buffer table;     ///< [V, D]
  Buffer tau;       ///< one number
  Buffer gammas;    ///< [numGammas]
  RunReport report; ///< runMs: the median of the repetitions
  std::optional<int64_t> peakExtraBytes;
};

/// The outputs of one run and what was measured.
struct RunResult {
  Buffer signals; ///< y [B, Tq, S], outputType(dtype)
  Buffer norm;    ///< ||x|| [B, Tq], outputType(dtype)
  Buffer indices; ///< [B, Tq, numIndices], int32
  Buffer logSums; ///< [B, Tq, numLogSums], outputType(dtype); for gradients
  DType dtype = DType::F32;
  int64_t width = 0;      ///< S
  int64_t numIndices = 0; ///< copying channels
  int64_t numLogSums = 0; ///< what gradients need of a row
  std::optional<GradientResult> gradients;
  RunReport report; ///< runMs: the median of the repetitions
  double compileMs = 0;
  std::string schedule;
  std::optional<int64_t> peakExtraBytes;

  double signalAt(int64_t row, int64_t s) const;
  double normAt(int64_t row) const;
  /// x = y max(||x||, 1e-10), before the final normalisation.
  double rawAt(int64_t row, int64_t s) const;
  int32_t indexAt(int64_t row, int64_t slot) const {
    return indices.as<int32_t>()[row * numIndices + slot];
  }
};

/// Allocates the outputs, those for gradients if wanted, and fills them with
/// NaN (indices: -1), so that their pages are there before the run and anything
/// that it fails to write is seen by every check.
llvm::Error allocateOutputs(const RunInputs &inputs, RunResult &result);
/// The same for gradients.
llvm::Error allocateGradients(const RunInputs &inputs, GradientResult &result);

/// Floating-point operations that the result needs: per visible pair 2 D for
/// the distance and 2 D for each weighted channel.
double usefulFlops(const RunInputs &inputs);

/// Writes signals.npy and raw.npy, [B, Tq, S], and the gradients if there are
/// any: dq.npy [B, Tq, D], dtable.npy [V, D], dtau.npy [], dgammas.npy [n].
llvm::Error writeResult(const RunInputs &inputs, const RunResult &result,
                        OutputDir &folder);
/// The sizes in bytes of these files at most.
std::vector<uint64_t> resultFileSizes(const RunInputs &inputs);
/// The names of these files, all of them.
llvm::ArrayRef<llvm::StringRef> resultFiles();

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_RESULT_H
