//===- RowBackwardMoment.cpp - what moments add to dz and ddist -----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/oracle/RowBackward.h"

#include "tools/oracle/Sum.h"

#include <cmath>

using namespace raytention;
using namespace raytention::oracle;

namespace {

/// The power of one distance. With u the dist that a path may have instead,
/// larger by what the score error makes of it.
template <typename Real> struct Power {
  Real value;       ///< dist^K
  Real slope;       ///< K dist^(K-1)
  double change;    ///< of the value with z: t K u^(K-1)
  double curvature; ///< of the slope with z: t K (K-1) u^(K-2)
};

/// And of all distances of a row.
template <typename Real> struct Powers {
  std::vector<Power<Real>> of;
  double mean = 0;      ///< sum_j w_j value_j
  Real meanSlope = 0;   ///< sum_j w_j slope_j
  double slopeMove = 0; ///< sum_j |change of meanSlope with z_j|
};

template <typename Real>
Power<Real> raise(Real dist, int64_t k, double t, double error) {
  double reach = static_cast<double>(dist) + error * t;
  return {std::pow(dist, Real(k)), k * std::pow(dist, Real(k - 1)),
          t * k * std::pow(reach, k - 1),
          k > 1 ? t * k * (k - 1) * std::pow(reach, k - 2) : 0};
}

template <typename Real>
Powers<Real> raiseAll(const std::vector<Real> &dist,
                      const std::vector<Real> &weights, int64_t k, double t,
                      double error) {
  Powers<Real> powers;
  Sum<Real> mean, slope;
  for (size_t j = 0; j < dist.size(); ++j) {
    powers.of.push_back(raise(dist[j], k, t, error));
    mean.add(weights[j] * powers.of[j].value);
    slope.add(weights[j] * powers.of[j].slope);
  }
  powers.mean = static_cast<double>(mean.value());
  powers.meanSlope = slope.value();
  for (size_t j = 0; j < dist.size(); ++j)
    powers.slopeMove +=
        static_cast<double>(weights[j]) *
        (std::fabs(static_cast<double>(powers.of[j].slope - slope.value())) +
         powers.of[j].curvature);
  return powers;
}

/// a^K - b^K by what a is above b: equal distances leave nothing.
template <typename Real> Real powerDifference(Real a, Real b, int64_t k) {
  Real sum = 0;
  for (int64_t i = 0; i < k; ++i)
    sum += std::pow(a, Real(i)) * std::pow(b, Real(k - 1 - i));
  return (a - b) * sum;
}

} // namespace

template <typename Real>
void RowBackward<Real>::moveMoment(int64_t k, std::vector<double> &move) {
  Powers<Real> powers =
      raiseAll(row->dist, gradient.weights, k, p.temperature(), scoreError);
  for (int64_t j = 0; j < visible; ++j)
    move[j] = weight(j) * (static_cast<double>(powers.of[j].value) -
                           powers.mean - powers.of[j].change);
}

template <typename Real>
void RowBackward<Real>::addMoment(int64_t k, int64_t offset) {
  Powers<Real> powers =
      raiseAll(row->dist, gradient.weights, k, p.temperature(), scoreError);
  Real g = gradientAt(offset);
  double all = std::fabs(static_cast<double>(g)),
         gTerms = gradient.terms[offset];
  WeightTerms terms(visible);
  for (int64_t j = 0; j < visible; ++j) {
    const Power<Real> &power = powers.of[j];
    double w = weight(j), value = static_cast<double>(power.value),
           slope = static_cast<double>(power.slope),
           deviation = std::fabs(value - powers.mean);
    terms.parts[j] = g * gradient.weights[j] *
                     powerDifference(row->dist[j], row->dist[row->nearest], k);
    terms.absolute[j] = (all + 0x1p-24 * gTerms) * w * value;
    terms.change[j] = w * moved[offset] * deviation;
    terms.changeTerms[j] = w * gTerms * deviation;
    terms.own[j] = w * all * power.change;
    scores.terms[j] += terms.absolute[j];
    distances.values[j] += g * gradient.weights[j] * power.slope;
    distances.sensitivity[j] +=
        w *
        (slope * (2 * rest(j) * all + moved[offset]) + all * power.curvature);
    ownTerms[j] += w * gTerms * slope;
    if (isFlushed(gradient.weights[j])) // ddist_j as if it came through dz_j
      scores.open[j] += w * all * power.change;
  }
  double meanSlope = static_cast<double>(powers.meanSlope);
  own.value += g * powers.meanSlope;
  own.sensitivity += moved[offset] * meanSlope + all * powers.slopeMove;
  own.terms += gTerms * meanSlope;
  addSoftmaxed(terms);
}

namespace raytention {
namespace oracle {

// The rest of the class is in RowBackward.cpp.
template void RowBackward<double>::moveMoment(int64_t, std::vector<double> &);
template void RowBackward<double>::addMoment(int64_t, int64_t);
template void RowBackward<long double>::moveMoment(int64_t,
                                                   std::vector<double> &);
template void RowBackward<long double>::addMoment(int64_t, int64_t);

} // namespace oracle
} // namespace raytention
