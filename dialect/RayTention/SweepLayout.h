//===- SweepLayout.h - where each channel's state stands ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_SWEEPLAYOUT_H
#define RAYTENTION_DIALECT_SWEEPLAYOUT_H

#include "dialect/RayTention/Channel.h"

namespace raytention {

/// A run of fields in a state tensor.
struct FieldRange {
  int64_t begin = 0, size = 0;
};

/// One channel's place in the states of a list of channels.
struct ChannelSlots {
  ChannelInterface channel;
  int64_t logSum = 0;      ///< score floats: (r, l) at logSum, logSum + 1
  int64_t weightSlot = -1; ///< index among the weighted channels
  int64_t massSlot = 0;    ///< which masses of listed keys; 0: their numbers
  FieldRange scoreFloats, scoreInts, reduceFloats, reduceInts;
};

/// The state tensors of both sweeps for a channel list: fields 0 and 1 of the
/// score state are the softmax's running maximum m and sum l; then, channel by
/// channel, an own (r, l) where the channel has one, r counted from m, and its
/// own fields (elements/LogSum.h).
struct SweepLayout {
  llvm::SmallVector<ChannelSlots> slots;
  llvm::SmallVector<double> scoreFloatInit, scoreIntInit;
  llvm::SmallVector<double> reduceFloatInit, reduceIntInit;
  int64_t numWeighted = 0;
  /// Of a listed key: its number and one mass per own log-sum; how many of its
  /// first positions a channel may keep.
  int64_t numMasses = 1, numPositions = 1;

  static SweepLayout get(mlir::ArrayAttr channels);
  /// The same with the states of a sweep as those of `others`: channels find
  /// theirs by equality. A null list changes nothing.
  SweepLayout with(SweepKind kind, mlir::ArrayAttr others) const;
  /// The slots of an equal channel, or null.
  const ChannelSlots *find(mlir::Attribute channel) const;
  llvm::ArrayRef<double> floatInit(SweepKind kind) const {
    return kind == SweepKind::Score ? scoreFloatInit : reduceFloatInit;
  }
  llvm::ArrayRef<double> intInit(SweepKind kind) const {
    return kind == SweepKind::Score ? scoreIntInit : reduceIntInit;
  }
  int64_t numFloats(SweepKind kind) const { return floatInit(kind).size(); }
  int64_t numInts(SweepKind kind) const { return intInit(kind).size(); }
};

/// Width of a channel's output for keys of width `dModel`.
int64_t getChannelWidth(ChannelInterface channel, int64_t dModel);
/// Sum of the widths: S.
int64_t getSignalWidth(mlir::ArrayAttr channels, int64_t dModel);
/// Number of copying channels.
int64_t getNumCopies(mlir::ArrayAttr channels);

/// A channel from the command line's spelling, "decay:forward:0" for
/// `#rt.decay<forward, 0>`; an error names the known channels.
mlir::FailureOr<mlir::Attribute>
parseChannelSpelling(mlir::MLIRContext *context, llvm::StringRef spelling,
                     std::string &error);

} // namespace raytention

#endif // RAYTENTION_DIALECT_SWEEPLAYOUT_H
