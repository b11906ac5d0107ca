//===- GradientLayout.h - what a gradient keeps of a row -----------*- C++
//-*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_GRADIENTLAYOUT_H
#define RAYTENTION_DIALECT_GRADIENTLAYOUT_H

#include "dialect/RayTention/SweepLayout.h"

namespace raytention {

/// One channel's place in the gradient of a list of channels.
struct GradientSlots {
  ChannelInterface channel;
  int64_t weightSlot = -1; ///< index among the weighted channels
  int64_t copySlot = -1;   ///< index among the copying channels
  int64_t logSum = 0;      ///< saved floats: (r, log l) at logSum, logSum + 1
  FieldRange saved;        ///< saved floats of its own
  int64_t fields = 0;      ///< row fields, see below
  FieldRange state;        ///< accumulators of its own
};

/// The tensors of a gradient that have one entry per row.
///
/// Saved floats (`log_sums`): (m, log l) of the softmax; then, channel by
/// channel, an own (r, log l) where the channel has one, r counted from m, and
/// what it saves.
/// Row fields (rt.grad_rows): the saved floats; scale, along, weightSum; then
/// per weighted channel log l less the log factor, the same plus log g,
/// offset / scale, rest, per scalar channel G, along.
/// Accumulators: the temperature's, then the channels'.
struct GradientLayout {
  llvm::SmallVector<GradientSlots> slots;
  int64_t numSaved = 0, numFields = 0, numStates = 1;
  int64_t numWeighted = 0, numCopies = 0;
  bool isScaledByTau = false; ///< as some channel says

  static constexpr int64_t kTemperature = 0; ///< accumulator
  int64_t scale() const { return numSaved; }
  int64_t along() const { return numSaved + 1; }
  int64_t weightSum() const { return numSaved + 2; }

  static GradientLayout get(mlir::ArrayAttr channels);
};

} // namespace raytention

#endif // RAYTENTION_DIALECT_GRADIENTLAYOUT_H
