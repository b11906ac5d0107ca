//===- LogSum.h - running maxima and log-sums -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A row's sums of exponentials over keys, held so that nothing overflows and no
// digits are lost where scores are large (docs/semantics.md, "Streaming"):
//
//   softmax            m = max z           l = sum exp(z - m)
//   decayed channel    r = max (f + z - m) l = sum exp(f + z - m - r)
//
// with f = p log g. The channel's maximum counts from the softmax's: f + z
// alone would drown f in a large z.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_LOGSUM_H
#define RAYTENTION_DIALECT_ELEMENTS_LOGSUM_H

#include "dialect/RayTention/ElementBuilder.h"

namespace raytention {

/// A maximum, minus infinity over no keys, and a sum that counts from it.
struct LogSum {
  mlir::Value max, sum;
};

/// The larger of two maxima, finite even if neither has seen a key: what is
/// subtracted from scores must not be infinite.
mlir::Value mergeMax(ElementBuilder &b, mlir::Value first, mlir::Value second);

/// `old` counted from `max`, which is no less, and `sum` added, which counts
/// from `max` already.
LogSum addLogSum(ElementBuilder &b, const LogSum &old, mlir::Value max,
                 mlir::Value sum);

/// A channel's maximum, that counted from `from`, counted from `to`.
mlir::Value moveMax(ElementBuilder &b, mlir::Value max, mlir::Value from,
                    mlir::Value to);

/// log l; finite for a row that has seen nothing.
mlir::Value getLog(ElementBuilder &b, mlir::Value sum);

/// 1 / l; finite for a row that has seen nothing. A weight is `exp(f + z - m -
/// r) / l` rather than the exponential of one more difference, log l: that one
/// would be rounded, and weights that should sum to 1 would not.
mlir::Value getInverse(ElementBuilder &b, mlir::Value sum);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_LOGSUM_H
