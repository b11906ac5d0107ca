//===- FixedCases.cpp - kinds that once failed, and edges --*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Case.h"
#include "tests/fuzz/DrawValues.h"

#include <algorithm>

using namespace raytention;
using namespace raytention::fuzz;

namespace {

using Channels = std::vector<std::string>;

/// Collects cases; each starts from shape and channels, and is changed before
/// the next one begins.
class FixedCases {
public:
  std::vector<Case> cases;

  void addZeros();
  void addPadding();
  void addMagnitudes();
  void addLargeScores();
  void addNearKeys();
  void addOneToken();
  void addTemperatures();
  void addTies();
  void addSmallest();
  void addEdges();
  void addGammas();
  void addGradients();
  void addSchedules();

private:
  /// One sequence of `ids`, `width` wide, with a table of as many rows as they
  /// need; normal values times `scale`.
  Case &add(std::string name, std::vector<int64_t> ids, int64_t width,
            double scale = 1);
  Case &add(std::string name, int64_t numKeys, int64_t vocab, int64_t width,
            double scale = 1) {
    std::vector<int64_t> ids;
    for (int64_t j = 0; j < numKeys; ++j)
      ids.push_back(j * 7 % vocab);
    return add(std::move(name), std::move(ids), width, scale);
  }
  /// Some that differ most; they compile sooner than the default ones.
  static void setFewChannels(Case &c) {
    c.channels = {"centroid", "decay:backward:0", "top:2", "spread", "entropy"};
    c.gammas = {0.9};
  }
  /// The queries from `from` on alone.
  static void startAt(Case &c, int64_t from);
  static void setGradient(Case &c);

  Draws draws{0x5eed, 0};
};

} // namespace

Case &FixedCases::add(std::string name, std::vector<int64_t> ids, int64_t width,
                      double scale) {
  draws = Draws(0x5eed, cases.size());
  Case c;
  c.name = "fixed-" + std::move(name);
  c.numKeys = c.numQueries = int64_t(ids.size());
  c.vocab = ids.empty() ? 1 : *std::max_element(ids.begin(), ids.end()) + 1;
  c.width = width;
  c.ids = std::move(ids);
  c.table = draws.normals(c.vocab * width, scale);
  c.queries = draws.normals(c.numQueries * width, scale);
  setDefaultChannels(c);
  cases.push_back(std::move(c));
  return cases.back();
}

void FixedCases::setGradient(Case &c) {
  c.backward = true;
  Draws draws(0xd1, c.channels.size());
  fillGradient(c, GradientKind::Normal, draws);
}

void FixedCases::startAt(Case &c, int64_t from) {
  c.offset = from;
  c.numQueries = c.numKeys - from;
  c.queries.erase(c.queries.begin(), c.queries.begin() + from * c.width);
}

/// Queries and keys of zero, or so small beside the temperature that every
/// weight is the same.
void FixedCases::addZeros() {
  struct Row {
    const char *name;
    double scale, tau;
    bool seven;
  };
  for (Row row :
       {Row{"zeros", 0, 1, false}, Row{"zeros-l2", 0, 1, true},
        Row{"small", 1e-4, 1e3, false}, Row{"smaller", 1e-3, 1e5, false}})
    for (const char *target : {"cpu", "reference"}) {
      Case &c = add(std::string(row.name) + "-" + target, 8, 5, 16, row.scale);
      c.target = target;
      c.tau = row.tau;
      if (c.target == "reference")
        c.channels = {"centroid", "decay:backward:1", "spread"},
        c.gammas = {0.99, 0.5};
      if (row.scale > 0 && c.target == "cpu")
        setFewChannels(c);
      if (row.seven)
        setSevenChannels(c);
      if (row.seven && c.target == "reference")
        c.channels = {"centroid", "spread", "entropy"}, c.gammas.clear();
      for (int64_t i = 0; i < c.numQueries * c.width; ++i)
        c.queries[i] += c.table[c.ids[i / c.width] * c.width + i % c.width];
      setGradient(c);
    }
}

