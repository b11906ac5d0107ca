//===- AcceptedKeys.h - keys that wrong scores may choose -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_ACCEPTEDKEYS_H
#define RAYTENTION_TOOLS_ORACLE_ACCEPTEDKEYS_H

#include "tools/oracle/Oracle.h"

namespace raytention {
namespace oracle {

/// An interval of scores less the largest one, as in Row::shifted.
struct ScoreRange {
  double low, high;
  bool holds(double shifted) const { return low <= shifted && shifted <= high; }
};

/// The scores of keys that `channel`, a top:K or antitop that chose `index`,
/// may choose instead when each z of a row is off by less than e. `shifted`,
/// [visible], and `logSum`: of Row.
template <typename Real>
ScoreRange acceptedRange(const std::vector<Real> &shifted, Real logSum,
                         const Channel &channel, int64_t index, double e);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ACCEPTEDKEYS_H
