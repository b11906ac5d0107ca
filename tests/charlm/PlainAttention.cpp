//===- PlainAttention.cpp - the default channels in plain loops -----------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/charlm/PlainAttention.h"

#include <algorithm>
#include <cmath>

namespace raytention::test {

namespace {

constexpr int64_t numDecays = 5;
/// The place of each decay among the channels, and of the copies.
constexpr int64_t decayPlace[numDecays] = {1, 2, 3, 4, 8};
constexpr int64_t copyPlace[4] = {5, 6, 7, 9};

template <typename Real> struct Row {
  const Real *q;
  int64_t sequence, position;
  std::vector<double> dist, z, w;
  int64_t copies[4]; // predecessor, top 1, top 2, antitop
};

template <typename Real> class Plain final : public Attention {
public:
  explicit Plain(int64_t dModel) : d(dModel) {}

  int64_t signalWidth() const override { return 10 * d + 2; }
  int64_t numLogSums() const override { return 0; }
  int64_t numIndices() const override { return 4; }
  double compileMs() const override { return 0; }
  std::string scheduleText() const override { return "plain loops"; }

  Result<RunReport> run(const Inputs &in, const Outputs &out, int) override {
    for (int64_t r = 0; r < in.batch * in.numQueries; ++r)
      forwardRow(in, out, r);
    return RunReport();
  }

  Result<RunReport> runBackward(const Inputs &in, const Residuals &saved,
                                const void *dSignals, const Gradients &out,
                                int) override {
    std::fill_n(static_cast<Real *>(out.queries), in.batch * in.numQueries * d,
                Real(0));
    dTable.assign(size_t(in.vocab * d), 0.0);
    dGammas.assign(numDecays, 0.0);
    dTau = 0;
    for (int64_t r = 0; r < in.batch * in.numQueries; ++r)
      backwardRow(in, saved, static_cast<const Real *>(dSignals), out, r);
    std::copy(dTable.begin(), dTable.end(), static_cast<Real *>(out.table));
    std::copy(dGammas.begin(), dGammas.end(), static_cast<Real *>(out.gammas));
    *static_cast<Real *>(out.tau) = Real(dTau);
    return RunReport();
  }

private:
  static double temperature(const Inputs &in) { return std::max(in.tau, 0.01); }

  static int32_t idAt(const Inputs &in, const Row<Real> &row, int64_t j) {
    return static_cast<const int32_t *>(in.ids)[row.sequence * in.numKeys + j];
  }
  const Real *key(const Inputs &in, const Row<Real> &row, int64_t j) const {
    return static_cast<const Real *>(in.table) + idAt(in, row, j) * d;
  }
  static double power(const Row<Real> &row, int64_t c, int64_t j) {
    return double(c == 0 ? j : row.position - j);
  }

  Row<Real> attend(const Inputs &in, int64_t r) const {
    Row<Real> row;
    row.q = static_cast<const Real *>(in.queries) + r * d;
    row.sequence = r / in.numQueries;
    row.position = r % in.numQueries + in.queryOffset;
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j <= row.position; ++j) {
      double dist = 0;
      for (int64_t e = 0; e < d; ++e)
        dist += std::pow(double(row.q[e]) - key(in, row, j)[e], 2);
      row.dist.push_back(dist);
      row.z.push_back(-dist / temperature(in));
      most = std::max(most, row.z.back());
    }
    for (double z : row.z)
      sum += std::exp(z - most);
    for (double z : row.z)
      row.w.push_back(std::exp(z - most) / sum);
    choose(row);
    return row;
  }

  static void choose(Row<Real> &row) {
    int64_t first = 0, second = -1, least = -1;
    for (int64_t j = 0; j <= row.position; ++j) {
      if (row.z[size_t(j)] > row.z[size_t(first)])
        first = j;
      if (row.w[size_t(j)] > 1e-10 &&
          (least < 0 || row.z[size_t(j)] < row.z[size_t(least)]))
        least = j;
    }
    for (int64_t j = 0; j <= row.position; ++j)
      if (j != first &&
          (second < 0 || row.z[size_t(j)] > row.z[size_t(second)]))
        second = j;
    row.copies[0] = row.position;
    row.copies[1] = first;
    row.copies[2] = second < 0 ? first : second;
    row.copies[3] = least;
  }

  void forwardRow(const Inputs &in, const Outputs &out, int64_t r) const {
    Row<Real> row = attend(in, r);
    std::vector<double> x(size_t(signalWidth()), 0.0);
    for (int64_t j = 0; j <= row.position; ++j)
      for (int64_t e = 0; e < d; ++e)
        x[size_t(e)] += row.w[size_t(j)] * key(in, row, j)[e];
    for (int64_t c = 0; c < numDecays; ++c)
      decay(in, row, c, &x[size_t(decayPlace[c] * d)]);
    for (int64_t c = 0; c < 4; ++c)
      std::copy_n(key(in, row, row.copies[c]), d, &x[size_t(copyPlace[c] * d)]);
    for (size_t j = 0; j < row.w.size(); ++j) {
      x[size_t(10 * d)] += in.tau * row.w[j] * row.dist[j];
      x[size_t(10 * d + 1)] -= row.w[j] * std::log(std::max(row.w[j], 1e-10));
    }
    double squares = 0;
    for (double value : x)
      squares += value * value;
    double norm = std::sqrt(squares);
    static_cast<Real *>(out.norm)[r] = Real(norm);
    for (size_t e = 0; e < x.size(); ++e)
      static_cast<Real *>(out.signals)[size_t(r) * x.size() + e] =
          Real(x[e] / std::max(norm, 1e-10));
  }

