//===- Channel.h - what a channel is given and gives back ------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_DIALECT_CHANNEL_H
#define RAYTENTION_DIALECT_CHANNEL_H

#include "dialect/RayTention/ElementBuilder.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include "dialect/RayTention/RayTentionEnums.h.inc"

#include <optional>

namespace raytention {

/// The threshold on a weight below which entropy clamps and antitop looks away.
constexpr double kWeightThreshold = 1e-10;
/// Its natural logarithm.
constexpr double kLogWeightThreshold = -23.025850929940457;
/// The floor of a decayed channel's sum, and its natural logarithm.
constexpr double kDecaySumFloor = 1e-8;
constexpr double kLogDecaySumFloor = -18.420680743952367;
/// The floor of the temperature.
constexpr double kTauFloor = 0.01;
/// The floor of a row's norm.
constexpr double kNormFloor = 1e-10;
/// Where exp underflows to 0 in f32 and f64: a log weight below it is that of a
/// masked pair, or as good as masked.
constexpr double kLowestLogWeight = -1000;

/// How a channel's output is formed.
enum class ChannelForm {
  Weighted, ///< a weighted sum of keys, D wide
  Copy,     ///< one key, D wide
  Scalar    ///< one number
};

/// One scalar of a row's state.
struct StateField {
  llvm::StringRef name;
  double initial = 0;      ///< value over no keys
  bool isPosition = false; ///< an i32 key position instead of a float
};

/// A key: where it stands (i32), and how often it counts where it stands in a
/// list (see rt.score_sweep).
struct KeyValues {
  mlir::Value key, last; ///< its first position, or negative, and its last one
  bool isListed = false;
  llvm::SmallVector<mlir::Value> others; ///< positions behind the first, or -1
  llvm::SmallVector<mlir::Value> masses; ///< none: it counts once
};

/// A position that is added to a key's, and the key's first and last one.
struct PositionValues {
  mlir::Value own, first, last;
};

/// One (row, key) pair, or a vector of rows against one key.
struct PairValues : KeyValues {
  mlir::Value score;     ///< z, minus infinity where masked
  mlir::Value distance;  ///< dist, unmasked
  mlir::Value relative;  ///< z - m, m the row's largest z; reduce sweep only
  mlir::Value logSum;    ///< lse - m; reduce sweep only
  mlir::Value logWeight; ///< z - lse; reduce sweep only
  mlir::Value weight;    ///< exp(z - lse), of one position; reduce sweep only
  mlir::Value mass;      ///< the weight of all its positions; reduce sweep only
  mlir::Value row;       ///< position, i32
};

/// The learnable scalars, in the shape of the code being built.
struct ParameterValues {
  mlir::Value tau;                          ///< raw
  mlir::Value temperature;                  ///< t = max(tau, 0.01)
  mlir::Value scoreUnit, scoreScale;        ///< -1 / t as a product
  llvm::SmallVector<mlir::Value> gammas;    ///< the bases
  llvm::SmallVector<mlir::Value> logGammas; ///< natural logarithms
  DecayOrigin origin = DecayOrigin::SequenceEnd;
};

/// A finished row.
struct RowValues {
  mlir::Value relativeLogSum; ///< own log-sum minus lse; 0 without an own one
  mlir::Value row;            ///< position, i32
  mlir::Value last;           ///< position of the sequence's last token, i32
  mlir::ValueRange score;     ///< own state of the score sweep
  mlir::ValueRange reduce;    ///< own state of the reduce sweep
};

/// A row whose gradient is prepared or finished. G is the gradient of the
/// channel's part of x, `dx` cut to the channel, in the gradient's unit
/// (elements/RowGradient.h). Pairs of weighted channels see U = G / scale
/// instead, which neither a tiny nor a huge norm takes out of the type's range.
struct GradientRow {
  mlir::Value gradient; ///< G of a scalar channel
  mlir::Value along;    ///< the sum of G times the channel's value
  mlir::Value scale;    ///< 1 / max(||x||, 1e-10); before pairs: in the unit
  mlir::Value relativeLogSum; ///< as in RowValues
  mlir::Value row, last;      ///< as in RowValues
  mlir::ValueRange saved;     ///< what the channel saved
};

/// What a channel makes of a row before it meets keys.
struct RowGradient {
  /// Weighted form: with p the normalised weight and a = exp(logFactor) p
  /// (null: 0; only with a log-sum of its own), `a` is the weight of G in the
  /// key's gradient, and `w dw = a (G . k - offset)`.
  mlir::Value logFactor, offset;
  /// Weighted form: handed to the pairs as `rest`; null is 0.
  mlir::Value rest;
  /// The part of `sum_j w_ij dw_ij` that is left to subtract; null is 0.
  mlir::Value weightSum;
};

/// A pair in the gradient's sweep; logWeight and weight are set.
struct GradientPair : PairValues {
  mlir::Value gradient;   ///< G of a scalar channel
  mlir::Value difference; ///< weighted: U . k - offset / scale
  mlir::Value ownWeight;  ///< weighted: a
  mlir::Value perBase; ///< weighted, with a base g: a / g, not flushed with a
  mlir::Value rest;    ///< weighted: as prepared
  mlir::ValueRange saved; ///< what the channel saved of the row
};

/// Contributions of a scalar channel; null is 0.
struct PairGradient {
  mlir::Value weight;   ///< dw, of the weight
  mlir::Value score;    ///< dz, past the softmax
  mlir::Value distance; ///< ddist, past the score
  mlir::Value softmax;  ///< dz through the softmax: w (dw - sum_k w_k dw_k)
};

/// A row's part in the gradients of the parameters; null is 0.
struct ParameterGradient {
  mlir::Value tau;   ///< in the gradient's unit
  mlir::Value gamma; ///< of gammas[gammaIndex], not in the unit
  int64_t gammaIndex = -1;
};

/// What a channel's reference decomposition may use. All tensors; `element`
/// is the accumulator's float type.
struct DecomposeContext {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type element;
  mlir::Value keys;        ///< [B, T, D]
  mlir::Value distances;   ///< [B, Tq, T]
  mlir::Value scores;      ///< [B, Tq, T], minus infinity where masked
  mlir::Value weights;     ///< [B, Tq, T], 0 where masked
  mlir::Value tau;         ///< []
  mlir::Value gammas;      ///< [n]
  mlir::Value queryOffset; ///< index
  mlir::Value lengths;     ///< [B] i64
  DecayOrigin origin;
};

/// A channel's value [B, Tq, D] or [B, Tq]; a copy also names its keys.
struct DecomposedChannel {
  mlir::Value value;
  mlir::Value positions; ///< [B, Tq] i32, copies only
};

} // namespace raytention

#include "dialect/RayTention/RayTentionAttrInterfaces.h.inc"

#endif // RAYTENTION_DIALECT_CHANNEL_H
