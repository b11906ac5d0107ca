//===- Channels.h - the oracle's list of channels ---------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a channel is, how wide, and how the command line spells it.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_CHANNELS_H
#define RAYTENTION_TOOLS_ORACLE_CHANNELS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace raytention {
namespace oracle {

/// Why something was refused, in one line; nothing when all is well.
using Error = std::optional<std::string>;

enum class ChannelKind {
  Centroid,
  DecayForward,
  DecayBackward,
  Predecessor,
  Top,
  Antitop,
  Spread,
  Entropy,
  MaxScore,
  Moment
};

/// One channel of the output.
struct Channel {
  ChannelKind kind;
  /// Decays: the index of the gamma. Top: K, from 1. Moment: K.
  /// Else unused.
  int64_t arg = 0;

  /// Whether the value is a copy of one key, chosen by an index.
  bool isCopy() const;
  /// Whether the value is one number; the others are D wide.
  bool isScalar() const;
  bool isDecay() const;
  /// Elements of the output that this channel takes: 1 or `dModel`.
  int64_t width(int64_t dModel) const { return isScalar() ? 1 : dModel; }
  /// The spelling on the command line: "decay:forward:0".
  std::string name() const;
};

/// Reads `list`, separated by commas: `centroid`, `decay:forward:I`,
/// `decay:backward:I`, `predecessor`, `top:K` (K >= 1), `antitop`, `spread`,
/// `entropy`, `max_score`, `moment:K` (1 <= K <= 4), or one of the published
/// lists alone: `default` (12 channels, S = 10 D + 2, gammas 0 to 4) or `seven`
/// (7 channels, S = 5 D + 2, gamma 0; its metric, l2, is not part of the list).
/// Writes `channels` only if the whole list is good.
[[nodiscard]] Error parseChannels(const std::string &list,
                                  std::vector<Channel> &channels);

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_CHANNELS_H
