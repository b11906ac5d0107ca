//===- DrawCase.cpp - a case of a seed --------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/fuzz/Domain.h"
#include "tests/fuzz/DrawValues.h"

#include <algorithm>

using namespace raytention;
using namespace raytention::fuzz;

namespace {

/// Draws one case, part by part.
class CaseDrawer {
public:
  CaseDrawer(uint64_t seed, uint64_t number)
      : draws(seed, number), moments(seed + kMoments, number) {
    c.name = std::to_string(seed) + ":" + std::to_string(number);
  }

  Case draw() {
    chooseFunction();
    chooseShape();
    chooseChannels();
    chooseSchedule();
    chooseTokens();
    chooseValues();
    return std::move(c);
  }

private:
  void chooseFunction();
  void chooseShape();
  void chooseChannels();
  std::string drawChannel(int64_t gammas);
  double drawGamma();
  void chooseSchedule();
  void chooseTokens();
  void chooseValues();
  void chooseTau();
  double findScoreScale() const;

  Case c;
  Draws draws;
  /// Apart, so that cases without moments, those that were once wrong among
  /// them, stay what they were before there were any.
  Draws moments;
  static constexpr uint64_t kMoments = 1000;
  double scoreScale = 0; ///< wanted N / t; 0: tau is drawn by itself
};

} // namespace

void CaseDrawer::chooseFunction() {
  c.type = draws.pick({Type::F32, Type::F32, Type::F64, Type::BF16});
  c.target = draws.chance(0.15) ? "reference" : "cpu";
  c.metric = draws.chance(0.35) ? "l2" : "sq_l2";
  c.origin = draws.chance(0.4) ? "query" : "sequence_end";
  c.precision = draws.chance(0.35) ? "exact" : "fast";
  c.backward = draws.chance(0.55);
  c.idBits = draws.chance(0.2) ? 64 : 32;
}

void CaseDrawer::chooseShape() {
  double kind = draws.uniform();
  c.numKeys = kind < 0.08   ? 1
              : kind < 0.65 ? draws.integer(2, 24)
              : kind < 0.93 ? draws.integer(25, 80)
                            : draws.integer(81, 400);
  kind = draws.uniform();
  c.width = kind < 0.08   ? 1
            : kind < 0.45 ? draws.integer(2, 8)
            : kind < 0.75 ? draws.integer(9, 33)
            : kind < 0.95 ? draws.integer(34, 70)
                          : draws.integer(71, 300);
  if (c.target == "reference" || c.width > 70) {
    c.numKeys = std::min<int64_t>(c.numKeys, 40);
    c.width = std::min<int64_t>(c.width, c.target == "reference" ? 40 : 300);
  }
  c.batch = draws.pick<int64_t>({1, 1, 1, 2, 3});
  c.numQueries = c.numKeys;
  if (draws.chance(0.3)) {
    c.offset = draws.integer(0, c.numKeys - 1);
    c.numQueries = c.numKeys - c.offset;
    if (draws.chance(0.3))
      c.numQueries = draws.integer(1, c.numQueries);
  }
  // Without an offset there is a row per token.
  if (c.offset == 0 && draws.chance(0.9))
    c.numQueries = c.numKeys;
  if (draws.chance(0.35))
    for (int64_t b = 0; b < c.batch; ++b)
      c.lengths.push_back(draws.chance(0.1) ? 0 : draws.integer(1, c.numKeys));
  c.vocab = draws.chance(0.1) ? 1 : draws.integer(2, 20);
}

std::string CaseDrawer::drawChannel(int64_t gammas) {
  std::string gamma = std::to_string(draws.integer(0, gammas - 1));
  switch (draws.integer(0, 11)) {
  case 0:
  case 1:
    return "centroid";
  case 2:
    return "decay:forward:" + gamma;
  case 3:
  case 4:
    return "decay:backward:" + gamma;
  case 5:
    return "predecessor";
  case 6:
  case 7:
    return "top:" + std::to_string(draws.pick({1, 1, 2, 2, 3, 5}));
  case 8:
    return "antitop";
  case 9:
    if (moments.chance(0.5))
      return "moment:" + std::to_string(moments.integer(1, 4));
    return "spread";
  case 10:
    return "entropy";
  default:
    return "max_score";
  }
}

double CaseDrawer::drawGamma() {
  return draws.pick({1.0, 0x1p-100, 0.5, 0.99, 0.3, 0.7, 0.999999, 1e-3, 1e-12,
                     0.88, draws.uniform(0.01, 1.0)});
}

void CaseDrawer::chooseChannels() {
  double kind = draws.uniform();
  if (kind < 0.06 && c.target == "cpu")
    return setDefaultChannels(c);
  if (kind < 0.12 && c.target == "cpu")
    return setSevenChannels(c);
  int64_t most = c.target == "reference" ? 3 : 6;
  int64_t gammas = draws.integer(1, 4);
  c.channels.clear();
  for (int64_t count = draws.integer(1, most); count > 0; --count)
    c.channels.push_back(drawChannel(gammas));
  for (int64_t n = c.numGammas(); n > 0; --n)
    c.gammas.push_back(drawGamma());
}