/// Three sequences, one of them empty.
void FixedCases::addPadding() {
  for (Type type : {Type::F32, Type::F64, Type::BF16}) {
    Case &c = add("padding-" + std::to_string(int(type)), 120, 40, 8, 0.6);
    c.type = type;
    c.batch = 3;
    c.numKeys = c.numQueries = 40;
    c.lengths = {33, 0, 40};
    c.vocab = 50;
    c.table = draws.normals(c.vocab * c.width, 0.6);
    if (type != Type::F32)
      setFewChannels(c);
    setGradient(c);
  }
}

/// Values whose squares come near the largest or the smallest numbers.
void FixedCases::addMagnitudes() {
  Channels ranks = {"centroid", "top:1", "antitop", "entropy"};
  struct Row {
    const char *name;
    Type type;
    double scale, tau;
    bool backward;
  };
  for (Row row : {Row{"huge", Type::F32, 1e14, 0.01, false},
                  Row{"huge-tau", Type::F32, 1e14, 1e28, true},
                  Row{"huge-double", Type::F64, 1e15, 0.01, false},
                  Row{"big", Type::F32, 1e7, 1, false},
                  Row{"big-tau", Type::BF16, 1e7, 1e14, true},
                  Row{"far-double", Type::F64, 1e140, 1e280, true}}) {
    Case &c = add(row.name, {0, 1, 2, 3}, 8, row.scale);
    c.type = row.type;
    c.tau = row.tau;
    c.channels = ranks;
    c.gammas.clear();
    if (row.backward)
      setGradient(c);
  }
  for (Row row : {Row{"tiny", Type::F32, 1e-21, 1, true},
                  Row{"tiny-half", Type::BF16, 1e-21, 1, true},
                  Row{"tiny-double", Type::F64, 1e-161, 1, true}}) {
    Case &c = add(row.name, {0, 1, 2, 3}, 8, row.scale);
    c.type = row.type;
    c.channels = {"centroid", "decay:backward:0", "top:1", "top:2", "antitop"};
    c.gammas = {0.9};
    setGradient(c);
  }
  for (double tau : {1e38, 1e30}) {
    Case &c =
        add("cold" + std::to_string(int(std::log10(tau))), {0, 1, 2, 3}, 8);
    c.tau = tau;
    c.channels = {"top:1", "top:2", "antitop"};
    c.gammas.clear();
  }
}

/// All scores equal, exactly representable and far from zero: the error of
/// distances by expansion is no excuse for sums of weights.
void FixedCases::addLargeScores() {
  for (double entry : {5.0, 50.0, 500.0})
    for (Type type : {Type::F32, Type::F64}) {
      Case &c = add("score" + std::to_string(int(4 * entry * entry)) + "-" +
                        std::to_string(int(type)),
                    32, 2, 4);
      c.type = type;
      for (int64_t j = 0; j < 32; ++j)
        c.ids[j] = j % 2;
      for (int64_t i = 0; i < 8; ++i)
        c.table[i] = i < 4 ? entry : -entry;
      std::fill(c.queries.begin(), c.queries.end(), 0.0);
      c.channels = {"decay:backward:0", "centroid"};
      c.gammas = {0.993};
      c.origin = "query";
      c.precision = "exact";
      setGradient(c);
    }
}

