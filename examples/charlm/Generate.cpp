//===- Generate.cpp - text from the model ---------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "examples/charlm/Generate.h"

#include <algorithm>
#include <cmath>

namespace raytention::charlm {

int32_t sample(llvm::ArrayRef<float> logits, double temperature,
               Random &random) {
  const float *largest = std::max_element(logits.begin(), logits.end());
  if (temperature <= 0)
    return int32_t(largest - logits.begin());
  std::vector<double> upTo;
  double sum = 0;
  for (float logit : logits)
    upTo.push_back(sum +=
                   std::exp((double(logit) - double(*largest)) / temperature));
  auto drawn =
      std::upper_bound(upTo.begin(), upTo.end(), random.uniform() * sum);
  return int32_t(
      std::min<int64_t>(drawn - upTo.begin(), int64_t(logits.size()) - 1));
}

Result<std::vector<int32_t>> generate(Model<float> &model,
                                      llvm::ArrayRef<int32_t> prompt,
                                      const GenerateOptions &options) {
  Random random(options.seed ^ 0x7e47u);
  std::vector<int32_t> ids = prompt.vec();
  for (int64_t i = 0; i < options.count; ++i) {
    auto seen = llvm::ArrayRef<int32_t>(ids).take_back(
        std::min(ids.size(), size_t(options.context)));
    Batch batch;
    batch.sequences = batch.queries = 1;
    batch.keys = int64_t(seen.size());
    batch.ids = seen.vec();
    auto logits = model.logits(batch);
    if (!logits)
      return logits.status();
    ids.push_back(sample({logits->data(), size_t(logits->cols())},
                         options.temperature, random));
  }
  ids.erase(ids.begin(), ids.begin() + std::ptrdiff_t(prompt.size()));
  return ids;
}

} // namespace raytention::charlm
