//===- Distance.h - which distances are computed again -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_DISTANCE_H
#define RAYTENTION_DIALECT_ELEMENTS_DISTANCE_H

namespace raytention {

/// Where a squared distance is below this share of the squared norms, an
/// expansion has lost digits that a root, or a division by it, would magnify.
constexpr double kNearShare = 0x1p-10;

/// Below `square`, the terms of a squared distance may have been subnormal, and
/// flushed; of differences times `unit` they are not.
struct TinySquares {
  double square, unit;
};
constexpr TinySquares getTinySquares(bool isDouble) {
  return isDouble ? TinySquares{0x1p-900, 0x1p512}
                  : TinySquares{0x1p-80, 0x1p64};
}

/// Under l2, the coefficient of a pair that is nearer than this is not divided
/// by its distance, as the quotient may leave the type's range: the difference
/// that it multiplies is.
constexpr double getTinyDistance(bool isDouble) {
  return isDouble ? 0x1p-200 : 0x1p-20;
}

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_DISTANCE_H
