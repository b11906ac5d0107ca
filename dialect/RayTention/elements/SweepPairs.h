//===- SweepPairs.h - what pairs add in the sweeps ----------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The programs of both sweeps: a target loops over a chunk's keys, carries the
// values, and keeps the states.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_SWEEPPAIRS_H
#define RAYTENTION_DIALECT_ELEMENTS_SWEEPPAIRS_H

#include "dialect/RayTention/RayTention.h"
#include "dialect/RayTention/elements/SweepState.h"

namespace raytention {

/// A key that stands at one position.
KeyValues makeKey(mlir::Value position);
/// A key of a list, from the columns of rt.score_sweep's positions and masses.
KeyValues makeListedKey(mlir::ValueRange positions, mlir::ValueRange masses);

/// A pair with its z; positions are i32.
PairValues scorePair(ElementBuilder &b, mlir::Value distance, mlir::Value row,
                     const KeyValues &key, MaskInterface mask,
                     const ParameterValues &params);

/// Adds a chunk of keys to a score state, in rounds over the chunk, each of
/// which reads what the ones before have stored: the largest z and what the
/// channels keep; the softmax's sum and the channels' own maxima; the channels'
/// own sums. A chunk starts from nothing and is merged as a whole, which keeps
/// the rounding of long sums small.
class ScoreSweepProgram {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  ScoreSweepProgram(ElementBuilder &b, const SweepLayout &sweep,
                    const ParameterValues &params, RowState &state)
      : b(b), fields{sweep, SweepKind::Score}, params(params), state(state),
        own(getOwnLogSums(sweep)) {}

  int getNumRounds() const { return own.empty() ? 2 : 3; }
  /// What is carried over the keys, what a pair makes of it, and where it goes.
  Values begin(int round);
  Values step(int round, const PairValues &pair, mlir::ValueRange carried);
  void finish(int round, mlir::ValueRange carried);

private:
  mlir::Value getLogWeight(const ChannelSlots &slot, const PairValues &pair);
  void finishMaxima(mlir::ValueRange carried);
  void finishSoftmax(mlir::ValueRange carried);
  void finishOwnSums(mlir::ValueRange carried);

  ElementBuilder &b;
  ChannelFields fields;
  const ParameterValues &params;
  RowState &state;
  llvm::SmallVector<ChannelSlots> own;
  mlir::Value max; ///< the row's, from the first round on
  Values maxima;   ///< the channels' own, from the second round on
};

/// Adds a chunk of keys to a reduce state, with weights from the final score
/// state.
class ReduceSweepProgram {
public:
  using Values = llvm::SmallVector<mlir::Value>;
  ReduceSweepProgram(ElementBuilder &b, const SweepLayout &sweep,
                     const ParameterValues &params, RowState &score,
                     RowState &state);

  Values begin() { return fields.makeInitial(b); }
  Values step(PairValues pair, mlir::ValueRange carried);
  void finish(mlir::ValueRange carried) { fields.merge(b, carried, state); }

private:
  ElementBuilder &b;
  ChannelFields fields;
  const ParameterValues &params;
  RowState &state;
  mlir::Value max, logSum, inverse; ///< of the softmax
};

/// The weights of pairs in the weighted channels of a list, with the final
/// score state.
class WeighProgram {
public:
  WeighProgram(ElementBuilder &b, const SweepLayout &sweep,
               const ParameterValues &params, RowState &score);

  /// One per weighted channel, in their order.
  llvm::SmallVector<mlir::Value> weigh(const PairValues &pair);

private:
  ElementBuilder &b;
  const ParameterValues &params;
  mlir::Value max; ///< of the softmax
  /// Channels, and for each the maximum and 1 / l of its log-sum.
  llvm::SmallVector<ChannelSlots> weighted;
  llvm::SmallVector<LogSum> inverses;
};

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_SWEEPPAIRS_H
