//===- KeyOrder.cpp - which of two keys is chosen -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialect/RayTention/elements/KeyOrder.h"

using namespace mlir;
using namespace raytention;

static Value orLower(ElementBuilder &b, Value better, const ScoredKey &first,
                     const ScoredKey &second) {
  Value isEqual = b.equal(first.score, second.score);
  Value isLower = b.intLess(first.position, second.position);
  return b.logicalOr(better, b.logicalAnd(isEqual, isLower));
}

Value raytention::isLarger(ElementBuilder &b, const ScoredKey &first,
                           const ScoredKey &second) {
  return orLower(b, b.greater(first.score, second.score), first, second);
}

Value raytention::isSmaller(ElementBuilder &b, const ScoredKey &first,
                            const ScoredKey &second) {
  return orLower(b, b.less(first.score, second.score), first, second);
}

ScoredKey raytention::select(ElementBuilder &b, Value condition,
                             const ScoredKey &first, const ScoredKey &second) {
  return {b.select(condition, first.score, second.score),
          b.select(condition, first.position, second.position)};
}
