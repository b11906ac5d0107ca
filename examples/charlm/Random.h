//===- Random.h - random numbers that every machine draws alike -*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_EXAMPLES_CHARLM_RANDOM_H
#define RAYTENTION_EXAMPLES_CHARLM_RANDOM_H

#include <cmath>
#include <cstdint>

namespace raytention::charlm {

/// SplitMix64. The distributions of <random> differ between libraries.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// In [0, 1).
  double uniform() { return double(next() >> 11) * 0x1p-53; }

  /// In [0, end); `end` is far below 2^53.
  int64_t below(int64_t end) { return int64_t(uniform() * double(end)); }

  /// Normal with mean 0 and deviation 1.
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

private:
  uint64_t state;
};

} // namespace raytention::charlm

#endif // RAYTENTION_EXAMPLES_CHARLM_RANDOM_H
