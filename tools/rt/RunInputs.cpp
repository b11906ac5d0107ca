//===- RunInputs.cpp - the inputs of one run ------------------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/RunInputs.h"

#include "tools/rt/Channels.h"

#include <algorithm>

namespace raytention::tool {

int64_t RunInputs::signalWidth() const {
  return tool::signalWidth(spec.channels, spec.dModel);
}

int64_t RunInputs::visiblePairs() const {
  int64_t pairs = 0;
  for (int64_t b = 0; b < batch; ++b) {
    // Rows at positions queryOffset .. end - 1 see 1 key more each.
    int64_t end = std::min(queryOffset + numQueries, lengths[b]);
    if (end > queryOffset)
      pairs += (end - queryOffset) * (queryOffset + 1 + end) / 2;
  }
  return pairs;
}

Inputs RunInputs::view() const {
  Inputs inputs;
  inputs.batch = batch;
  inputs.numQueries = numQueries;
  inputs.numKeys = numKeys;
  inputs.vocab = vocab;
  inputs.queries = queries.data();
  inputs.table = table.data();
  inputs.ids = ids.data();
  inputs.tau = tau;
  inputs.gammas = gammas;
  inputs.queryOffset = queryOffset;
  inputs.lengths = lengths.data();
  return inputs;
}

} // namespace raytention::tool