  /// Writes channel `c`; returns its sum S.
  double decay(const Inputs &in, const Row<Real> &row, int64_t c,
               double *value) const {
    double sum = 0;
    std::fill_n(value, d, 0.0);
    for (int64_t j = 0; j <= row.position; ++j) {
      double a =
          row.w[size_t(j)] * std::pow(in.gammas[size_t(c)], power(row, c, j));
      sum += a;
      for (int64_t e = 0; e < d; ++e)
        value[e] += a * key(in, row, j)[e];
    }
    for (int64_t e = 0; e < d; ++e)
      value[e] /= std::max(sum, 1e-8);
    return sum;
  }

  void addKey(const Inputs &in, const Row<Real> &row, int64_t j, double factor,
              const double *gradient) {
    double *out = &dTable[size_t(idAt(in, row, j) * d)];
    for (int64_t e = 0; e < d; ++e)
      out[e] += factor * gradient[e];
  }

  double along(const Inputs &in, const Row<Real> &row, int64_t j,
               const double *gradient) const {
    double sum = 0;
    for (int64_t e = 0; e < d; ++e)
      sum += gradient[e] * key(in, row, j)[e];
    return sum;
  }

  void decayBackward(const Inputs &in, const Row<Real> &row, int64_t c,
                     const double *gradient, std::vector<double> &dw) {
    std::vector<double> value(static_cast<size_t>(d));
    double sum = decay(in, row, c, value.data()), dSum = 0;
    double floored = std::max(sum, 1e-8);
    for (int64_t e = 0; e < d && sum >= 1e-8; ++e)
      dSum -= gradient[e] * value[size_t(e)] / sum;
    double gamma = in.gammas[size_t(c)];
    for (int64_t j = 0; j <= row.position; ++j) {
      double p = power(row, c, j), decayed = std::pow(gamma, p);
      double da = along(in, row, j, gradient) / floored + dSum;
      dw[size_t(j)] += decayed * da;
      addKey(in, row, j, row.w[size_t(j)] * decayed / floored, gradient);
      dGammas[size_t(c)] += row.w[size_t(j)] * da * p * decayed / gamma;
    }
  }

  /// The gradient of x from that of y.
  std::vector<double> unnormalize(const Residuals &saved, const Real *dSignals,
                                  int64_t r) const {
    size_t width = size_t(signalWidth());
    const Real *y =
        static_cast<const Real *>(saved.signals) + size_t(r) * width;
    const Real *dy = dSignals + size_t(r) * width;
    double norm = static_cast<const Real *>(saved.norm)[r], dot = 0;
    for (size_t e = 0; e < width; ++e)
      dot += double(y[e]) * dy[e];
    std::vector<double> dx(width);
    for (size_t e = 0; e < width; ++e)
      dx[e] = norm > 1e-10 ? (dy[e] - y[e] * dot) / norm : dy[e] / 1e-10;
    return dx;
  }

  void backwardRow(const Inputs &in, const Residuals &saved,
                   const Real *dSignals, const Gradients &out, int64_t r) {
    Row<Real> row = attend(in, r);
    std::vector<double> dx = unnormalize(saved, dSignals, r);
    std::vector<double> dw(row.w.size()), dDist(row.w.size());
    double dSpread = dx[size_t(10 * d)], dEntropy = dx[size_t(10 * d + 1)];
    for (int64_t j = 0; j <= row.position; ++j) {
      double w = row.w[size_t(j)], dist = row.dist[size_t(j)];
      dw[size_t(j)] =
          along(in, row, j, dx.data()) + dSpread * in.tau * dist -
          dEntropy * (std::log(std::max(w, 1e-10)) + (w >= 1e-10 ? 1 : 0));
      addKey(in, row, j, w, dx.data());
      dDist[size_t(j)] = dSpread * in.tau * w;
      dTau += dSpread * w * dist;
    }
    for (int64_t c = 0; c < numDecays; ++c)
      decayBackward(in, row, c, &dx[size_t(decayPlace[c] * d)], dw);
    for (int64_t c = 0; c < 4; ++c)
      addKey(in, row, row.copies[c], 1, &dx[size_t(copyPlace[c] * d)]);
    scoresBackward(in, row, dw, dDist,
                   static_cast<Real *>(out.queries) + r * d);
  }

  void scoresBackward(const Inputs &in, const Row<Real> &row,
                      const std::vector<double> &dw, std::vector<double> &dDist,
                      Real *dq) {
    double mean = 0, t = temperature(in);
    for (size_t j = 0; j < dw.size(); ++j)
      mean += row.w[j] * dw[j];
    std::vector<double> sum(size_t(d), 0.0), step(static_cast<size_t>(d));
    for (size_t j = 0; j < dw.size(); ++j) {
      double dz = row.w[j] * (dw[j] - mean);
      if (in.tau >= 0.01)
        dTau += dz * row.dist[j] / (t * t);
      dDist[j] -= dz / t;
      for (int64_t e = 0; e < d; ++e) {
        step[size_t(e)] =
            2 * dDist[j] * (double(row.q[e]) - key(in, row, int64_t(j))[e]);
        sum[size_t(e)] += step[size_t(e)];
      }
      addKey(in, row, int64_t(j), -1, step.data());
    }
    std::copy(sum.begin(), sum.end(), dq);
  }

  int64_t d;
  std::vector<double> dTable, dGammas;
  double dTau = 0;
};

} // namespace

template <typename Real>
std::unique_ptr<Attention> plainAttention(int64_t dModel) {
  return std::make_unique<Plain<Real>>(dModel);
}

template std::unique_ptr<Attention> plainAttention<float>(int64_t);
template std::unique_ptr<Attention> plainAttention<double>(int64_t);

} // namespace raytention::test
