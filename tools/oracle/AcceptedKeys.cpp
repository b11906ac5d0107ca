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
template <typename Real>
static ScoreRange antitopRange(const std::vector<Real> &shifted, Real logSum,
                               double e) {
  Real threshold = logSum + logSmallestWeight<Real>();
  Real smallest = std::numeric_limits<Real>::infinity();
  for (Real z : shifted)
    if (z >= threshold + e)
      smallest = std::min(smallest, z);
  return {static_cast<double>(threshold - e),
          static_cast<double>(smallest + e)};
}

template <typename Real>
ScoreRange oracle::acceptedRange(const std::vector<Real> &shifted, Real logSum,
                                 const Channel &channel, int64_t index,
                                 double e) {
  if (channel.kind == ChannelKind::Antitop)
    return antitopRange(shifted, logSum, e);
  double z = static_cast<double>(shifted[index]);
  return {z - e, z + e};
}

template ScoreRange oracle::acceptedRange<double>(const std::vector<double> &,
                                                  double, const Channel &,
                                                  int64_t, double);
template ScoreRange
oracle::acceptedRange<long double>(const std::vector<long double> &,
                                   long double, const Channel &, int64_t,
                                   double);
