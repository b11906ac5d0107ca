//===- SweepState.h - a row's state in the sweeps -----------------------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_ELEMENTS_SWEEPSTATE_H
#define RAYTENTION_DIALECT_ELEMENTS_SWEEPSTATE_H

#include "dialect/RayTention/SweepLayout.h"
#include "dialect/RayTention/elements/LogSum.h"

namespace raytention {

/// The state of one row in one sweep, or of a vector of rows, where a target
/// keeps it. Fields count as SweepLayout has them, floats and positions apart.
class RowState {
public:
  using Value = mlir::Value;
  virtual ~RowState() = default;
  virtual Value loadFloat(int64_t field) = 0;
  virtual Value loadPosition(int64_t field) = 0;
  virtual void storeFloat(Value value, int64_t field) = 0;
  virtual void storePosition(Value value, int64_t field) = 0;

  /// (m, l), or a channel's (r, l), at `field` and the one behind it.
  LogSum loadLogSum(int64_t field) {
    return {loadFloat(field), loadFloat(field + 1)};
  }
  void storeLogSum(const LogSum &logSum, int64_t field) {
    storeFloat(logSum.max, field);
    storeFloat(logSum.sum, field + 1);
  }
};

/// The channels of a list with a log-sum of their own.
llvm::SmallVector<ChannelSlots> getOwnLogSums(const SweepLayout &sweep);

/// What the channels themselves keep in one sweep, one channel behind the other
/// in the order of the list.
struct ChannelFields {
  const SweepLayout &sweep;
  SweepKind kind;

  /// One channel's.
  llvm::SmallVector<mlir::Value> load(const ChannelSlots &slot,
                                      RowState &state) const;
  /// Over no keys.
  llvm::SmallVector<mlir::Value> makeInitial(ElementBuilder &b) const;
  llvm::SmallVector<mlir::Value> load(RowState &state) const;
  /// With a pair added.
  llvm::SmallVector<mlir::Value> update(ElementBuilder &b,
                                        const PairValues &pair,
                                        const ParameterValues &params,
                                        mlir::ValueRange fields) const;
  /// Merges `fields` into the state.
  void merge(ElementBuilder &b, mlir::ValueRange fields, RowState &state) const;

private:
  llvm::SmallVector<StateField> getFields(const ChannelSlots &slot) const;
  void store(const ChannelSlots &slot, mlir::ValueRange values,
             RowState &state) const;
};

/// Merges the log-sums and the channels' fields of `part` into `whole`: states
/// of one sweep over disjoint sets of keys.
void mergeStates(ElementBuilder &b, const SweepLayout &sweep, SweepKind kind,
                 RowState &part, RowState &whole);

} // namespace raytention

#endif // RAYTENTION_DIALECT_ELEMENTS_SWEEPSTATE_H
