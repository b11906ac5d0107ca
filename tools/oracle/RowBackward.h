//===- RowBackward.h - the gradient of one row ------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that one row of dy gives: its own dq, its share of dtau and dgammas, and
// for each key the factors of the vectors that are added to the key's
// gradient. Formulas and notation: Gradient.h.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_ROWBACKWARD_H
#define RAYTENTION_TOOLS_ORACLE_ROWBACKWARD_H

#include "tools/oracle/Gradient.h"
#include "tools/oracle/RowWeights.h"

#include <algorithm>

namespace raytention {
namespace oracle {

/// The scratch of one row at a time and its result, until its keys are served.
class RowBackward {
public:
  /// `tableNorms`: ||table[v]||, [V].
  RowBackward(const Problem &problem, const std::vector<double> &tableNorms);

  /// `row` with its scores; `dy` [S].
  void compute(const Row &row, const double *dy);

  RowId id;
  int64_t visible = 0;
  std::vector<int64_t> indices;
  std::vector<RowWeights> weighted;
  std::vector<double> gradient;    ///< [S] G
  std::vector<double> terms;       ///< [S] the absolute terms of G
  std::vector<double> moved;       ///< [S] how much G changes, r terms included
  std::vector<double> vectorBound; ///< [S] 2 |G| + moved
  GradientPart factors;            ///< [visible] f_j
  GradientPart queries;            ///< [D]
  GradientPart tau;                ///< [1]
  GradientPart gammas;             ///< [gammas]

private:
  void computeWeights();
  void computeMeans();

  void project(const double *dy);
  void boundProjection();
  void addMoves(std::vector<double> &withGradient, std::vector<double> &withY);
  void moveScalar(ChannelKind kind, std::vector<double> &move);

  void addWeighted(const RowWeights &channel);
  void addNormalised(const RowWeights &channel,
                     const std::vector<double> &terms,
                     const std::vector<double> &change);
  void addGamma(const RowWeights &channel, const std::vector<double> &terms,
                const std::vector<double> &bounds);
  void addSpread(int64_t offset);
  void addEntropy(int64_t offset);
  void addLargest(int64_t offset);
  void addSoftmaxed(const std::vector<double> &terms,
                    const std::vector<double> &change,
                    const std::vector<double> &own);
  void applyTemperature();
  void applyDistance();
  void boundQueries(const double *query);

  bool isAbove(int64_t j) const;
  double logWeight(int64_t j) const;
  double rest(int64_t j) const { return std::max(0.0, 1 - weights[j]); }

  const Problem &p;
  const std::vector<double> &tableNorms;
  const Row *row = nullptr;
  std::vector<double> weights;  ///< [visible] w_j
  std::vector<double> dist;     ///< [visible]
  std::vector<double> centroid; ///< [D] sum_j w_j k_j
  double rounding = 0;          ///< r
  double meanDistance = 0;      ///< sum_j w_j dist_j
  double meanLog = 0;           ///< sum_j w_j (log max(w_j, 1e-10) + [..])
  int64_t largest = 0;          ///< position of the largest z_j

  GradientPart scores;         ///< [visible] dz_j, less that of max_score
  std::vector<double> rounded; ///< [visible] r times the terms of dz_j
  GradientPart distances;      ///< [visible] ddist_j
  double total = 0;            ///< change of sum_j ddist_j
  double largestGradient = 0;  ///< G of max_score, and its change
  double largestBound = 0;

  double along = 0; ///< y . dy
  /// |A|, sum_j |B_j|, sum_j |C_j|.
  double alongMove = 0, alongY = 0, alongGradient = 0;
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWBACKWARD_H
