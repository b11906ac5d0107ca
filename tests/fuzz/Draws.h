//===- Draws.h - numbers of a seed and a case -------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_DRAWS_H
#define RAYTENTION_TESTS_FUZZ_DRAWS_H

#include "raytention/DefaultInputs.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace raytention {
namespace fuzz {

/// Numbers that depend on (seed, case, how many were drawn before) alone: case
/// 17 of a seed is always the same one, whichever cases run.
class Draws {
public:
  Draws(uint64_t seed, uint64_t number) : seed(seed), number(number) {}

  /// In [0, 1).
  double uniform() { return next() * 0x1p-53; }
  double uniform(double low, double high) {
    return low + (high - low) * uniform();
  }
  /// Ten to a power in [low, high).
  double powerOfTen(double low, double high) {
    return std::pow(10.0, uniform(low, high));
  }
  bool chance(double probability) { return uniform() < probability; }
  /// In [low, high].
  int64_t integer(int64_t low, int64_t high) {
    return low + int64_t(next() % uint64_t(high - low + 1));
  }
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[integer(0, int64_t(values.size()) - 1)];
  }
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }
  std::vector<double> normals(int64_t count, double scale) {
    std::vector<double> values(count);
    for (double &value : values)
      value = scale * normal();
    return values;
  }

private:
  uint64_t next() {
    std::array<uint32_t, 4> block =
        philox4x32({uint32_t(count), uint32_t(count >> 32), uint32_t(number),
                    uint32_t(number >> 32)},
                   {uint32_t(seed), uint32_t(seed >> 32)});
    ++count;
    return (uint64_t(block[1]) << 32 | block[0]) >> 11;
  }

  uint64_t seed, number, count = 0;
};

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_DRAWS_H
