//===- Channels.h - what the tool knows of channels -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library owns the list of channels and says what it does not know. The
// tool knows their spelling and the few facts that it must have before it
// compiles: which gammas are used, which channels copy a key, and how wide
// each one is.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_RT_CHANNELS_H
#define RAYTENTION_TOOLS_RT_CHANNELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace raytention::tool {

using ChannelList = llvm::ArrayRef<std::string>;

/// Splits a comma-separated list and brings each entry to its one spelling:
/// no blanks, lower case, plain integers. Errors on empty entries and on a
/// decay or a top without a proper direction or number.
llvm::Expected<std::vector<std::string>> parseChannelList(llvm::StringRef list);

/// Largest gamma index used plus one; 0 without decays.
int64_t gammasUsed(ChannelList channels);

bool isScalarChannel(llvm::StringRef channel);   ///< 1 wide instead of D
bool isCopyingChannel(llvm::StringRef channel);  ///< its value is one key
bool isWeightedChannel(llvm::StringRef channel); ///< centroid or decay

/// Width S of all channels together.
int64_t signalWidth(ChannelList channels, int64_t dModel);

/// Offset of the first channel spelled `name` within a row of S values.
std::optional<int64_t> channelOffset(ChannelList channels, llvm::StringRef name,
                                     int64_t dModel);
/// Number of the first channel spelled `name` among the copying channels: its
/// place in Outputs::indices.
std::optional<int64_t> copySlot(ChannelList channels, llvm::StringRef name);

} // namespace raytention::tool

#endif // RAYTENTION_TOOLS_RT_CHANNELS_H
