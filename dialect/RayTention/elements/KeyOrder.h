//===- KeyOrder.h - which of two keys is chosen -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever chooses a key compares its score and its position together: equal
// scores go to the lower position. So keys, and parts of them, may come in any
// order (docs/semantics.md).
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_KEYORDER_H
#define RAYTENTION_DIALECT_ELEMENTS_KEYORDER_H

#include "dialect/RayTention/ElementBuilder.h"

namespace raytention {

/// A key by z, a float, and position, i32. No key has position -1 and the
/// infinite z that every other one beats; a masked key, of z minus infinity,
/// does not beat it.
struct ScoredKey {
  mlir::Value score, position;
};

/// Whether `first` is the larger one.
mlir::Value isLarger(ElementBuilder &b, const ScoredKey &first,
                     const ScoredKey &second);
/// Whether `first` is the smaller one.
mlir::Value isSmaller(ElementBuilder &b, const ScoredKey &first,
                      const ScoredKey &second);
/// `first` where the condition holds, else `second`.
ScoredKey select(ElementBuilder &b, mlir::Value condition,
                 const ScoredKey &first, const ScoredKey &second);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_KEYORDER_H
