//===- Case.cpp - one run of rt with all its inputs -------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Case.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace raytention;
using namespace raytention::fuzz;

bool fuzz::isScalar(const std::string &channel) {
  return channel == "spread" || channel == "entropy" ||
         channel == "max_score" || getMoment(channel) > 0;
}

int fuzz::getMoment(const std::string &channel) {
  return channel.rfind("moment:", 0) == 0 ? std::stoi(channel.substr(7)) : 0;
}

int64_t Case::signalWidth() const {
  int64_t sum = 0;
  for (const std::string &channel : channels)
    sum += isScalar(channel) ? 1 : width;
  return sum;
}

int64_t Case::numGammas() const {
  int64_t count = 0;
  for (const std::string &channel : channels)
    if (channel.rfind("decay:", 0) == 0)
      count = std::max<int64_t>(
          count, std::stoll(channel.substr(channel.rfind(':') + 1)) + 1);
  return count;
}

double fuzz::roundTo(Type type, double value) {
  if (type == Type::F64)
    return value;
  float rounded = static_cast<float>(value);
  if (type == Type::F32 || !std::isfinite(rounded))
    return rounded;
  uint32_t bits;
  std::memcpy(&bits, &rounded, 4);
  bits += 0x7fff + (bits >> 16 & 1); // ties to even
  bits &= 0xffff0000;
  std::memcpy(&rounded, &bits, 4);
  return rounded;
}

void fuzz::setStored(Case &c, int64_t queryChunk) {
  c.family = "stored";
  c.queryChunk = queryChunk;
  c.splitKeys = 0;
  if (c.scores == "recompute")
    c.scores = "keep";
}

void fuzz::setFolded(Case &c, int64_t foldChunk) {
  c.foldChunk = foldChunk;
  c.splitKeys = 0;
}

void fuzz::setDefaultChannels(Case &c) {
  c.channels = {"centroid",
                "decay:forward:0",
                "decay:backward:1",
                "decay:backward:2",
                "decay:backward:3",
                "predecessor",
                "top:1",
                "top:2",
                "decay:backward:4",
                "antitop",
                "spread",
                "entropy"};
  c.gammas = {0.99, 0.5, 0.88, 0.993, 0.3};
}

void fuzz::setSevenChannels(Case &c) {
  c.channels = {"centroid", "decay:backward:0", "predecessor", "top:1",
                "top:2",    "spread",           "entropy"};
  c.gammas = {0.7};
  c.metric = "l2";
}
