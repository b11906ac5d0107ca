//===- Channels.cpp - the oracle's list of channels -----------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/Channels.h"

using namespace raytention::oracle;

namespace {

/// Spelling and shape of each kind, in the order of ChannelKind. A prefix that
/// ends in ':' takes a number.
struct KindInfo {
  ChannelKind kind;
  const char *spelling;
  bool copy;
  bool scalar;
  int64_t smallestArg, largestArg = 999999999;
};

constexpr KindInfo kinds[] = {
    {ChannelKind::Centroid, "centroid", false, false, 0},
    {ChannelKind::DecayForward, "decay:forward:", false, false, 0},
    {ChannelKind::DecayBackward, "decay:backward:", false, false, 0},
    {ChannelKind::Predecessor, "predecessor", true, false, 0},
    {ChannelKind::Top, "top:", true, false, 1},
    {ChannelKind::Antitop, "antitop", true, false, 0},
    {ChannelKind::Spread, "spread", false, true, 0},
    {ChannelKind::Entropy, "entropy", false, true, 0},
    {ChannelKind::MaxScore, "max_score", false, true, 0},
    {ChannelKind::Moment, "moment:", false, true, 1, 4},
};

constexpr char defaultList[] =
    "centroid,decay:forward:0,decay:backward:1,decay:backward:2,"
    "decay:backward:3,predecessor,top:1,top:2,decay:backward:4,antitop,"
    "spread,entropy";
constexpr char sevenList[] =
    "centroid,decay:backward:0,predecessor,top:1,top:2,spread,entropy";

const KindInfo &infoOf(ChannelKind kind) {
  return kinds[static_cast<size_t>(kind)];
}

bool takesArg(const KindInfo &info) {
  return std::string(info.spelling).back() == ':';
}

/// A plain decimal number of at most nine digits.
bool parseArg(const std::string &text, const KindInfo &info, int64_t &arg) {
  if (text.empty() || text.size() > 9 ||
      text.find_first_not_of("0123456789") != std::string::npos)
    return false;
  arg = std::stoll(text);
  return arg >= info.smallestArg && arg <= info.largestArg;
}

bool parseOne(const std::string &text, Channel &channel) {
  for (const KindInfo &info : kinds) {
    std::string spelling = info.spelling;
    channel = {info.kind, 0};
    if (!takesArg(info)) {
      if (text == spelling)
        return true;
    } else if (text.compare(0, spelling.size(), spelling) == 0) {
      return parseArg(text.substr(spelling.size()), info, channel.arg);
    }
  }
  return false;
}

} // namespace

bool Channel::isCopy() const { return infoOf(kind).copy; }

bool Channel::isScalar() const { return infoOf(kind).scalar; }

bool Channel::isDecay() const {
  return kind == ChannelKind::DecayForward ||
         kind == ChannelKind::DecayBackward;
}

std::string Channel::name() const {
  const KindInfo &info = infoOf(kind);
  return takesArg(info) ? info.spelling + std::to_string(arg) : info.spelling;
}

Error raytention::oracle::parseChannels(const std::string &list,
                                        std::vector<Channel> &channels) {
  if (list == "default")
    return parseChannels(defaultList, channels);
  if (list == "seven")
    return parseChannels(sevenList, channels);
  std::vector<Channel> parsed;
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    std::string text = list.substr(begin, end - begin);
    Channel channel{ChannelKind::Centroid};
    if (!parseOne(text, channel))
      return "expected a channel (centroid, decay:forward:I, decay:backward:I, "
             "predecessor, top:K, antitop, spread, entropy, max_score, "
             "moment:K), got '" +
             text + "'";
    parsed.push_back(channel);
    begin = end + 1;
  }
  channels = std::move(parsed);
  return std::nullopt;
}
