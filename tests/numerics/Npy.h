//===- Npy.h - a minimal reader of .npy files -------------------*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_NUMERICS_NPY_H
#define RAYTENTION_TESTS_NUMERICS_NPY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace raytention {
namespace test {

/// An array in C order, its elements as double.
struct NpyArray {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// Reads version 1.0 files of `<f4`, `<f8` or `<i4` on a little-endian
/// machine; nothing if the file is missing or anything else.
std::optional<NpyArray> readNpy(const std::string &path);

} // namespace test
} // namespace raytention

#endif // RAYTENTION_TESTS_NUMERICS_NPY_H
