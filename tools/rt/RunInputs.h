//===- RunInputs.h - the inputs of one run ----------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads, draws and checks everything that `rt run` passes to an attention,
// before anything is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_RUNINPUTS_H
#define RAYTENTION_TOOLS_RT_RUNINPUTS_H

#include "tools/rt/Buffer.h"
#include "tools/rt/Options.h"

namespace raytention::tool {

/// Inputs of one run with what owns their memory. Everything is checked: ids
/// in range and, where a visible position reads them, values finite in their
/// type and norms that do not overflow.
struct RunInputs {
  AttentionSpec spec;
  int64_t batch = 0;      ///< B
  int64_t numQueries = 0; ///< Tq
  int64_t numKeys = 0;    ///< T
  int64_t vocab = 0;      ///< V
  Buffer queries;         ///< [B, Tq, D], spec.dtype
  Buffer table;           ///< [V, D], spec.dtype
  Buffer ids;             ///< [B, T], spec.idBits
  bool backward = false;  ///< whether gradients are wanted
  Buffer dSignals;        ///< dy [B, Tq, S], outputDType(spec.dtype); for them
  /// Rounded to float under F32 and BF16: what the compiled code gets, and what
  /// it is checked against.
  double tau = 1;
  std::vector<double> gammas;
  int64_t queryOffset = 0;
  std::vector<int64_t> lengths; ///< [B]
  Tokens tokens;                ///< of --text; else empty

  int64_t dModel() const { return spec.dModel; }
  int64_t signalWidth() const; ///< S
  int64_t rows() const { return batch * numQueries; }
  int64_t idAt(int64_t index) const {
    return spec.idBits == 64 ? ids.as<int64_t>()[index]
                             : ids.as<int32_t>()[index];
  }
  /// Keys that row `row` of sequence `sequence` sees.
  int64_t visibleKeys(int64_t sequence, int64_t row) const {
    int64_t position = row + queryOffset;
    return position < lengths[sequence] ? position + 1 : 0;
  }
  /// Sum of visibleKeys() over all rows.
  int64_t visiblePairs() const;
  /// As the library takes them; borrows from this.
  Inputs view() const;
};

/// Assembles the inputs that `options` describe. Errors are one line with
/// expected and got (exit code 2), or say how much memory is missing (3).
llvm::Expected<RunInputs> assembleInputs(const RunOptions &options);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_RUNINPUTS_H
