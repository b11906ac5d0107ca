//===- SequenceLength.h - lengths and masks in tile loops ----------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_PASSES_TILE_SEQUENCELENGTH_H
#define RAYTENTION_PASSES_TILE_SEQUENCELENGTH_H

#include "dialect/RayTention/RayTention.h"

namespace raytention {

/// Tokens of the sequence `entry` of the batch: `lengths[entry]`, at most
/// `numKeys`; without `lengths` all `numKeys`.
mlir::Value buildSequenceLength(mlir::OpBuilder &b, mlir::Location loc,
                                mlir::Value lengths, mlir::Value entry,
                                mlir::Value numKeys);

/// One past the last key that any of `rows` rows from `row` on sees, under
/// `mask` (null: causal) in a sequence of `length` tokens; at least 0.
mlir::Value buildVisibleEnd(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Attribute mask, mlir::Value row,
                            mlir::Value rows, mlir::Value length);

} // namespace raytention

#endif // RAYTENTION_PASSES_TILE_SEQUENCELENGTH_H
