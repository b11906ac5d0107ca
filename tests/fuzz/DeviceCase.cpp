//===- DeviceCase.cpp - cases for devices that run kernels -----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/DeviceCase.h"
#include "tests/fuzz/Domain.h"
#include "tests/fuzz/DrawValues.h"

#include <algorithm>
#include <cmath>

using namespace raytention;
using namespace raytention::fuzz;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static constexpr const char *kFamilies[] = {"fused", "stored"};
static constexpr const char *kOrigins[] = {"sequence_end", "query"};
static constexpr const char *kMetrics[] = {"sq_l2", "l2"};
static constexpr int64_t kKeys[] = {1, 31, 32, 33, 127, 129, 300};
static constexpr int64_t kWidths[] = {1, 20, 64, 96, 128, 300, 768};
static constexpr Type kTypes[] = {Type::F32, Type::F64, Type::BF16};
enum ChannelSet { DefaultSet, SevenSet, DefaultAndMaxScore, NumChannelSets };
enum ValueSet { Normal, NearKeys, Ties, NumValueSets };

/// The widest rows of the family `fused`.
static constexpr int64_t kWidestFused = 128;
/// Rows of a case that has fewer than keys.
static constexpr int64_t kFewRows = 3;
/// Products of a distance that the simt device computes in a second or so.
static constexpr int64_t kMostProducts = 3000000;

namespace {

enum Parameter {
  FamilyOf,
  ChannelsOf,
  OriginOf,
  MetricOf,
  HasLengths,
  HasOffset,
  HasRepeats,
  KeysOf,
  WidthOf,
  TypeOf,
  ValuesOf,
  NumParameters
};

constexpr int kCounts[] = {
    2, NumChannelSets, 2, 2, 2, 2, 2, std::size(kKeys), std::size(kWidths),
    3, NumValueSets};
static_assert(std::size(kCounts) == NumParameters);

} // namespace

llvm::ArrayRef<int> fuzz::deviceParameters() { return kCounts; }

bool fuzz::isDeviceChoice(const Choice &choice) {
  int64_t keys = kKeys[choice[KeysOf]], width = kWidths[choice[WidthOf]];
  bool isFused = choice[FamilyOf] == 0;
  if (isFused && width > kWidestFused)
    return false;
  if (choice[HasOffset] && keys == 1)
    return false; // no position is left out
  int64_t rows = choice[HasOffset] ? kFewRows : keys;
  int64_t batch = choice[HasLengths] ? 2 : 1;
  return batch * rows * keys * width <= kMostProducts;
}

//===----------------------------------------------------------------------===//
// A chosen case
//===----------------------------------------------------------------------===//

static void setChannels(Case &c, int set) {
  set == SevenSet ? setSevenChannels(c) : setDefaultChannels(c);
  if (set == DefaultAndMaxScore)
    c.channels.push_back("max_score");
}

static void chooseShape(Case &c, const Choice &choice, Draws &draws) {
  c.numKeys = c.numQueries = kKeys[choice[KeysOf]];
  c.width = kWidths[choice[WidthOf]];
  if (choice[HasOffset]) {
    c.numQueries = kFewRows;
    c.offset = draws.integer(1, c.numKeys - kFewRows);
  }
  if (choice[HasLengths]) {
    c.batch = 2;
    c.lengths = {draws.integer(0, c.numKeys - 1),
                 draws.integer(c.offset + 1, c.numKeys)};
  }
  c.vocab = choice[HasRepeats] ? draws.integer(1, 5) : c.numKeys + 7;
  for (int64_t i = 0; i < c.batch * c.numKeys; ++i)
    c.ids.push_back(choice[HasRepeats] ? draws.integer(0, c.vocab - 1)
                                       : (i * 5 + 3) % c.vocab);
}

static void chooseValues(Case &c, int set, Draws &draws) {
  // Distances of small integers are exact.
  fillTable(c, set == Ties ? TableKind::Grid : TableKind::Normal, 1, draws);
  fillQueries(c,
              set == Ties       ? QueryKind::Grid
              : set == NearKeys ? QueryKind::NearAnyKey
                                : QueryKind::Normal,
              1, draws);
  Norms norms = findNorms(c);
  double sum = norms.queries + norms.keys;
  double largest = c.metric == "l2" ? std::sqrt(sum) : sum;
  c.tau = std::max(1e-3, largest / draws.powerOfTen(-1, 3));
}

Case fuzz::makeDeviceCase(const Choice &choice, uint64_t seed,
                          uint64_t number) {
  Draws draws(seed, number);
  Case c;
  c.name = "device-" + std::to_string(number);
  c.target = "simt";
  setChannels(c, choice[ChannelsOf]);
  c.family = kFamilies[choice[FamilyOf]];
  c.origin = kOrigins[choice[OriginOf]];
  c.metric = kMetrics[choice[MetricOf]];
  c.type = kTypes[choice[TypeOf]];
  chooseShape(c, choice, draws);
  chooseValues(c, choice[ValuesOf], draws);
  return c;
}

//===----------------------------------------------------------------------===//
// A drawn case
//===----------------------------------------------------------------------===//

Case fuzz::drawDeviceCase(uint64_t seed, uint64_t number) {
  Case c = drawCase(seed, number);
  c.name = "simt-" + c.name;
  c.target = "simt";
  c.backward = false;
  c.gradient.clear();
  bool isFused = c.width <= kWidestFused && number % 2 == 0;
  c.family = isFused ? "fused" : "stored";
  c.splitKeys = 0;
  c.scores = "auto";
  // Tiles of the family `fused` have to fit a block's shared memory.
  c.queryTile = std::min<int64_t>(c.queryTile, isFused ? 8 : 40);
  c.keyChunk = std::min<int64_t>(c.keyChunk, isFused ? 16 : 64);
  return c;
}
