//===- KeyFold.h - positions of a listed key ------ -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_KEYFOLD_H
#define RAYTENTION_DIALECT_ELEMENTS_KEYFOLD_H

#include "dialect/RayTention/SweepLayout.h"

namespace raytention {

/// A key's column in the positions (i32) and masses of a list.
struct KeyColumn {
  llvm::SmallVector<mlir::Value> positions, masses;
};

/// The column with `position` added, behind all that is there
/// (docs/semantics.md, "Folding onto the vocabulary"). Masses stay sums of 1
/// and powers of at most 1: forward decays count from the first position,
/// backward ones from the last, so position and mass together never underflow,
/// without logarithms.
KeyColumn addPosition(ElementBuilder &b, const SweepLayout &layout,
                      const ParameterValues &params, const KeyColumn &column,
                      mlir::Value position);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_KEYFOLD_H
