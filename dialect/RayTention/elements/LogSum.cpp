//===- LogSum.cpp - running maxima and log-sums -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/LogSum.h"

using namespace mlir;
using namespace raytention;

Value raytention::mergeMax(ElementBuilder &b, Value first, Value second) {
  return b.max(b.max(first, second), b.lowest());
}

LogSum raytention::addLogSum(ElementBuilder &b, const LogSum &old, Value max,
                             Value sum) {
  Value rescale = b.exp(b.sub(old.max, max));
  return {max, b.fma(old.sum, rescale, sum)};
}

Value raytention::moveMax(ElementBuilder &b, Value max, Value from, Value to) {
  return b.add(max, b.sub(from, to));
}

/// Any sum over keys is at least 1.
static Value floorSum(ElementBuilder &b, Value sum) {
  return b.max(sum, b.constant(0.5));
}

Value raytention::getLog(ElementBuilder &b, Value sum) {
  return b.log(floorSum(b, sum));
}

Value raytention::getInverse(ElementBuilder &b, Value sum) {
  return b.div(b.constant(1), floorSum(b, sum));
}
