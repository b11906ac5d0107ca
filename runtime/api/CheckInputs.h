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

namespace raytention {

/// Checks everything that a run reads except the elements of queries and
/// table; an error says what was expected and what was got, and where.
llvm::Error checkInputs(const AttentionSpec &spec, const Inputs &inputs,
                        const Outputs &outputs, int threads);

} // namespace raytention

#endif // RAYTENTION_RUNTIME_API_CHECKINPUTS_H