/// Each query on its own key, but for a little noise.
void FixedCases::addNearKeys() {
  auto place = [&](Case &c, double noise) {
    for (int64_t i = 0; i < c.numQueries * c.width; ++i)
      c.queries[i] = c.table[c.ids[i / c.width] * c.width + i % c.width] +
                     noise * draws.normal();
  };
  for (int64_t width : {16, 64, 256, 768}) {
    Case &c = add("near-" + std::to_string(width), 8, 1, width);
    place(c, 1e-3);
    c.channels = {"max_score", "centroid"};
    c.gammas.clear();
  }
  for (const char *metric : {"l2", "sq_l2"})
    for (const char *precision : {"fast", "exact"})
      for (double noise : {1e-3, 1e-5, 0.0}) {
        Case &c = add("near-" + std::string(metric) + "-" + precision + "-" +
                          std::to_string(int(noise * 1e6)),
                      {0, 1, 2, 3, 1, 0, 2, 2, 3, 1}, 33);
        place(c, noise);
        c.metric = metric;
        c.precision = precision;
        c.channels = {"max_score", "top:2", "entropy", "spread"};
        c.gammas.clear();
        if (noise != 1e-3)
          setGradient(c);
      }
}

/// Hundreds of one token, seen by the last row: what cancels in the gradient of
/// the gammas is as long as the sequence.
void FixedCases::addOneToken() {
  for (int64_t width : {300, 64, 4}) {
    Case &c = add("one-token-" + std::to_string(width), 400, 1, width, 0.35);
    if (width != 64)
      c.channels = {"decay:forward:0", "decay:backward:2", "decay:backward:4"};
    startAt(c, 399);
    setGradient(c);
  }
  Case &c = add("two-tokens", 400, 2, 64, 0.35);
  for (int64_t j = 0; j < 400; ++j)
    c.ids[j] = j >= 200;
  startAt(c, 399);
  setGradient(c);
}

/// About the smallest temperature that counts.
void FixedCases::addTemperatures() {
  struct Row {
    const char *name;
    Type type;
    double tau;
  };
  for (Row row :
       {Row{"tau-at", Type::F32, 0.01}, Row{"tau-half", Type::BF16, 0.01},
        Row{"tau-at-double", Type::F64, 0.01},
        Row{"tau-below", Type::F64, 0.001},
        Row{"tau-next-below", Type::F32, 0.0099999998},
        Row{"tau-denormal", Type::F32, 1e-40}}) {
    Case &c = add(row.name, {0, 1, 2, 3, 4, 5}, 4, 0.5);
    c.type = row.type;
    c.tau = row.tau;
    setFewChannels(c);
    setGradient(c);
  }
}

void FixedCases::addTies() {
  Case &same = add("ties-of-rows", 30, 2, 4);
  std::fill(same.table.begin(), same.table.end(), 0.25);
  same.channels = {"top:1", "top:2", "top:3", "antitop"};
  same.gammas.clear();
  Case &self = add("ties-of-self", {0, 0, 1, 1, 2, 0, 3, 4, 2}, 7);
  for (int64_t i = 0; i < self.numQueries * self.width; ++i)
    self.queries[i] = self.table[self.ids[i / 7] * 7 + i % 7];
  setGradient(self);
  Case &grid = add("ties-of-grid", 40, 11, 3);
  fillTable(grid, TableKind::Grid, 0.5, draws);
  fillQueries(grid, QueryKind::Grid, 0.5, draws);
  grid.queryTile = 5;
  grid.keyChunk = 7;
  grid.splitKeys = 3;
  grid.channels = {"top:1", "top:2", "top:3", "antitop", "decay:forward:0"};
  grid.gammas = {0.9};
  setGradient(grid);
  Case &many = add("tops-beyond-keys", 3, 3, 5);
  many.channels = {"top:1", "top:4", "top:9", "top:2"};
  many.gammas.clear();
  setGradient(many);
}

/// Nothing, or hardly anything, to do.
void FixedCases::addSmallest() {
  for (const char *target : {"cpu", "reference"}) {
    Case &one = add(std::string("single-") + target, 1, 1, 1);
    one.target = target;
    one.channels = {"centroid", "decay:forward:0", "entropy", "max_score"};
    one.gammas = {0.5};
    setGradient(one);
    Case &none = add(std::string("none-") + target, std::vector<int64_t>(), 3);
    none.target = target;
    none.channels = {"centroid", "top:1", "entropy"};
    none.gammas.clear();
    setGradient(none);
    Case &hidden = add(std::string("hidden-") + target, 5, 3, 3);
    hidden.target = target;
    hidden.lengths = {0};
    hidden.channels = {"centroid", "top:1", "entropy"};
    hidden.gammas.clear();
    setGradient(hidden);
  }
}

