//===- Channels.cpp - what the tool knows of channels ---------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Channels.h"

#include "raytention/Attention.h"
#include "tools/rt/ToolError.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using llvm::StringRef;

namespace raytention::tool {

/// A number in a channel's name; gammas and ranks are few.
static bool parseNumber(StringRef text, unsigned &number) {
  constexpr unsigned limit = 65535;
  return !text.empty() && llvm::all_of(text, llvm::isDigit) &&
         !text.getAsInteger(10, number) && number <= limit;
}

static llvm::Expected<std::string> canonical(StringRef entry) {
  std::string lower = entry.trim().lower();
  llvm::SmallVector<StringRef, 3> parts;
  StringRef(lower).split(parts, ':');
  for (StringRef &part : parts)
    part = part.trim();
  if (parts[0].empty())
    return usageError("--channels: expected a channel's name, got {0}",
                      quoted(entry));
  unsigned number;
  if (parts[0] == "decay") {
    if (parts.size() != 3 ||
        (parts[1] != "forward" && parts[1] != "backward") ||
        !parseNumber(parts[2], number))
      return usageError("--channels: expected decay:forward:I or "
                        "decay:backward:I with the number I of a gamma, got "
                        "{0}",
                        quoted(entry));
    return ("decay:" + parts[1] + ":" + llvm::Twine(number)).str();
  }
  if (parts[0] == "top") {
    if (parts.size() != 2 || !parseNumber(parts[1], number) || number == 0)
      return usageError("--channels: expected top:K with K from 1 on, got {0}",
                        quoted(entry));
    return ("top:" + llvm::Twine(number)).str();
  }
  return llvm::join(parts, ":");
}

llvm::Expected<std::vector<std::string>> parseChannelList(StringRef list) {
  llvm::SmallVector<StringRef> entries;
  list.split(entries, ',');
  std::vector<std::string> channels;
  for (StringRef entry : entries) {
    llvm::Expected<std::string> channel = canonical(entry);
    if (!channel)
      return channel.takeError();
    channels.push_back(std::move(*channel));
  }
  return channels;
}

int64_t gammasUsed(ChannelList channels) {
  int64_t used = 0;
  for (StringRef channel : channels) {
    unsigned number;
    if (channel.starts_with("decay:") &&
        parseNumber(channel.rsplit(':').second, number))
      used = std::max<int64_t>(used, number + 1);
  }
  return used;
}

/// An unknown channel has no form; the compiler refuses it by name.
static bool hasForm(StringRef channel, OutputForm wanted) {
  Result<OutputForm> form = channelForm(channel);
  return form && *form == wanted;
}

bool isScalarChannel(StringRef channel) {
  return hasForm(channel, OutputForm::Scalar);
}
bool isCopyingChannel(StringRef channel) {
  return hasForm(channel, OutputForm::Copy);
}
bool isWeightedChannel(StringRef channel) {
  return hasForm(channel, OutputForm::Weighted);
}

int64_t signalWidth(ChannelList channels, int64_t dModel) {
  int64_t width = 0;
  for (StringRef channel : channels)
    width += isScalarChannel(channel) ? 1 : dModel;
  return width;
}

std::optional<int64_t> channelOffset(ChannelList channels, StringRef name,
                                     int64_t dModel) {
  const auto *found = llvm::find(channels, name);
  if (found == channels.end())
    return std::nullopt;
  return signalWidth(channels.take_front(found - channels.begin()), dModel);
}

std::optional<int64_t> copySlot(ChannelList channels, StringRef name) {
  const auto *found = llvm::find(channels, name);
  if (found == channels.end() || !isCopyingChannel(name))
    return std::nullopt;
  return std::count_if(channels.begin(), found, [](const std::string &c) {
    return isCopyingChannel(c);
  });
}

} // namespace raytention::tool
