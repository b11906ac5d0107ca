//===- Generate.h - text from the model -------------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_GENERATE_H
#define RAYTENTION_EXAMPLES_CHARLM_GENERATE_H

#include "examples/charlm/Model.h"
#include "examples/charlm/Random.h"

#include "llvm/ADT/ArrayRef.h"

namespace raytention::charlm {

struct GenerateOptions {
  int64_t count = 500;
  int64_t context = 128; ///< ids that a step looks back on at most
  double temperature = 0.8;
  uint64_t seed = 0;
};

/// An id drawn from softmax(logits / temperature); at 0 the likeliest.
int32_t sample(llvm::ArrayRef<float> logits, double temperature,
               Random &random);

/// Continues `prompt`, which is not empty; returns what was added. A step
/// computes one row per layer and keeps nothing from the steps before.
Result<std::vector<int32_t>> generate(Model<float> &model,
                                      llvm::ArrayRef<int32_t> prompt,
                                      const GenerateOptions &options);

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_GENERATE_H