/// Just within a limit, and just beyond it.
void FixedCases::addEdges() {
  struct Row {
    const char *name;
    Type type;
    int power; ///< of the largest (max ||q|| + max ||k||)^2
  };
  for (Row row :
       {Row{"edge-in", Type::F32, 119}, Row{"edge-out", Type::F32, 121},
        Row{"edge-half-in", Type::BF16, 119},
        Row{"edge-half-out", Type::BF16, 121},
        Row{"edge-double-in", Type::F64, 999},
        Row{"edge-double-out", Type::F64, 1001}}) {
    Case &c = add(row.name, {0, 1, 2}, 1);
    c.type = row.type;
    c.table = {0, std::ldexp(1, row.power / 2), -std::ldexp(1, row.power / 2)};
    c.queries = {0, 0, (std::sqrt(2.0) - 1) * c.table[1]};
    c.tau = std::ldexp(1, row.type == Type::F64 ? 990 : 118);
    c.channels = {"top:1", "antitop", "centroid"};
    c.gammas.clear();
    setGradient(c);
  }
  Case &unread = add("edge-unread", {0, 1, 2, 3}, 4);
  unread.lengths = {3};
  std::fill(unread.table.begin() + 12, unread.table.end(), 1e30);
  std::fill(unread.queries.begin() + 12, unread.queries.end(), INFINITY);
}

void FixedCases::addGammas() {
  struct Row {
    const char *name;
    double gamma;
  };
  for (Row row :
       {Row{"gamma-one", 1}, Row{"gamma-smallest", 0x1p-100},
        Row{"gamma-below", 0x1p-101}, Row{"gamma-near-one", 0.9999999}})
    for (const char *origin : {"query", "sequence_end"}) {
      Case &c = add(std::string(row.name) + "-" + origin, 30, 9, 6, 0.6);
      c.origin = origin;
      c.channels = {"decay:forward:0", "decay:backward:0", "centroid"};
      c.gammas = {row.gamma};
      setGradient(c);
    }
}

void FixedCases::addGradients() {
  for (Type type : {Type::F32, Type::F64, Type::BF16}) {
    double most = type == Type::F64 ? 0x1p500 : 0x1p60;
    for (double size : {0.0, most, 2 * most}) {
      Case &c = add("dy-" + std::to_string(int(type)) +
                        (size == 0      ? "-zero"
                         : size == most ? "-most"
                                        : "-beyond"),
                    12, 5, 4, 0.6);
      c.type = type;
      c.channels = {"centroid", "spread", "top:2"};
      c.gammas.clear();
      setGradient(c);
      for (double &value : c.gradient)
        value = value > 0 ? size : -size;
    }
  }
}

void FixedCases::addSchedules() {
  for (int64_t size : {1, 3}) {
    Case &c = add("schedule-" + std::to_string(size), 45, 12, 10, 0.6);
    c.queryTile = c.keyChunk = size;
    c.splitKeys = 7;
    c.scores = size == 1 ? "keep" : "recompute";
    c.idBits = 64;
    c.threads = 3;
    setFewChannels(c);
    setGradient(c);
  }
}

std::vector<Case> fuzz::fixedCases() {
  FixedCases fixed;
  fixed.addZeros();
  fixed.addPadding();
  fixed.addMagnitudes();
  fixed.addLargeScores();
  fixed.addNearKeys();
  fixed.addOneToken();
  fixed.addTemperatures();
  fixed.addTies();
  fixed.addSmallest();
  fixed.addEdges();
  fixed.addGammas();
  fixed.addGradients();
  fixed.addSchedules();
  return std::move(fixed.cases);
}
