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
#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/SweepLayout.h"

namespace raytention {

/// Smallest log-sum argument: a row that has seen nothing stays finite.
constexpr double kTinySum = 1e-37;

/// Queries packed for the score product, and their squared norms.
struct PackedQueries {
  mlir::Value data;  ///< [queryLanes/panel][paddedWidth][panel]
  mlir::Value norms; ///< [queryLanes]
};

/// A chunk of keys in panels, and their squared norms.
struct PackedKeys {
  mlir::Value data;  ///< [paddedWidth/panel][chunk rows][panel]
  mlir::Value norms; ///< [chunk rows]
  mlir::Value count; ///< keys present
};

/// Transposed distances [keys][queryLanes], from row `begin`.
struct ScoreView {
  mlir::Value data;
  mlir::Value begin;
};

/// One part of states [parts][fields][queryLanes] or of sums.
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

/// The learnable scalars of a task.
struct TaskParameters {
  mlir::Value tau, temperature, scoreScale; ///< scoreScale = -1 / temperature
  llvm::SmallVector<mlir::Value> logGammas;
};

/// Reads tau and the gammas (of which `numGammas`) once.
TaskParameters loadParameters(KernelBuilder &k, mlir::Value tau,
                              mlir::Value gammas, int64_t numGammas);

/// Packs `rows` rows of queries; lanes beyond repeat the last row.
void packQueries(KernelBuilder &k, const ArgumentView &queries,
                 mlir::Value rows, const PackedQueries &packed);
/// Gathers table rows of `keys.count` ids into panels.
void gatherKeys(KernelBuilder &k, mlir::Value table, const ArgumentView &ids,
                const PackedKeys &keys);
/// distances[j][i] of every key of the chunk.
void computeDistances(KernelBuilder &k, const PackedQueries &queries,
                      const PackedKeys &keys, Metric metric,
                      Precision precision, const ScoreView &distances);

/// What all pair loops know: where the chunk stands and what it adds to.
struct PairLoop {
  const SweepLayout &sweep;
  const TaskParameters &params;
  ScoreView distances;
  mlir::Value row, key; ///< positions of local row and key 0, index
  mlir::Value count;    ///< keys of the chunk
  MaskInterface mask;
};

void initState(KernelBuilder &k, llvm::ArrayRef<double> values,
               mlir::Value state, mlir::Value parts);
void zeroSums(KernelBuilder &k, mlir::Value sums);
void scoreSweep(KernelBuilder &k, const PairLoop &loop, const StateView &state);
void reduceSweep(KernelBuilder &k, const PairLoop &loop,
                 const PartView &scoreState, const StateView &state);
void weigh(KernelBuilder &k, const PairLoop &loop, const PartView &scoreState,
           mlir::Value weights);
/// sums += weights^T keys.
void accumulateSums(KernelBuilder &k, int64_t numWeighted, mlir::Value weights,
                    const PackedKeys &keys, const PartView &sums);
/// Merges all parts of a state into part 0 of another.
void mergeStates(KernelBuilder &k, const SweepLayout &sweep, SweepKind kind,
                 const StateView &parts, int64_t numParts,
                 const StateView &merged);
void mergeSums(KernelBuilder &k, mlir::Value parts, int64_t numParts,
               const PartView &merged);

/// What rt.finalize reads and writes.
struct FinalLoop {
  const SweepLayout &sweep;
  const TaskParameters &params;
  mlir::ArrayAttr channels;
  DecayOrigin origin;
  StateView score, reduce;
  PartView sums;
  mlir::Value table;
  ArgumentView ids;
  mlir::Value row;    ///< position of local row 0
  mlir::Value rows;   ///< rows present
  mlir::Value length; ///< of the sequence
  ArgumentView signals, norm, indices;
};

void finalizeRows(KernelBuilder &k, const FinalLoop &loop);

} // namespace raytention

#endif // RAYTENTION_CODEGEN_LLVMCPU_CPUKERNELS_H
