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

/// Elements with what is known of each, as in GradientPart.
template <typename Real> struct RowPart {
  std::vector<Real> values;
  std::vector<double> sensitivity, terms, open;

  void resize(size_t size) {
    values.assign(size, Real(0));
    for (std::vector<double> *bounds : {&sensitivity, &terms, &open})
      bounds->assign(size, 0.0);
  }
};

/// One element, or what all keys have in common.
template <typename Real> struct RowNumber {
  Real value = 0;
  double sensitivity = 0, terms = 0, open = 0;
};

/// What a row may or may not give to the difference of its query and a key.
struct OpenPair {
  int64_t key;   ///< position
  double factor; ///< |f|, by which q - k is multiplied
};

/// The scratch of one row at a time and its result, until its keys are served.
/// Real: double or long double.
template <typename Real> class RowBackward {
public:
  /// `tableNorms`: ||table[v]||, [V]. Of `options`, `scoreError` and
  /// `smallestWeight`.
  RowBackward(const Problem &problem, const std::vector<double> &tableNorms,
              const BackwardOptions &options);

  /// `row` with its scores; `dy` [S].
  void compute(const RowState<Real> &row, const double *dy);

  RowId id;
  int64_t visible = 0;
  std::vector<int64_t> indices;
  std::vector<RowWeights<Real>> weighted;
  RowGradient<Real> gradient;
  std::vector<double> moved;       ///< [S] how much G changes
  std::vector<double> vectorBound; ///< [S] 2 |G| + moved
  RowPart<Real> factors;           ///< [visible] f_j
  std::vector<double> farTerms;    ///< [visible] its terms where pairs are far
  RowPart<Real> queries;           ///< [D]
  RowNumber<Real> tau;
  RowPart<Real> gammas; ///< [gammas]
  std::vector<OpenPair> open;

private:
  void computeWeights();
  void computeMeans();

  void project(const double *dy);
  void boundProjection();
  void addMoves(std::vector<double> &withGradient, std::vector<double> &withY);
  void boundScalars(const std::vector<double> &withGradient,
                    const std::vector<double> &withY);
  void moveScalar(const Channel &channel, std::vector<double> &move);
  void moveMoment(int64_t k, std::vector<double> &move);

  void addWeighted(const RowWeights<Real> &channel);
  void addNormalised(const RowWeights<Real> &channel,
                     const std::vector<Real> &parts,
                     const std::vector<double> &change);
  void addGamma(const RowWeights<Real> &channel, const std::vector<Real> &parts,
                const std::vector<double> &bounds);
  void addSpread(int64_t offset);
  void addEntropy(int64_t offset);
  void addLargest(int64_t offset);
  void addMoment(int64_t k, int64_t offset);
  /// What addSoftmaxed() is given, [visible] each.
  struct WeightTerms {
    explicit WeightTerms(int64_t visible)
        : parts(visible, Real(0)), absolute(visible, 0.0), change(visible, 0.0),
          changeTerms(visible, 0.0), own(visible, 0.0) {}
    std::vector<Real> parts;         ///< w_j (dw_j - c), c the same for all j
    std::vector<double> absolute;    ///< |w_j dw_j|
    std::vector<double> change;      ///< w_j times that of dw_j with G
    std::vector<double> changeTerms; ///< the same with the terms of G
    std::vector<double> own;         ///< w_j times that of dw_j with z_j itself
  };
  void addSoftmaxed(const WeightTerms &terms);
  void applyTemperature();
  void applyDistance();
  void addFlushed(const std::vector<Real> &weights,
                  const std::vector<Real> &values);
  bool isFlushed(Real weight) const;
  void addOpen(int64_t j, double size);
  void openNearest();
  void openFlushed();
  void computeQueries(const double *query);
  void boundQueries(const double *query);

  bool isAbove(int64_t j) const;
  bool isFar(int64_t j) const;
  Real logWeight(int64_t j) const;
  /// G of a scalar channel.
  Real gradientAt(int64_t offset) const { return gradient.values[offset]; }
  double weight(int64_t j) const {
    return static_cast<double>(gradient.weights[j]);
  }
  double dist(int64_t j) const { return static_cast<double>(row->dist[j]); }
  double rest(int64_t j) const { return std::max(0.0, 1 - weight(j)); }

  const Problem &p;
  const std::vector<double> &tableNorms;
  double scoreError, smallestWeight;
  const RowState<Real> *row = nullptr;
  std::vector<Real> centroid;         ///< [D] sum_j w_j k_j
  std::vector<double> narrowCentroid; ///< [D]
  double querySquare = 0;             ///< ||q||^2
  Real meanDistance = 0;              ///< sum_j w_j dist_j
  Real meanLog = 0; ///< sum_j w_j (log max(w_j, 1e-10) + [..])

  RowPart<Real> scores;         ///< [visible] dz_j, less that of max_score
  RowPart<Real> distances;      ///< [visible] ddist_j
  std::vector<double> ownTerms; ///< [visible] terms of the channels' own ddist
  RowNumber<Real> own;          ///< sum_j ddist_j, all of it the channels' own
  RowNumber<Real> largest;      ///< G of max_score

  /// [visible] d_j of each scalar channel, and its place in x.
  std::vector<std::pair<int64_t, std::vector<double>>> scalarMoves;
  Real along = 0; ///< y . dy
  /// |A|, sum_j |B_j|, sum_j |C_j|.
  double alongMove = 0, alongY = 0, alongGradient = 0;
};

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWBACKWARD_H
