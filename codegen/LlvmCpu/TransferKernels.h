//===- TransferKernels.h - plain memory to a task's forms and back -*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_TRANSFERKERNELS_H
#define RAYTENTION_CODEGEN_LLVMCPU_TRANSFERKERNELS_H

#include "codegen/LlvmCpu/GradientKernels.h"

namespace raytention {

/// What the places beyond the last item get: the last item again, so that they
/// compute nothing special, or zeros, so that they add nothing.
enum class Padding { Repeat, Zero };

/// The last two axes of a plain buffer, from an offset on.
struct PlainMatrix {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> begin;
  mlir::Value rows, columns; ///< present

  llvm::SmallVector<mlir::Value> at(KernelBuilder &k, mlir::Value row,
                                    mlir::Value column) const;
  RowPointer pointTo(KernelBuilder &k, mlir::Value row) const;
};

/// Indices into a buffer of the task, of an item's lane and what passes by.
using LanePlace = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value passing, mlir::Value lane)>;
/// Indices into panels of rows, of a panel and a place in it.
using PanelPlace = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::Value panel, mlir::Value in)>;

/// Items are the rows of the matrix: they go to lanes, in all `itemLanes`.
void importRowsToLanes(KernelBuilder &k, const PlainMatrix &from,
                       Padding padding, mlir::Value to, LanePlace place);
void exportLanesToRows(KernelBuilder &k, mlir::Value from, LanePlace place,
                       const PlainMatrix &to);
/// Items are its columns: its rows stay rows.
void importColumnsToLanes(KernelBuilder &k, const PlainMatrix &from,
                          Padding padding, mlir::Value to, LanePlace place);
void exportLanesToColumns(KernelBuilder &k, mlir::Value from, LanePlace place,
                          const PlainMatrix &to);

/// States [rows, fields] of `lanes` rows.
void importState(KernelBuilder &k, const PlainMatrix &from, Padding padding,
                 int64_t lanes, const PartView &to);
void exportState(KernelBuilder &k, const PartView &from, const PlainMatrix &to);

/// A row of width D into panels, zeros behind it, and back; `finish` makes of a
/// vector (or, in the rest of a row, of an element) at a place what is stored.
using FinishElement = llvm::function_ref<mlir::Value(
    mlir::Value value, mlir::Value panel, mlir::Value in)>;
void importRow(KernelBuilder &k, const RowPointer &from, mlir::Value to,
               PanelPlace place);
void clearRow(KernelBuilder &k, mlir::Value to, PanelPlace place);
void exportRow(KernelBuilder &k, mlir::Value from, PanelPlace place,
               const RowPointer &to, FinishElement finish = {});

/// Zeros in the rows [begin, end) of a buffer [rows][itemLanes or more].
void clearRows(KernelBuilder &k, mlir::Value data, mlir::Value begin,
               mlir::Value end);
/// to += from, of `slots` runs of itemLanes in rows [0, rows) of both.
void addRows(KernelBuilder &k, int64_t rows, int64_t slots, mlir::Value from,
             mlir::Value to);

/// Rows of the table, as they are, into [1, n, D].
void copyKeys(KernelBuilder &k, const KeySource &keys, const PlainMatrix &to);
/// The same value, or a copy, in a box of `sizes`.
void fillPlain(KernelBuilder &k, mlir::Value value, const ArgumentView &to,
               mlir::ValueRange sizes);
void copyPlain(KernelBuilder &k, const ArgumentView &from,
               const ArgumentView &to, mlir::ValueRange sizes);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_TRANSFERKERNELS_H
