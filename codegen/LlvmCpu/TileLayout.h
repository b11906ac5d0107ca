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

/// How a query tile lies in memory on a CPU. Scores stand transposed, a key per
/// row and a query per lane, so that row maxima and sums need no horizontal
/// step. A panel is `panel` consecutive queries or channels of width D.
///
///   queries  [queryLanes/panel][paddedWidth][panel]
///   keys     [paddedWidth/panel][chunk rows][panel]
///   scores   [keys][queryLanes]
///   weights  [chunk rows][stackRows]      row c * queryLanes + query
///   sums     [parts][paddedWidth/panel][stackRows][panel]
///   states   [parts][fields][queryLanes]
struct TileLayout {
  mlir::FloatType element; ///< accumulators
  int64_t lanes;           ///< elements per vector
  int64_t panel;           ///< elements per panel
  int64_t tileRows;        ///< rows of a register tile
  int64_t tileVectors;     ///< vectors of a register tile
  int64_t width;           ///< D
  int64_t queries;         ///< most rows of a query tile

  static TileLayout get(const CpuTarget &target, mlir::FloatType element,
                        int64_t width, int64_t queries);

  int64_t queryLanes() const { return roundUp(queries, panel); }
  int64_t paddedWidth() const { return roundUp(width, panel); }
  int64_t widthPanels() const { return paddedWidth() / panel; }
  /// Rows that register tiles touch for `rows` rows.
  int64_t paddedRows(int64_t rows) const { return roundUp(rows, tileRows); }
  int64_t stackRows(int64_t numWeighted) const {
    return roundUp(numWeighted * queryLanes(), tileRows);
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
