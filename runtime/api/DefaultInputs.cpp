//===- DefaultInputs.cpp - inputs where none are given --------------------===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "raytention/DefaultInputs.h"

#include "runtime/support/FloatEnvironment.h"

#include <cmath>
#include <utility>

namespace raytention {

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t even = uint64_t(0xD2511F53u) * counter[0];
    uint64_t odd = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {uint32_t(odd >> 32) ^ counter[1] ^ key[0], uint32_t(odd),
               uint32_t(even >> 32) ^ counter[3] ^ key[1], uint32_t(even)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// log u for u in (0, 1], by log m = 2 atanh((m - 1) / (m + 1)) with m within
/// a factor sqrt 2 of 1: the argument is at most 0.172, and its square at most
/// 0.0295, so eleven terms reach double precision.
static double logOf(double u) {
  int exponent;
  double m = std::frexp(u, &exponent);
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  double s = (m - 1) / (m + 1), square = s * s, series = 0;
  for (int k = 21; k >= 1; k -= 2)
    series = series * square + 1.0 / k;
  return exponent * 0.69314718055994530942 + 2 * s * series;
}

/// (cos 2 pi v, sin 2 pi v) for v in [0, 1): Taylor series on the nearest
/// quarter turn, |x| <= pi / 4, then a rotation by whole quarters.
static std::pair<double, double> circle(double v) {
  int quarter = int(v * 4 + 0.5);
  double x = (v - quarter * 0.25) * 6.28318530717958647693;
  double square = x * x, c = 1, s = 1;
  for (int k = 18; k >= 2; k -= 2) {
    c = 1 - c * square / (k * (k - 1));
    s = 1 - s * square / (k * (k + 1));
  }
  s *= x;
  switch (quarter & 3) {
  case 0:
    return {c, s};
  case 1:
    return {-s, c};
  case 2:
    return {-c, -s};
  default:
    return {s, -c};
  }
}

/// The two normal values of the block that holds indices 2 pair, 2 pair + 1.
static std::pair<double, double> normalPair(uint64_t seed, InputStream stream,
                                            uint64_t pair) {
  auto block =
      philox4x32({uint32_t(pair), uint32_t(pair >> 32), uint32_t(stream), 0u},
                 {uint32_t(seed), uint32_t(seed >> 32)});
  uint64_t a = block[0] | uint64_t(block[1]) << 32;
  uint64_t b = block[2] | uint64_t(block[3]) << 32;
  constexpr double unit = 1.0 / 9007199254740992.0; // 2^-53
  double radius = std::sqrt(-2 * logOf(double((a >> 11) + 1) * unit));
  auto [c, s] = circle(double(b >> 11) * unit);
  return {radius * c, radius * s};
}

double normalAt(uint64_t seed, InputStream stream, uint64_t index) {
  auto [even, odd] = normalPair(seed, stream, index / 2);
  return index % 2 ? odd : even;
}

template <typename T>
static void fill(uint64_t seed, InputStream stream, double scale,
                 uint64_t begin, uint64_t count, T *out) {
  uint64_t i = 0;
  if (begin % 2 && count)
    out[i++] = T(scale * normalAt(seed, stream, begin));
  for (; i + 1 < count; i += 2) {
    auto [even, odd] = normalPair(seed, stream, (begin + i) / 2);
    out[i] = T(scale * even);
    out[i + 1] = T(scale * odd);
  }
  if (i < count)
    out[i] = T(scale * normalAt(seed, stream, begin + i));
}

void fillNormal(uint64_t seed, InputStream stream, double scale, uint64_t begin,
                uint64_t count, double *out) {
  FloatEnvironment environment;
  fill(seed, stream, scale, begin, count, out);
}

void fillNormal(uint64_t seed, InputStream stream, double scale, uint64_t begin,
                uint64_t count, float *out) {
  FloatEnvironment environment;
  fill(seed, stream, scale, begin, count, out);
}

double defaultDeviation(int64_t dModel, double nats) {
  return std::sqrt(nats / std::sqrt(6.0 * double(dModel)));
}

} // namespace raytention