void CaseDrawer::chooseSchedule() {
  c.threads = int(draws.integer(1, 3));
  if (c.target == "reference" || draws.chance(0.5))
    return;
  c.queryTile = draws.pick<int64_t>({0, 1, 3, 8, 16, 33, 40});
  c.keyChunk = draws.pick<int64_t>({0, 1, 2, 5, 16, 33, 64});
  c.splitKeys = draws.pick<int64_t>({0, 1, 2, 3, 7});
  c.scores = draws.pick({"auto", "keep", "recompute"});
}

void CaseDrawer::chooseTokens() {
  // Few distinct ones, all, or runs of one.
  int64_t used = draws.chance(0.5) ? c.vocab : draws.integer(1, c.vocab);
  bool runs = draws.chance(0.2);
  int64_t id = 0;
  for (int64_t i = 0; i < c.batch * c.numKeys; ++i) {
    if (!runs || draws.chance(0.1) || i == 0)
      id = draws.integer(0, used - 1);
    c.ids.push_back(id);
  }
}

/// The largest score that distances by expansion go through, times t.
double CaseDrawer::findScoreScale() const {
  Norms norms = findNorms(c);
  double sum = norms.queries + norms.keys;
  return c.metric == "l2" ? std::sqrt(sum) : sum;
}

/// Scores of a few nats most often, sometimes far from that, and at times a
/// temperature that has nothing to do with the values.
void CaseDrawer::chooseTau() {
  double largest = c.type == Type::F64 ? 1e200 : 1e38;
  if (scoreScale > 0) {
    double tau = findScoreScale() / scoreScale;
    c.tau = std::clamp(tau, 1e-3, largest);
  } else {
    c.tau = draws.chance(0.5)
                ? draws.pick({1.0, 0.01, 0.001, 0.0099, 1e-30, 1e38, 30.0})
                : draws.powerOfTen(-3, 38);
  }
}

void CaseDrawer::chooseValues() {
  using T = TableKind;
  using Q = QueryKind;
  using G = GradientKind;
  T tableKind = draws.pick({T::Normal, T::Normal, T::Normal, T::Normal,
                            T::Twins, T::SomeZero, T::AllEqual, T::AllZero,
                            T::FarTogether, T::Grid, T::Mixed, T::Mirrored});
  Q queryKind = draws.pick({Q::Normal, Q::Normal, Q::Normal, Q::Zero, Q::OwnKey,
                            Q::NearOwnKey, Q::NearOwnKey, Q::NearAnyKey, Q::Far,
                            Q::Grid, Q::Mixed});
  G gradientKind =
      draws.pick({G::Normal, G::Normal, G::Normal, G::Normal, G::Zero,
                  G::Scaled, G::Scaled, G::Huge, G::OneHot});
  double exponent =
      draws.chance(0.4) ? draws.uniform(-20, 20) : draws.uniform(-2, 2);
  if (c.type == Type::F64 && draws.chance(0.15))
    exponent = draws.uniform(-170, 150);
  if (!draws.chance(0.15))
    scoreScale =
        draws.chance(0.05) ? draws.powerOfTen(4, 9) : draws.powerOfTen(-6, 4);
  else if (draws.chance(0.7))
    exponent = draws.uniform(-3, 1); // most scores stay below 1e4 at tau 1
  bool staysInside = draws.chance(0.8);
  Draws again = draws;
  for (int attempt = 0; attempt < 20; ++attempt, exponent /= 2) {
    draws = again;
    double scale = std::pow(10.0, exponent);
    fillTable(c, tableKind, scale, draws);
    fillQueries(c, queryKind, scale, draws);
    chooseTau();
    if (c.backward)
      fillGradient(c, gradientKind, draws);
    if (!staysInside || findDomain(c).place == Domain::Inside)
      break;
  }
}

Case fuzz::drawCase(uint64_t seed, uint64_t number) {
  return CaseDrawer(seed, number).draw();
}

/// By draws of its own, so that cases that were once wrong in the chosen family
/// stay what they were.
Case fuzz::drawFamilyCase(uint64_t seed, uint64_t number) {
  constexpr uint64_t kFamilies = 2000;
  Draws draws(seed + kFamilies, number);
  Case c = drawCase(seed, number);
  if (c.target != "cpu")
    return c;
  double kind = draws.uniform();
  if (kind < 0.4)
    setStored(c, draws.pick<int64_t>({0, 1, 3, 5, 7, 13, 33}));
  else if (kind < 0.8)
    setFolded(c, draws.pick<int64_t>({1, 3, 5, 7, 13, 33, 64}));
  else if (kind < 0.9)
    c.family = "fused";
  c.name += ":" + (c.foldChunk ? "folded" : c.family);
  return c;
}
