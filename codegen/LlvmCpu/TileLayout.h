//===- TileLayout.h - sizes and layouts of a task's buffers ------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_TILELAYOUT_H
#define RAYTENTION_CODEGEN_LLVMCPU_TILELAYOUT_H

#include "codegen/Target/CpuTarget.h"

#include "mlir/IR/BuiltinTypes.h"

namespace raytention {

/// How the pairs of a task lie in memory on a CPU. The task's own items, the
/// queries of a tile or, for the gradient of keys, the keys of a chunk, stand
/// in the lanes; the others pass by, one per row, so that sums over them need
/// no horizontal step. A panel is `panel` consecutive items or channels of
/// width D.
///
///   lanes    [itemLanes/panel][paddedWidth][panel]
///   rows     [paddedWidth/panel][rows][panel]
///   norms    [normBlocks + 1][rows or itemLanes]   per block, then of all
///   scores   [rows][itemLanes]
///   weights  [rows][stackRows]      column c * itemLanes + item
///   sums     [parts][paddedWidth/panel][stackRows][panel]
///   states   [parts][fields][itemLanes]
struct TileLayout {
  mlir::FloatType element; ///< accumulators
  int64_t lanes;           ///< elements per vector
  int64_t panel;           ///< elements per panel
  int64_t tileRows;        ///< rows of a register tile
  int64_t tileVectors;     ///< vectors of a register tile
  int64_t width;           ///< D
  int64_t items;           ///< most items of a task

  static TileLayout get(const CpuTarget &target, mlir::FloatType element,
                        int64_t width, int64_t items);

  int64_t itemLanes() const { return roundUp(items, panel); }
  int64_t paddedWidth() const { return roundUp(width, panel); }
  int64_t widthPanels() const { return paddedWidth() / panel; }
  /// A distance is summed over blocks of the width, each with its own
  /// expansion: the digits that cancel between a query and a near key are then
  /// those of a block, not of the whole.
  int64_t blockPanels() const { return panel < 32 ? 32 / panel : 1; }
  int64_t blockWidth() const { return blockPanels() * panel; }
  int64_t normBlocks() const {
    return (paddedWidth() + blockWidth() - 1) / blockWidth();
  }
  /// Of many blocks, parts of about the root of their number are summed first:
  /// long chains of additions lose digits.
  bool sumsInParts() const { return normBlocks() > 8; }
  int64_t blocksPerPart() const {
    int64_t blocks = 1;
    while (blocks * blocks < normBlocks())
      ++blocks;
    return blocks;
  }
  /// Rows that register tiles touch for `rows` rows.
  int64_t paddedRows(int64_t rows) const { return roundUp(rows, tileRows); }
  int64_t stackRows(int64_t numWeighted) const {
    return roundUp(numWeighted * itemLanes(), tileRows);
  }
  mlir::VectorType vectorType() const {
    return mlir::VectorType::get({lanes}, element);
  }

private:
  static int64_t roundUp(int64_t value, int64_t step) {
    return (value + step - 1) / step * step;
  }
};

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_TILELAYOUT_H
