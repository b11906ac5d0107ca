//===- CheckInputs.h - are the inputs of a run in range ---------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_RUNTIME_API_CHECKINPUTS_H
#define RAYTENTION_RUNTIME_API_CHECKINPUTS_H

#include "raytention/Attention.h"

#include "llvm/Support/Error.h"

namespace raytention {

/// Checks everything that a run reads except the elements of queries and
/// table; an error says what was expected and what was got, and where.
llvm::Error checkInputs(const AttentionSpec &spec, const Inputs &inputs,
                        const Outputs &outputs, int threads);

/// The same for a backward run: every residual and gradient that is read or
/// written is there, and the indices are positions of keys.
llvm::Error checkBackward(const AttentionSpec &spec, const Inputs &inputs,
                          const Residuals &residuals, const void *dSignals,
                          const Gradients &gradients, int64_t numIndices,
                          int64_t numLogSums, int threads);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_CHECKINPUTS_H
