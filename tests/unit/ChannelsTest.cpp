//===- ChannelsTest.cpp - what the tool knows of channels -----------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/rt/Channels.h"
#include "tests/unit/Support.h"

#include "gtest/gtest.h"

using namespace raytention::tool;
using namespace raytention::test;

TEST(Channels, BringsNamesToOneSpelling) {
  auto list = parseChannelList(" Centroid,decay:FORWARD:007 , top : 2,entropy");
  ASSERT_TRUE(bool(list)) << llvm::toString(list.takeError());
  EXPECT_EQ(*list, (std::vector<std::string>{"centroid", "decay:forward:7",
                                             "top:2", "entropy"}));
}

TEST(Channels, RefusesWithExpectedAndGot) {
  for (const char *list :
       {"", ",", "centroid,", "decay", "decay:forward", "decay:sideways:0",
        "decay:forward:", "decay:forward:-1", "decay:forward:x",
        "decay:forward:99999999999999999999", "top", "top:0", "top:1:2",
        "top:+1"}) {
    std::string message = messageOf(parseChannelList(list));
    EXPECT_NE(message.find("expected"), std::string::npos) << list;
    EXPECT_NE(message.find("got"), std::string::npos) << list;
  }
}

TEST(Channels, FindsItsWay) {
  std::vector<std::string> list = {"spread", "top:2",           "centroid",
                                   "top:1",  "decay:forward:3", "antitop"};
  EXPECT_EQ(gammasUsed(list), 4);
  EXPECT_EQ(gammasUsed({"centroid"}), 0);
  EXPECT_EQ(signalWidth(list, 8), 41);
  EXPECT_EQ(channelOffset(list, "centroid", 8), 9);
  EXPECT_EQ(channelOffset(list, "entropy", 8), std::nullopt);
  EXPECT_EQ(copySlot(list, "top:2"), 0);
  EXPECT_EQ(copySlot(list, "top:1"), 1);
  EXPECT_EQ(copySlot(list, "antitop"), 2);
  EXPECT_EQ(copySlot(list, "predecessor"), std::nullopt);
  EXPECT_EQ(copySlot(list, "centroid"), std::nullopt);
}
