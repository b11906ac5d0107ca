//===- PairCover.h - choices that hold every pair of values ----*- C++ -*-===//
//
// Part of the RayTention project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef RAYTENTION_TESTS_FUZZ_PAIRCOVER_H
#define RAYTENTION_TESTS_FUZZ_PAIRCOVER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <vector>

namespace raytention {
namespace fuzz {

/// A value of each parameter, by its number.
using Choice = std::vector<int>;
using IsAllowed = llvm::function_ref<bool(const Choice &)>;

/// All choices that are allowed; parameter i has `counts[i]` values.
std::vector<Choice> findChoices(llvm::ArrayRef<int> counts,
                                IsAllowed isAllowed);

/// Some of them, such that each pair of values of two parameters that is in any
/// of them is in one of these. `seed` decides between choices that are as good.
std::vector<Choice> coverPairs(llvm::ArrayRef<int> counts, IsAllowed isAllowed,
                               uint64_t seed);

} // namespace fuzz
} // namespace raytention

#endif // RAYTENTION_TESTS_FUZZ_PAIRCOVER_H
