//===- CpuKernels.h - the loops of a query tile on a CPU ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_CODEGEN_LLVMCPU_CPUKERNELS_H
#define RAYTENTION_CODEGEN_LLVMCPU_CPUKERNELS_H

#include "codegen/LlvmCpu/KernelBuilder.h"
#include "dialect/RayTention/Channel.h"
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"
#include "dialect/RayTention/elements/Distance.h"

namespace raytention {

/// The task's own items, one per lane, and their squared norms.
struct PackedLanes {
  mlir::Value data;  ///< [itemLanes/panel][paddedWidth][panel]; null: as below
  mlir::Value norms; ///< [normBlocks + 1][itemLanes]; null: not needed
};

/// What passes by, in panels along the width, and the squared norms.
struct PackedRows {
  mlir::Value data;  ///< [paddedWidth/panel][rows][panel]
  mlir::Value norms; ///< [normBlocks + 1][rows]; null: not needed
  mlir::Value count; ///< rows present
};

/// Distances or products [rows][lanes], from row `begin`.
struct ScoreView {
  mlir::Value data;
  mlir::Value begin;
};

/// One part of states [parts][fields][itemLanes] or of sums.
struct PartView {
  mlir::Value data;
  mlir::Value part;
};

/// A row state: floats and positions.
struct StateView {
  PartView floats, positions;
};

/// An argument tensor from an offset on.
struct ArgumentView {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> offsets;
};

/// One row of width D in memory, from the last index on.
struct RowPointer {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> begin;

  llvm::SmallVector<mlir::Value> at(KernelBuilder &k, mlir::Value d) const {
    llvm::SmallVector<mlir::Value> indices = begin;
    indices.back() = k.add(indices.back(), d);
    return indices;
  }
};

/// Keys by lookup: rows of the table at ids.
struct KeySource {
  ArgumentView table;
  ArgumentView ids;
};

/// Reads tau and the gammas (of which `numGammas`) once, as scalars.
ParameterValues loadParameters(KernelBuilder &k, mlir::Value tau,
                               const ArgumentView &gammas, int64_t numGammas);

/// The same in every lane.
ParameterValues splatParameters(KernelBuilder &k,
                                const ParameterValues &params);

/// Packs `rows` rows of queries; lanes beyond repeat the last row.
void packQueryLanes(KernelBuilder &k, const ArgumentView &queries,
                    mlir::Value rows, const PackedLanes &packed);
void packQueryRows(KernelBuilder &k, const ArgumentView &queries,
                   const PackedRows &packed);
/// Gathers `count` keys; lanes beyond repeat the last one.
void gatherKeyLanes(KernelBuilder &k, const KeySource &keys, mlir::Value count,
                    const PackedLanes &packed);
void gatherKeyRows(KernelBuilder &k, const KeySource &keys,
                   const PackedRows &packed);
/// distances[row][lane] of every row present, with memory for a `part` of the
/// sums where the layout sums in parts. The bits of a distance do not
/// depend on which of the two stands in the lanes.
void computeDistances(KernelBuilder &k, const PackedLanes &lanes,
                      const PackedRows &rows, Metric metric,
                      Precision precision, const ScoreView &distances,
                      std::optional<ScoreView> part);
/// products[row][lane] of every row present and every lane panel.
void computeProducts(KernelBuilder &k, const PackedLanes &lanes,
                     const PackedRows &rows, const ScoreView &products);

/// What all pair loops know: where the chunk stands and what it adds to.
/// Keys that stand in a list (see rt.score_sweep), [B, K, T] and [B, M, T].
struct KeyListView {
  ArgumentView positions;
  std::optional<ArgumentView> masses;
};

struct PairLoop {
  const SweepLayout &sweep;
  const ParameterValues &params;
  ScoreView distances;
  mlir::Value row, key; ///< positions of local row and key 0, index
  mlir::Value count;    ///< keys of the chunk
  MaskInterface mask;
  std::optional<KeyListView> list;
};

void initState(KernelBuilder &k, llvm::ArrayRef<double> values,
               mlir::Value state, mlir::Value parts);
void zeroSums(KernelBuilder &k, mlir::Value sums);
void scoreSweep(KernelBuilder &k, const PairLoop &loop, const StateView &state);
void reduceSweep(KernelBuilder &k, const PairLoop &loop,
                 const PartView &scoreState, const StateView &state);
void weigh(KernelBuilder &k, const PairLoop &loop, const PartView &scoreState,
           mlir::Value weights);

/// A vector of the sums: panel, row and its first column in the panel.
struct SumPlace {
  mlir::Value panel, row, column;
};
/// What becomes of a vector of a passing row that is added to the sums at a
/// place.
using SumRule =
    llvm::function_ref<mlir::Value(mlir::Value value, const SumPlace &)>;

/// sums += weights^T term(rows), for the `sumRows` rows of the sums; without a
/// rule, the rows as they are.
void accumulateSums(KernelBuilder &k, int64_t sumRows, mlir::Value weights,
                    const PackedRows &rows, const PartView &sums,
                    SumRule term = {});
/// Merges all parts of a state into part 0 of another.
void mergeStates(KernelBuilder &k, const SweepLayout &sweep, SweepKind kind,
                 const StateView &parts, int64_t numParts,
                 const StateView &merged);

/// What rt.finalize reads and writes.
struct FinalLoop {
  const SweepLayout &sweep;
  const ParameterValues &params;
  mlir::ArrayAttr channels;
  DecayOrigin origin;
  StateView score, reduce;
  PartView sums;
  ArgumentView table, ids;
  mlir::Value row;    ///< position of local row 0
  mlir::Value rows;   ///< rows present
  mlir::Value length; ///< of the sequence
  ArgumentView signals, norm, indices;
  std::optional<ArgumentView> logSums;
};

void finalizeRows(KernelBuilder &k, const FinalLoop &loop);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_CPUKERNELS_H
