//===- RowWeights.h - the weighted channels of one row ----------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the gradient of a row needs of each of its weighted channels, which are
// all of the form value = sum_j v_j k_j. Notation: Gradient.h.
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TOOLS_ORACLE_ROWWEIGHTS_H
#define RAYTENTION_TOOLS_ORACLE_ROWWEIGHTS_H

#include "tools/oracle/RowForward.h"

namespace raytention {
namespace oracle {

/// Weights below this are taken as zero, before they become denormal.
constexpr double smallestUsedWeight = 1e-200;

/// What a row's gradients are made from. Bounds need few digits: they are
/// double, as are the values in them.
template <typename Real> struct RowGradient {
  std::vector<Real> weights; ///< [visible] w_j
  std::vector<Real> values;  ///< [S] G
  std::vector<double> terms; ///< [S] at least the absolute terms of G
  std::vector<double> y;     ///< [S]
};

/// One weighted channel of one row that sees at least one key. Real: double or
/// long double.
template <typename Real> class RowWeights {
public:
  /// `offset`: of the channel's slice in [S].
  RowWeights(const Channel &channel, int64_t offset)
      : channel(channel), offset(offset) {}

  void compute(const Problem &problem, const RowState<Real> &row,
               const RowGradient<Real> &gradient);

  /// u: the sum of weights cancels in the value, so sum_j v_j h_j = 0.
  bool isNormalised() const { return normalised; }
  /// p_j over gamma, a part that is the same for all keys left out where the
  /// normalisation cancels it; 0 for the centroid.
  Real powerFactor(int64_t j) const;
  /// h_j = G . k_j - u G . value.
  Real h(int64_t j) const { return gradientDots[j] - u() * gradientValue; }
  /// What the rounding of h_j is relative to, also where h_j is 0: the size of
  /// the absolute terms of G times that of the keys, over the root of D.
  double absoluteH(int64_t j) const;
  /// y . k_j - u y . value.
  double yDot(int64_t j) const { return yDots[j] - u() * yValue; }
  /// Products of d_j, by which this channel moves if z_j grows, with G and y.
  double moveAlongGradient(int64_t j) const {
    return static_cast<double>(v[j] * gradientDots[j] -
                               shared(j) * gradientValue);
  }
  double moveAlongY(int64_t j) const {
    return static_cast<double>(v[j]) * yDots[j] -
           static_cast<double>(shared(j)) * yValue;
  }

  Channel channel;
  int64_t offset;
  std::vector<Real> v;       ///< [visible]
  std::vector<double> reach; ///< [visible] ||k_j - u value||
  std::vector<double> move;  ///< [D], at least sum_j |d_j|
  double moveNorm = 0;       ///< at least sum_j ||d_j||

private:
  void computeWeights(const Problem &problem, const RowState<Real> &row);
  void countFromLargest();
  void computeMoves(const Problem &problem, const int64_t *ids);
  double u() const { return normalised ? 1 : 0; }
  /// What a growing z_j takes from all weights.
  Real shared(int64_t j) const { return normalised ? v[j] : (*w)[j]; }

  const std::vector<Real> *w = nullptr;
  bool normalised = true;
  double gamma = 1;
  int64_t powerBase = 0; ///< p_j = powerBase + powerStep j
  int64_t powerStep = 0;
  std::vector<double> value;      ///< [D]
  std::vector<double> centre;     ///< [D] u value
  std::vector<Real> gradientDots; ///< [visible] G . k_j, less one of them
  std::vector<double> yDots;      ///< [visible] y . k_j
  Real gradientValue = 0;         ///< G . value, less the same
  double yValue = 0;              ///< y . value
  double termsNorm = 0, valueNorm = 0;
};

extern template class RowWeights<double>;
extern template class RowWeights<long double>;

} // namespace oracle
} // namespace raytention

#endif // RAYTENTION_TOOLS_ORACLE_ROWWEIGHTS_H
