//===- Sum.h - sums that keep what an addition loses ------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_SUM_H
#define RAYTENTION_TOOLS_ORACLE_SUM_H

#include <cmath>

namespace raytention {
namespace oracle {

/// A compensated sum: as good as one in twice the digits, however many terms.
template <typename Real> class Sum {
public:
  void add(Real term) {
    Real next = total + term;
    lost += std::fabs(total) >= std::fabs(term) ? (total - next) + term
                                                : (term - next) + total;
    total = next;
  }
  Real value() const { return std::isfinite(lost) ? total + lost : total; }

private:
  Real total = 0, lost = 0;
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_SUM_H
