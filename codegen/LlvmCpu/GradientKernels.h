//===- GradientKernels.h - the loops of a gradient on a CPU --------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_GRADIENTKERNELS_H
#define RAYTENTION_CODEGEN_LLVMCPU_GRADIENTKERNELS_H

#include "codegen/LlvmCpu/CpuKernels.h"
#include "dialect/RayTention/GradientLayout.h"

namespace raytention {

/// What a row's preparation reads and writes.
struct GradRowsLoop {
  const GradientLayout &layout;
  const ParameterValues &params;
  DecayOrigin origin;
  ArgumentView signals, norm, logSums, gradient;
  mlir::Value row;    ///< position of local row 0
  mlir::Value rows;   ///< rows present
  mlir::Value length; ///< of the sequence
  int64_t bound;      ///< most rows
  PartView fields;    ///< [1][numFields][bound or more]
  /// The stack of the weighted channels, in lanes (row c * itemLanes + i) or in
  /// rows (c * bound + i); one of the two.
  mlir::Value laneStack, rowStack;
};

/// Fills the fields and the stack, zeros for rows that are not there.
void prepareRows(KernelBuilder &k, const GradRowsLoop &loop);

/// The pairs of a tile of queries and a chunk of keys; the items of `side`
/// stand in the lanes.
struct GradientPairs {
  const GradientLayout &layout;
  const ParameterValues &params;
  PairSide side;
  Metric metric;
  MaskInterface mask;
  ScoreView distances;
  mlir::Value row, key; ///< positions of local row and key 0, index
  mlir::Value count;    ///< of what passes by
  int64_t bound;        ///< most of what passes by
  PartView rows;        ///< row fields
  /// Products, a channel beside the other in the lanes of the query side, below
  /// it in the rows of the key side. Where weights are given, they replace
  /// them.
  mlir::Value products;
  bool givesWeights;
  mlir::Value coefficients;     ///< [passing][lanes or more]
  std::optional<PartView> sums; ///< accumulators, with queries in the lanes
};

void weighGradients(KernelBuilder &k, const GradientPairs &pairs);

/// The copies' gradients, on the key side.
struct CopyGradLoop {
  const GradientLayout &layout;
  PartView fields;
  ArgumentView signals, gradient, indices;
  mlir::Value rows;  ///< rows present
  mlir::Value key;   ///< position of local key 0
  mlir::Value count; ///< keys present
  PartView sums;
};

void addCopies(KernelBuilder &k, const CopyGradLoop &loop);

/// Each item times its factor, added to its sums.
struct ItemTerms {
  PackedRows items;
  mlir::Value factors; ///< [1][1][items or more]
};

/// The finish of a tile of queries.
struct QueryGradLoop {
  const GradientLayout &layout;
  const ParameterValues &params;
  DecayOrigin origin;
  PartView accumulators, sums;
  std::optional<ItemTerms> itemTerms;
  PartView fields;
  ArgumentView gradients, parts;
  mlir::Value row, rows, length;
};

void finishQueries(KernelBuilder &k, const QueryGradLoop &loop);

/// The finish of a chunk of keys.
struct KeyGradLoop {
  const GradientLayout &layout;
  const ParameterValues &params;
  PartView sums;
  std::optional<ItemTerms> itemTerms;
  ArgumentView gradients;
  mlir::Value key;    ///< position of local key 0
  mlir::Value count;  ///< keys present
  mlir::Value length; ///< of the sequence; keys beyond get zeros
};

void finishKeys(KernelBuilder &k, const KeyGradLoop &loop);

/// The sum of coefficients times differences of a chunk and a tile:
/// sums[item] += sum_p c[p][item] (passing[p] - items[item]), or where pairs
/// are far, sums[item] += sum_p c[p][item] passing[p] and itemFactors[item] -=
/// sum_p c[p][item].
struct DifferenceLoop {
  Metric metric;
  mlir::Value coefficients; ///< [passing][items or more]
  PackedRows passing, items;
  ScoreView distances;
  PartView sums;
  /// Where set: the items' squared norms, by which far pairs are told, memory
  /// for a sum of coefficients per item, and the items' factors.
  mlir::Value itemNorms, negatedTotals, itemFactors;
};

void sumDifferences(KernelBuilder &k, const DifferenceLoop &loop);

/// Offset of each channel in a row of signals.
llvm::SmallVector<int64_t> getColumns(const GradientLayout &layout,
                                      int64_t width);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_GRADIENTKERNELS_H
