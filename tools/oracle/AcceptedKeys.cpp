//===- AcceptedKeys.cpp - keys that wrong scores may choose ---------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/AcceptedKeys.h"

#include <algorithm>
#include <limits>

using namespace raytention;
using namespace raytention::oracle;

/// The scores of keys that antitop may choose when each z is off by less than
/// e: above the threshold or within e of it, and below, or within e of, the
/// smallest score that is surely above.
static ScoreRange antitopRange(const Row &row, double e) {
  double threshold = row.lse + logSmallestWeight();
  double smallest = std::numeric_limits<double>::infinity();
  for (double z : row.scores)
    if (z >= threshold + e)
      smallest = std::min(smallest, z);
  return {threshold - e, smallest + e};
}

ScoreRange oracle::acceptedRange(const Row &row, const Channel &channel,
                                 int64_t index, double e) {
  if (channel.kind == ChannelKind::Antitop)
    return antitopRange(row, e);
  double z = row.scores[index];
  return {z - e, z + e};
}
